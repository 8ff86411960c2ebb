/* listeners_odd: changes over HTTP to those who ask otherwise than most do, and of large rows. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "browser.h"
#include "ear.h"
#include "fixture.h"
#include "visitor.h"
#include "writers.h"

static struct fixture f;
static pid_t process;
static int port;
static char tokens[64];

/* Token "open" is for a superuser. */
static void begin(const char *name) {
  char command[256];
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, n text); select rowrelay.capture_table('item')");
  snprintf(tokens, sizeof tokens, "/tmp/rowrelay-%d.tokens", (int)getpid());
  snprintf(command, sizeof command, "echo hand $(printf open | sha256sum | cut -d' ' -f1) postgres > %s", tokens);
  cr_assert_eq(system(command), 0);
  setenv("ROWRELAY_CHANGES_TOKENS", tokens, 1);
  process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  port = visitor_port(process);
}

static void end(void) {
  cr_expect_eq(stop_process(process, SIGTERM), 0);
  unlink(tokens);
  fixture_end(&f);
}

/* A busy machine may need longer for a large change than the source is given. */
static struct visit read_lines(const char *cursor, int most, long status) {
  char path[9000];
  double until = give_up_at(60);
  struct visit answer;
  snprintf(path, sizeof path, "/changes?wait=1&max=%d&since=%s", most, cursor);
  do
    answer = visit(port, "GET", path, "Authorization: Bearer open", NULL);
  while (answer.status != status && (answer.status == 503 || answer.status == 504) && seconds_now() < until);
  cr_assert_eq(answer.status, status, "%ld: %.500s", answer.status, answer.body);
  return answer;
}

/* The text of a member of an object; valid until the next call. */
static const char *member(const char *object, const char *name) {
  static char value[8192];
  char begins[64];
  snprintf(begins, sizeof begins, "\"%s\":\"", name);
  const char *at = strstr(object, begins);
  cr_assert_not_null(at, "%s: %.500s", name, object);
  at += strlen(begins);
  snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\""), at);
  return value;
}

/* ---- large rows ------------------------------------------------------------------------------------------------ */

/* The source is given 20 seconds to read one, which a machine that is busy with other tests may need for itself. */
static void begin_large(const char *name) {
  if (getenv("HUGE") == NULL)
    cr_skip("HUGE=1 runs it, on a machine that does nothing else");
  begin(name);
  sql(f.at_source, "alter table item alter n set storage external; alter table rowrelay.change alter new_row set "
                   "storage external");
}

Test(listeners_odd, a_change_that_is_too_large_is_told_with_where_to_go_on, .timeout = 900) {
  struct ear ear;
  const char *data;
  char path[9000];
  begin_large("listeners_large");
  sql(f.at_source, "insert into item values (1, 'small')");
  sql(f.at_source, "insert into item select 2, repeat('x', 140000000)");
  sql(f.at_source, "insert into item values (3, 'small')");
  /* what comes before it is handed out */
  struct visit lines = read_lines("", 100, 200);
  cr_assert_eq(ear_number(lines.body, "change_id"), 1, "%.500s", lines.body);
  char cursor[8192];
  snprintf(cursor, sizeof cursor, "%s", member(lines.body, "next_cursor"));
  lines = read_lines(cursor, 100, 500);
  cr_assert_not_null(strstr(lines.body, "is too large for HTTP"), "%.500s", lines.body);
  cr_assert_not_null(strstr(lines.body, cursor), "%.500s", lines.body);
  snprintf(cursor, sizeof cursor, "%s", member(lines.body, "next_cursor"));
  lines = read_lines(cursor, 100, 200);
  cr_assert_eq(ear_number(lines.body, "change_id"), 3, "%.500s", lines.body);
  /* and so is a stream */
  snprintf(path, sizeof path, "/changes?since=");
  for (int i = 0; i < 2; i++) {
    ear_open(&ear, port, path, "open", NULL, "");
    data = ear_hear_data(&ear, 60);
    cr_assert_eq(ear_number(data, "change_id"), i == 0 ? 1 : 3, "%s", data);
    if (i == 0) {
      data = ear_hear_data(&ear, 60);
      cr_assert_not_null(strstr(data, "is too large for HTTP"), "%s", data);
      snprintf(path, sizeof path, "/changes?since=%s", member(data, "next_cursor"));
      cr_assert(!ear_hear(&ear, 15, &data) && ear.ended);
    }
    ear_close(&ear);
  }
  end();
}

Test(listeners_odd, rows_of_60_MB_arrive_one_by_one, .timeout = 900) {
  enum { ROWS = 3, SIZE = 60000000 };
  char cursor[8192] = "";
  begin_large("listeners_60mb");
  for (int i = 1; i <= ROWS; i++)
    sql(f.at_source, "insert into item select %d, repeat('x', %d)", i, SIZE);
  for (int i = 1; i <= ROWS; i++) {
    struct visit lines = read_lines(cursor, 100, 200);
    cr_assert_eq(ear_number(lines.body, "change_id"), i, "%.500s", lines.body);
    cr_assert(strlen(lines.body) > SIZE);
    cr_assert_eq(strchr(lines.body, '\n')[1], '\0', "more than one");
    snprintf(cursor, sizeof cursor, "%s", member(lines.body, "next_cursor"));
  }
  end();
}

/* ---- clients that ask as they like ----------------------------------------------------------------------------- */

