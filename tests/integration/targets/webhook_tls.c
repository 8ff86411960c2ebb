/* Webhooks over TLS, into a real nginx with a certificate of a private authority. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static struct fixture f;
static char dir[64];
static char ports[4][8]; /* localhost, another name, with a client's certificate only, without TLS */
static pid_t nginx;

static void find_ports(void) {
  int sockets[4];
  for (int i = 0; i < 4; i++) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(sockets[i], (struct sockaddr *)&address, sizeof address) == 0 &&
              getsockname(sockets[i], (struct sockaddr *)&address, &length) == 0);
    snprintf(ports[i], sizeof ports[i], "%d", ntohs(address.sin_port));
  }
  for (int i = 0; i < 4; i++)
    close(sockets[i]);
}

static bool is_listening(const char *port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)atoi(port))};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool listening = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return listening;
}

static void start_nginx(void) {
  snprintf(dir, sizeof dir, "/tmp/rowrelay-nginx-XXXXXX");
  cr_assert_not_null(mkdtemp(dir));
  find_ports();
  pid_t parent = getpid();
  nginx = fork();
  cr_assert(nginx >= 0);
  if (nginx == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
      execl("tests/support/nginx_tls.sh", "nginx_tls.sh", dir, ports[0], ports[1], ports[2], ports[3], (char *)NULL);
    _exit(127);
  }
  double until = seconds_now() + 20;
  while (!is_listening(ports[3])) {
    cr_assert(waitpid(nginx, NULL, WNOHANG) == 0 && seconds_now() < until, "nginx does not start: see %s", dir);
    sleep_seconds(0.02);
  }
}

static void begin(const char *name, const char *port, const char *ca_file) {
  if (!has_programs("nginx openssl"))
    cr_skip_test("nginx or openssl is not installed");
  start_nginx();
  fixture_begin(&f, name);
  char url[64];
  snprintf(url, sizeof url, "https://localhost:%s/hook", port);
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "w", url, "--option", "retries=0", NULL);
  if (ca_file != NULL)
    rowrelay_ok(&f, "target", "set", "w", "--option", ask(f.at_source, "select 'ca_file=%s/%s'", dir, ca_file), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
}

static void end(void) {
  kill(nginx, SIGKILL);
  waitpid(nginx, NULL, 0);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", dir);
  cr_assert_eq(system(command), 0);
  fixture_end(&f);
}

/* What nginx has noted, as table access (protocol, method, path, connection, client). */
static void load_access(void) {
  char path[96];
  char *text = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, "%s/access", dir);
  FILE *in = fopen(path, "re");
  cr_assert_not_null(in);
  const char *values[] = {getdelim(&text, &size, '\0', in) > 0 ? text : ""};
  fclose(in);
  sql(f.at_source, "drop table if exists access; create temp table access (parts text[])");
  PGresult *result = PQexecParams(f.at_source,
                                  "insert into access select string_to_array(line, ' ') from "
                                  "regexp_split_to_table($1, e'\\n') as line where line <> ''",
                                  1, NULL, values, NULL, NULL, 0);
  cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(f.at_source));
  PQclear(result);
  free(text);
}

static void assert_not_delivered(const char *words) {
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  const char *note = ask(f.at_source, "select note from rowrelay.status");
  cr_assert_not_null(strstr(note, words), "%s", note);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.refusal"), "0");
  load_access();
  cr_assert_str_eq(ask(f.at_source, "select count(*) from access"), "0");
}

Test(webhook_tls, a_certificate_of_a_private_authority_is_verified) {
  begin("tls_private", ports[0], "ca.pem");
  sql(f.at_source, "insert into item select n, repeat('x', n * 50) from generate_series(1, 200) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_access();
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', count(*), min(parts[1]), max(parts[1]), max(parts[2]), "
                                    "max(parts[3]), count(distinct parts[4]) <= 16) from access"),
                   "200 HTTP/1.1 HTTP/1.1 POST /hook t");
  const char *said = rowrelay_ok(&f, "target", "test", "w", NULL);
  cr_assert_not_null(strstr(said, "answered 204"), "%s", said);
  end();
}

