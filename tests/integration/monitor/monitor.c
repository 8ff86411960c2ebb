/* monitor: what a running process tells probes and Prometheus over HTTP. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"
#include "visitor.h"

static struct fixture f;

static void begin(const char *name) {
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, name text not null)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
}

static pid_t run_and_listen(int *port) {
  pid_t process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  *port = visitor_port(process);
  return process;
}

/* The value of a metric; `series` with its labels. -1 when it is not there. */
static double metric(int port, const char *series) {
  char line[256];
  snprintf(line, sizeof line, "\n%s ", series);
  struct visit answer = visit(port, "GET", "/metrics", NULL, NULL);
  cr_assert_eq(answer.status, 200);
  const char *found = strstr(answer.body, line);
  return found != NULL ? strtod(found + strlen(line), NULL) : -1;
}

Test(monitor, the_delay_is_from_the_commit_where_the_source_keeps_commit_times) {
  own_server("source", "track_commit_timestamp=on");
  begin("monitor_commits");
  int port;
  pid_t process = run_and_listen(&port);
  visit_until(port, "/readyz", 200, 10);
  sql(f.at_source, "begin; insert into item values (1, 'long'); select pg_sleep(2); commit");
  wait_until_empty(&f, 10);
  cr_assert_eq(metric(port, "rowrelay_delivery_delay_seconds_count{target=\"w\"}"), 1);
  double sum = metric(port, "rowrelay_delivery_delay_seconds_sum{target=\"w\"}");
  cr_assert(sum > 0 && sum < 1.9, "%f", sum);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(monitor, metrics_count_what_is_captured_waits_and_is_delivered) {
  begin("monitor_metrics");
  int port;
  pid_t process = run_and_listen(&port);
  visit_until(port, "/readyz", 200, 10);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 300) i");
  wait_until_empty(&f, 10);
  sql(f.at_target, "alter table item add check (name <> 'bad')");
  sql(f.at_source, "insert into item values (1000, 'bad'), (1001, 'good')");
  wait_until(f.at_source, "1", 10, "select count(*) from rowrelay.errors");
  wait_until_empty(&f, 10);
  cr_assert_eq(metric(port, "rowrelay_changes_delivered_total{target=\"w\"}"), 301);
  cr_assert_eq(metric(port, "rowrelay_changes_refused_total{target=\"w\"}"), 1);
  cr_assert_eq(metric(port, "rowrelay_changes_captured_total"), 302);
  cr_assert_eq(metric(port, "rowrelay_errors{target=\"w\"}"), 1);
  cr_assert_eq(metric(port, "rowrelay_backlog_changes{target=\"w\"}"), 0);
  cr_assert_eq(metric(port, "rowrelay_oldest_pending_seconds{target=\"w\"}"), 0);
  cr_assert_eq(metric(port, "rowrelay_source_up"), 1);
  cr_assert_eq(metric(port, "rowrelay_workers{target=\"w\"}"), 1);
  cr_assert_eq(metric(port, "rowrelay_target_state{target=\"w\",state=\"running\"}"), 1);
  /* Each delivered change has a delay; each is between none and the time that this test has taken. */
  cr_assert_eq(metric(port, "rowrelay_delivery_delay_seconds_count{target=\"w\"}"), 301);
  cr_assert_eq(metric(port, "rowrelay_delivery_delay_seconds_bucket{target=\"w\",le=\"+Inf\"}"), 301);
  cr_assert_eq(metric(port, "rowrelay_delivery_delay_seconds_bucket{target=\"w\",le=\"60\"}"), 301);
  double sum = metric(port, "rowrelay_delivery_delay_seconds_sum{target=\"w\"}");
  cr_assert(sum > 0 && sum < 301 * 60.0, "%f", sum);
  cr_assert(metric(port, "rowrelay_push_duration_seconds_count{target=\"w\"}") >= 3);
  rowrelay_ok(&f, "target", "pause", "w", NULL);
  sql(f.at_source, "insert into item values (2000, 'waits')");
  sleep_seconds(0.2);
  cr_assert_eq(metric(port, "rowrelay_backlog_changes{target=\"w\"}"), 1);
  cr_assert(metric(port, "rowrelay_oldest_pending_seconds{target=\"w\"}") >= 0.2);
  cr_assert_eq(metric(port, "rowrelay_target_state{target=\"w\",state=\"paused\"}"), 1);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Ids that are skipped then are no changes. After a crash a sequence goes on up to 32 further by itself. */
Test(monitor, changes_captured_are_counted_over_restarts_and_crashes_of_the_source) {
  own_server("source", NULL);
  begin("monitor_restarts");
  int port;
  pid_t process = run_and_listen(&port);
  static const char *const MODES[] = {"fast", "fast", "immediate", NULL};
  for (int i = 0; i < 4; i++) {
    visit_until(port, "/readyz", 200, 10);
    double before = metric(port, "rowrelay_changes_captured_total");
    cr_assert(before >= 100 * i && before <= 100 * i + (i == 3 ? 32 : 0), "%.0f", before);
    sql(f.at_source, "insert into item select %d + n, 'a' from generate_series(1, 100) as n", 100 * i);
    cr_assert_eq(metric(port, "rowrelay_changes_captured_total"), before + 100);
    wait_until_empty(&f, 10);
    int64_t last = ask_number(f.at_source, "select rowrelay.last_change_id()");
    if (MODES[i] == NULL)
      break;
    PQfinish(f.at_source);
    restart_server("source", MODES[i]);
    f.at_source = connect_to(f.source, NULL);
    wait_until(f.at_source, "t", 20, "select rowrelay.last_change_id() > %lld", (long long)last + 100000);
  }
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(monitor, metrics_tell_how_far_the_log_is_ready_and_which_days_of_it_cannot_go) {
  begin("monitor_log");
  int port;
  pid_t process = run_and_listen(&port);
  visit_until(port, "/readyz", 200, 10);
  double tomorrow = strtod(ask(f.at_source, "select extract(epoch from (now() at time zone 'UTC')::date + 1)"), NULL);
  cr_assert_eq(metric(port, "rowrelay_log_open_until_timestamp_seconds"), tomorrow + 14 * 86400);
  cr_assert_eq(metric(port, "rowrelay_log_overdue_partitions"), 0);
  cr_assert_eq(metric(port, "rowrelay_log_partitions"), 1);
  cr_assert_gt(metric(port, "rowrelay_log_bytes"), 100000);
  sql(f.at_source, "insert into rowrelay.day (day, note) values ('2001-01-01', 'target w still needs it')");
  cr_assert_eq(metric(port, "rowrelay_log_overdue_partitions"), 1);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(monitor, a_lost_source_is_told_within_seconds_and_so_is_its_return) {
  own_server("source", NULL);
  begin("monitor_source");
  int port;
  pid_t process = run_and_listen(&port);
  visit_until(port, "/readyz", 200, 10);
  PQfinish(f.at_source);
  stop_server("source", "immediate");
  double lost_at = seconds_now();
  struct visit answer = visit_until(port, "/readyz", 503, 10);
  cr_assert(seconds_now() - lost_at < 5);
  cr_assert(strncmp(answer.body, "source: ", 8) == 0, "%s", answer.body);
  /* It is not the process's fault: no reason to kill it. */
  cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  cr_assert_eq(metric(port, "rowrelay_source_up"), 0);
  cr_assert_eq(metric(port, "rowrelay_changes_delivered_total{target=\"w\"}"), 0);
  start_server("source");
  visit_until(port, "/readyz", 200, 20);
  cr_assert_eq(metric(port, "rowrelay_source_up"), 1);
  f.at_source = connect_to(f.source, NULL);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* As behind a network that is cut: nobody says that a connection is gone, and new ones are not refused. */
Test(monitor, a_source_that_does_not_answer_holds_up_neither_probes_nor_the_end) {
  enum { PROBES = 5 };
  struct proxy proxy;
  char straight[sizeof f.source];
  char address[32];
  pid_t probes[PROBES];
  int port;
  begin("monitor_silent");
  proxy_begin(&proxy, f.at_source);
  snprintf(straight, sizeof straight, "%s", f.source);
  snprintf(f.source, sizeof f.source, "%.400s host=%s port=5432", straight, proxy.dir);
  pid_t process = run_and_listen(&port);
  snprintf(f.source, sizeof f.source, "%s", straight);
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  visit_until(port, "/readyz", 200, 10);
  proxy_hold(&proxy);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < PROBES; i++)
      probes[i] = fixture_start(&f, "health", "--ready", address, NULL);
    for (int i = 0; i < PROBES; i++) {
      wait_until_says(probes[i], ": source: ", 8);
      cr_assert_eq(wait_process(probes[i], 5), 1);
    }
    cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  }
  cr_assert_eq(metric(port, "rowrelay_source_up"), 0);
  double since = seconds_now();
  kill(process, SIGTERM);
  sleep_seconds(0.2);
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  cr_expect(seconds_now() - since < 15, "it took %.1f s", seconds_now() - since);
  proxy_let_go(&proxy);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(monitor, a_process_listens_before_it_has_reached_its_source) {
  own_server("source", NULL);
  begin("monitor_start");
  PQfinish(f.at_source);
  stop_server("source", "fast");
  int port;
  pid_t process = run_and_listen(&port);
  cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  cr_assert_eq(visit(port, "GET", "/readyz", NULL, NULL).status, 503);
  start_server("source");
  visit_until(port, "/readyz", 200, 20);
  f.at_source = connect_to(f.source, NULL);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(monitor, a_command_asks_a_process_how_it_is) {
  own_server("source", NULL);
  begin("monitor_health");
  int port;
  char address[32];
  char short_address[32];
  const char *errors;
  pid_t process = run_and_listen(&port);
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  snprintf(short_address, sizeof short_address, ":%d", port);
  visit_until(port, "/readyz", 200, 10);
  setenv("http_proxy", "http://127.0.0.1:1", 1); /* is not asked */
  cr_assert_str_eq(rowrelay_ok(&f, "health", address, NULL), "ok\n");
  cr_assert_str_eq(rowrelay_ok(&f, "health", "--ready", short_address, NULL), "ok\n");
  unsetenv("http_proxy");
  PQfinish(f.at_source);
  stop_server("source", "fast");
  visit_until(port, "/readyz", 503, 10);
  cr_assert_str_eq(rowrelay_ok(&f, "health", address, NULL), "ok\n");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "health", "--ready", address, NULL), 1);
  cr_assert(strstr(errors, ": source: ") != NULL, "%s", errors);
  stop_process(process, SIGTERM);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "health", address, NULL), 1);
  cr_assert(strstr(errors, "does not answer\ndetail: ") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "health", "localhost", NULL), 2);
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
  fixture_end(&f);
}