static int open_socket(void) {
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(connect(fd, (struct sockaddr *)&server, sizeof server), 0);
  struct timeval patience = {.tv_sec = 60};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

static void say(int fd, const char *bytes, size_t length) {
  cr_assert_eq(send(fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

/* All that comes until the server closes; valid until the next call. */
static const char *hear_all(int fd) {
  static char heard[65536];
  size_t length = 0;
  for (ssize_t count;
       length < sizeof heard - 1 && (count = recv(fd, heard + length, sizeof heard - 1 - length, 0)) > 0;)
    length += (size_t)count;
  heard[length] = '\0';
  close(fd);
  return heard;
}

#define LINES_REQUEST                                                                                                  \
  "GET /changes?since=&wait=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer open\r\nAccept: */*\r\n\r\n"

static int count_of(const char *text, const char *words) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
    count++;
  return count;
}

/* The answer to the first closes the connection, as its headers say: the client sends the others again. */
Test(listeners_odd, requests_sent_together_get_the_first_answer_and_a_closed_connection) {
  begin("listeners_pipelined");
  sql(f.at_source, "insert into item values (1)");
  int fd = open_socket();
  say(fd, LINES_REQUEST LINES_REQUEST LINES_REQUEST, 3 * strlen(LINES_REQUEST));
  const char *heard = hear_all(fd);
  cr_assert_eq(count_of(heard, "HTTP/1.1 200"), 1, "%s", heard);
  cr_assert_eq(count_of(heard, "Connection: close"), 1, "%s", heard);
  cr_assert_eq(count_of(heard, "\"relation\""), 1, "%s", heard);
  visit_until(port, "/readyz", 200, 15);
  end();
}

Test(listeners_odd, a_request_in_pieces_is_answered_and_half_of_one_holds_up_nobody) {
  enum { HALVES = 20 }; /* fewer than one address may have */
  int halves[HALVES];
  begin("listeners_partial");
  sql(f.at_source, "insert into item values (1)");
  for (int i = 0; i < HALVES; i++) {
    halves[i] = open_socket();
    say(halves[i], LINES_REQUEST, (size_t)(i + 1));
  }
  int fd = open_socket();
  for (const char *byte = LINES_REQUEST; *byte != '\0'; byte++) {
    say(fd, byte, 1);
    sleep_seconds(0.002);
  }
  const char *heard = hear_all(fd);
  cr_assert_eq(count_of(heard, "\"relation\""), 1, "%s", heard);
  for (int i = 0; i < HALVES; i++)
    close(halves[i]);
  struct visit lines = read_lines("", 10, 200);
  cr_assert_eq(ear_number(lines.body, "change_id"), 1);
  end();
}

/* It would go on at this server's own place, and nobody would know what is missing. */
Test(listeners_odd, a_cursor_of_another_source_or_of_what_this_one_has_lost_is_refused) {
  char cursor[128];
  begin("listeners_future");
  sql(f.at_source, "insert into item values (1)");
  const char *mark = ask(f.at_source, "select split_part(next_cursor, '/', 1) from rowrelay.changes_since('now')");
  snprintf(cursor, sizeof cursor, "%s/900000000000:900000000000:", mark);
  struct visit lines = read_lines(cursor, 10, 410);
  cr_assert_not_null(strstr(lines.body, "this server has lost what this cursor has seen"), "%s", lines.body);
  lines = read_lines("0123abcd.1/3:3:", 10, 410);
  cr_assert_not_null(strstr(lines.body, "this cursor is of another source"), "%s", lines.body);
  /* one that is very old is answered from the beginning */
  snprintf(cursor, sizeof cursor, "%s/3:3:", mark);
  lines = read_lines(cursor, 10, 200);
  cr_assert_eq(ear_number(lines.body, "change_id"), 1, "%s", lines.body);
  end();
}

/* ---- a browser ------------------------------------------------------------------------------------------------- */

/* Notes what the browser hears until this change has come. */
static void note_what_comes(long last) {
  long place;
  long id = 0;
  while (id != last) {
    const char *line = browser_hear();
    cr_assert_eq(sscanf(line, "%ld %ld", &place, &id), 2, "%s", line);
    sql(f.at_target, "insert into got values (%ld, %ld)", place, id);
  }
}

/* The first transaction commits when all others have. */
Test(listeners_odd, a_browser_that_is_cut_off_at_random_gets_what_the_log_has_once, .timeout = 900) {
  struct writers writers;
  begin("listeners_browser");
  writers_make_tables(f.at_source);
  sql(f.at_source, "select rowrelay.capture_table('stock'), rowrelay.capture_table('ledger')");
  writers_fill_tables(f.at_source, 40);
  sql(f.at_target, "create table got (place bigint primary key, id bigint)");
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; insert into item select n, 'late' from generate_series(1, 100) as n");
  browser_listen(port, "open", 7);
  writers_start(&writers, f.source, 4, 1500, 5, 40);
  writers_finish(&writers, 120);
  sql(f.at_source, "insert into item values (-1, 'before')");
  note_what_comes(ask_number(f.at_source, "select max(change_id) from rowrelay.history"));
  sql(late, "update item set n = 'later' where id = 1; commit");
  sql(f.at_source, "insert into item values (-2, 'last')");
  note_what_comes(ask_number(f.at_source, "select max(change_id) from rowrelay.history"));
  long cuts = 0;
  cr_assert_eq(sscanf(browser_ask("cuts"), "cuts %ld", &cuts), 1);
  cr_assert(cuts > 2, "%ld cuts", cuts);
  static const char DIGEST[] = "select concat(count(*), ' ', md5(string_agg(%s::text, ' ' order by %s))) from %s";
  cr_assert_str_eq(ask(f.at_target, DIGEST, "id", "id", "got"),
                   ask(f.at_source, DIGEST, "change_id", "change_id", "rowrelay.history"));
  PQfinish(late);
  browser_end();
  end();
}