Test(webhook_tls, a_certificate_of_an_unknown_authority_is_not_trusted) {
  begin("tls_unknown", ports[0], NULL);
  assert_not_delivered("option ca_file");
  end();
}

Test(webhook_tls, a_certificate_of_another_authority_is_not_trusted) {
  begin("tls_other", ports[0], "other-ca.pem");
  assert_not_delivered("option ca_file");
  end();
}

Test(webhook_tls, a_certificate_for_another_name_is_not_trusted) {
  begin("tls_name", ports[1], "ca.pem");
  assert_not_delivered("name 'localhost'"); /* curl 8 calls it a hostname */
  end();
}

Test(webhook_tls, a_client_shows_its_certificate) {
  begin("tls_client", ports[2], "ca.pem");
  sql(f.at_source, "insert into item values (1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const char *detail = ask(f.at_source, "select detail from rowrelay.errors");
  cr_assert_not_null(strstr(detail, "No required SSL certificate was sent"), "%s", detail);
  rowrelay_ok(&f, "target", "set", "w", "--option", ask(f.at_source, "select 'certificate=%s/client.pem'", dir),
              "--option", ask(f.at_source, "select 'private_key=%s/client.key'", dir), NULL);
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  load_access();
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct parts[5], ' ') from access where parts[5] <> '-'"),
                   "CN=ann");
  /* A key that is not the certificate's is said. */
  rowrelay_ok(&f, "target", "set", "w", "--option", ask(f.at_source, "select 'private_key=%s/server.key'", dir), NULL);
  sql(f.at_source, "insert into item values (2)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  const char *note = ask(f.at_source, "select note from rowrelay.status");
  cr_assert_not_null(strstr(note, "private key"), "%s", note);
  stop_process(process, SIGTERM);
  end();
}

Test(webhook_tls, many_requests_share_a_connection_with_http2) {
  begin("tls_http2", ports[0], "ca.pem");
  rowrelay_ok(&f, "target", "set", "w", "--option", "http2=true", "--option", "concurrency=32", "--url",
              ask(f.at_source, "select 'https://localhost:%s/read'", ports[0]), NULL);
  sql(f.at_source, "insert into item select n, repeat('x', n * 100) from generate_series(1, 500) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  load_access();
  cr_assert_str_eq(
      ask(f.at_source, "select concat_ws(' ', count(*), min(parts[1]), count(distinct parts[4]) < 5) from access"),
      "500 HTTP/2.0 t");
  end();
}

/* Some versions of libcurl can use a connection for one such request only. */
Test(webhook_tls, http2_without_tls_delivers_each_change_once) {
  begin("tls_plain", ports[0], NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "http2=true", "--option", "concurrency=4", "--url",
              ask(f.at_source, "select 'http://localhost:%s/hook'", ports[3]), NULL);
  sql(f.at_source, "insert into item select n, repeat('x', n * 100) from generate_series(1, 100) as n");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 20);
  const char *log = process_log(process);
  cr_expect_null(strstr(log, "warning"), "%s", log);
  stop_process(process, SIGTERM);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  load_access();
  cr_expect_str_eq(ask(f.at_source, "select concat_ws(' ', count(*), min(parts[1])) from access"), "100 HTTP/2.0");
  end();
}

/* Now and then libcurl leaves one of so many streams without an answer until the timeout: so there are three tries. */
Test(webhook_tls, an_answer_that_comes_before_the_request_was_read_counts) {
  begin("tls_early", ports[0], "ca.pem");
  rowrelay_ok(&f, "target", "set", "w", "--option", "http2=true", "--option", "timeout=5", NULL);
  bool is_quiet = false;
  int tries = 0;
  for (; tries < 3 && !is_quiet; tries++) {
    sql(f.at_source, "insert into item select %d + n, repeat('x', n * 20) from generate_series(1, 300) as n",
        tries * 1000);
    pid_t process = fixture_run(&f, NULL, NULL);
    wait_until_empty(&f, 30);
    is_quiet = strstr(process_log(process), "warning") == NULL;
    stop_process(process, SIGTERM);
  }
  cr_assert(is_quiet, "each time an answer did not count");
  load_access();
  if (tries == 1)
    cr_assert_str_eq(ask(f.at_source, "select count(*) from access"), "300");
  end();
}