static bool is_ok(int port, const char *request) {
  return visitor_status(port, request, strlen(request)) == 200;
}

/* What HAProxy and curl -0 send, and what Kubernetes and a proxy do. */
Test(monitor, health_checks_of_each_version_of_http_are_answered) {
  int port;
  begin("monitor_checkers");
  pid_t process = run_and_listen(&port);
  cr_expect(is_ok(port, "GET /healthz HTTP/1.0\r\n\r\n"));
  cr_expect(is_ok(port, "GET /healthz HTTP/1.0\r\nHost: 10.0.0.1:9187\r\nUser-Agent: curl/7.88.1\r\n\r\n"));
  cr_expect(is_ok(port, "GET /healthz HTTP/1.1\r\nhost: rowrelay\r\nconnection: close\r\n\r\n"));
  cr_expect(is_ok(port, "GET /healthz HTTP/1.1\r\nHost: 10.0.0.1:9187\r\nUser-Agent: kube-probe/1.34\r\n"
                        "Accept: */*\r\nConnection: close\r\n\r\n"));
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

enum { SLOW = 200 };

/* Connections that send a request and never end it, which is all that it takes to hold one. */
static void begin_slowly(int slow[static SLOW], const char *from, int port) {
  static const char BEGINS[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ";
  struct sockaddr_in client = {.sin_family = AF_INET};
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, from, &client.sin_addr);
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  for (int i = 0; i < SLOW; i++) {
    slow[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    cr_assert_eq(bind(slow[i], (struct sockaddr *)&client, sizeof client), 0);
    cr_assert(connect(slow[i], (struct sockaddr *)&server, sizeof server) == 0 || errno == EINPROGRESS);
    sleep_seconds(0.002);
    send(slow[i], BEGINS, strlen(BEGINS), MSG_NOSIGNAL);
  }
}

/* A byte for each; gives how many are still taken. */
static int go_on_slowly(const int slow[static SLOW]) {
  char byte;
  int taken = 0;
  for (int i = 0; i < SLOW; i++)
    taken += send(slow[i], "a", 1, MSG_NOSIGNAL) == 1 && recv(slow[i], &byte, 1, 0) < 0 && errno == EAGAIN;
  return taken;
}

Test(monitor, slow_requests_of_one_address_keep_probes_of_others_from_nothing) {
  int slow[SLOW];
  int port;
  begin("monitor_slow");
  pid_t process = run_and_listen(&port);
  begin_slowly(slow, "127.0.0.2", port);
  double since = seconds_now();
  for (int i = 0; i < 20; i++)
    cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  cr_assert(seconds_now() - since < 5);
  cr_assert(go_on_slowly(slow) > 10);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Of each address so many are taken as one may have, which is all that there are. */
Test(monitor, slow_requests_of_many_addresses_keep_nobody_from_a_probe) {
  static int slow[6][SLOW];
  static const char *const FROM[] = {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"};
  int port;
  begin("monitor_many");
  pid_t process = run_and_listen(&port);
  for (int i = 0; i < 6; i++)
    begin_slowly(slow[i], FROM[i], port);
  double since = seconds_now();
  for (int i = 0; i < 20; i++)
    cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  cr_assert_eq(visit(port, "GET", "/api/who", NULL, NULL).status, 200);
  cr_assert(seconds_now() - since < 5);
  cr_assert(go_on_slowly(slow[5]) > 10, "a place that nobody needs is taken away");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(monitor, a_request_that_does_not_end_is_cut_though_it_goes_on) {
  int slow[SLOW];
  int port;
  begin("monitor_slower");
  pid_t process = run_and_listen(&port);
  begin_slowly(slow, "127.0.0.1", port);
  cr_assert(go_on_slowly(slow) > 10);
  double until = give_up_at(20);
  while (go_on_slowly(slow) > 0) {
    cr_assert(seconds_now() < until);
    sleep_seconds(0.5);
  }
  cr_assert_eq(visit(port, "GET", "/healthz", NULL, NULL).status, 200);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* Many pages of a console, which ask every two seconds, hold none. */
Test(monitor, a_connection_that_was_answered_is_closed) {
  int port;
  begin("monitor_closes");
  pid_t process = run_and_listen(&port);
  struct visit answer = visit(port, "GET", "/healthz", NULL, NULL);
  cr_assert_eq(answer.status, 200);
  cr_assert(strstr(answer.headers, "Connection: close\r\n") != NULL, "%s", answer.headers);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(monitor, what_is_not_there_is_not_found_and_an_address_that_cannot_be_is_wrong_use) {
  begin("monitor_address");
  int port;
  char taken[32];
  const char *errors;
  pid_t process = run_and_listen(&port);
  cr_assert_eq(visit(port, "GET", "/nothing", NULL, NULL).status, 404);
  struct visit answer = visit(port, "POST", "/metrics", NULL, "");
  cr_assert_eq(answer.status, 405);
  cr_assert(strstr(answer.headers, "Allow: GET") != NULL);
  cr_assert_eq(visit(port, "HEAD", "/metrics", NULL, NULL).status, 200);
  snprintf(taken, sizeof taken, "127.0.0.1:%d", port);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--listen", taken, NULL), 1); /* it may be free later */
  cr_assert(strstr(errors, "Address already in use") != NULL, "%s", errors);
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--listen", "9187", NULL), 2);
  cr_assert(strstr(errors, "hint: use ADDRESS:PORT") != NULL, "%s", errors);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* What reads the clock is an hour ahead of what waits by it: as if it were set back in between. */
static const char AHEAD[] = "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
                            "int clock_gettime(clockid_t clock, struct timespec *now) {\n"
                            "  long failed = syscall(SYS_clock_gettime, clock, now);\n"
                            "  now->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;\n  return (int)failed;\n}\n";

/* {"at":[1,2],… */
static bool has_two_samples(int port) {
  const char *body = visit(port, "GET", "/api/samples", NULL, NULL).body;
  return strcspn(body, ",") < strcspn(body, "]");
}

Test(monitor, samples_are_taken_though_the_clock_is_set_back) {
  char path[64];
  char line[256];
  int port;
  if (getenv("ASAN_OPTIONS") != NULL || !has_programs("cc"))
    cr_skip_test("a sanitizer wants to be the first library, or there is no compiler");
  begin("monitor_clock");
  snprintf(path, sizeof path, "/tmp/rowrelay-ahead-%d.so", (int)getpid());
  snprintf(line, sizeof line, "cc -shared -fPIC -x c -o %s -", path);
  FILE *compiler = popen(line, "w");
  cr_assert(compiler != NULL && fputs(AHEAD, compiler) >= 0 && pclose(compiler) == 0);
  setenv("LD_PRELOAD", path, 1);
  pid_t process = run_and_listen(&port);
  unsetenv("LD_PRELOAD");
  unlink(path);
  visit_until(port, "/readyz", 200, 10);
  double end = give_up_at(20);
  while (seconds_now() < end && !has_two_samples(port))
    sleep_seconds(0.5);
  cr_expect(has_two_samples(port));
  stop_process(process, SIGTERM);
  fixture_end(&f);
}
