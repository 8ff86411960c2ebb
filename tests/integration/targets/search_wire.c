/* Search indexes: what is on the wire, and what becomes of answers that a well engine does not give. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "receiver.h"

#define MOST_ITEMS 2000

static struct receiver *receiver;

/* Table item at the source goes to target w, which is the receiver: index "index", requests one after the other. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  receiver = receiver_begin();
  sql(f->at_source, "create table item (id int primary key, name text)");
  char url[128];
  snprintf(url, sizeof url, "elasticsearch+%s", receiver_url(receiver, "/index"));
  rowrelay_ok(f, "target", "add", "w", url, "--option", "lanes=1", "--option", "retries=1", NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

static void end(struct fixture *f) {
  fixture_end(f);
  receiver_end(receiver);
}

/*
 * An answer to a bulk request, item by item: a row's name is the list of statuses that it gets, "429 200", each time
 * the next; the last one stays. Words behind them mean nothing.
 */
static char *answer_items(const struct received *request) {
  static int times[MOST_ITEMS];
  char *answer = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&answer, &length);
  fprintf(out, "{\"took\":1,\"errors\":true,\"items\":[");
  int count = 0;
  for (const char *line = request->body; *line != '\0'; line = strchr(line, '\n') + 1) {
    bool deletes = strncmp(line, "{\"delete\"", 9) == 0;
    const char *id = strstr(line, "\"_id\":\"");
    long key = strtol(id + strlen("\"_id\":\""), NULL, 10);
    long status = 200;
    if (!deletes) {
      line = strchr(line, '\n') + 1;
      const char *list = strstr(line, "\"name\":\"");
      list = list != NULL ? list + strlen("\"name\":\"") : "200";
      for (int i = times[key]++; i > 0 && list[3] == ' ' && isdigit((unsigned char)list[4]); i--)
        list += 4;
      status = strtol(list, NULL, 10);
    }
    fprintf(out, "%s{\"%s\":{\"_index\":\"index\",\"_id\":\"%ld\",\"status\":%ld", count++ > 0 ? "," : "",
            deletes ? "delete" : "index", key, status);
    bool quotes = !deletes && strstr(line, "\\u0000") != NULL && strstr(line, "\\u0000") < strchr(line, '\n');
    if (status >= 300 && quotes)
      fprintf(out, ",\"error\":{\"type\":\"of_the_test\",\"reason\":\"row %ld has \\\"a\\u0000b\\\"\"}", key);
    else if (status >= 300)
      fprintf(out, ",\"error\":{\"type\":\"of_the_test\",\"reason\":\"row %ld has %ld\"}", key, status);
    fprintf(out, "}}");
  }
  fprintf(out, "]}");
  fclose(out);
  return answer;
}

static const struct answer ITEMS = {.status = 200, .make_body = answer_items};

/* Makes temporary table sent (request, version, id, name) of all items of all requests. */
static void load_items(struct fixture *f) {
  receiver_load(receiver, f->at_source);
  sql(f->at_source,
      "drop table if exists sent; create temporary table sent as select r.n as request, coalesce(r.status, 0) as "
      "status, "
      "l.line::json -> 'index' ->> '_id' as id, (l.line::json -> 'index' ->> 'version')::bigint as version, "
      "lead(l.line) over (partition by r.n order by l.i)::json ->> 'name' as name from request r cross join lateral "
      "unnest(string_to_array(rtrim(r.body, e'\\n'), e'\\n')) with ordinality as l(line, i) where r.body <> '';"
      "delete from sent where id is null");
}

Test(search_wire, a_bulk_request_is_what_the_engine_wants) {
  struct fixture f;
  begin(&f, "wire_bulk");
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "insert into item values (1, '200 \"ü'), (2, null); delete from item where id = 2; "
                   "insert into item values (3)");
  sql(f.at_source, "delete from item where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(receiver_count(receiver), 1);
  const struct received *request = receiver_at(receiver, 0);
  cr_assert(strncmp(request->bytes, "POST /_bulk HTTP/1.1\r\n", 22) == 0, "%s", request->bytes);
  cr_assert_str_eq(received_header(request, "Content-Type"), "application/x-ndjson");
  char expected[1024];
  snprintf(expected, sizeof expected,
           "{\"index\":{\"_index\":\"index\",\"_id\":\"1\",\"version\":%s,\"version_type\":\"external\"}}\n"
           "{\"id\":1,\"name\":\"200 \\\"ü\"}\n"
           "{\"delete\":{\"_index\":\"index\",\"_id\":\"2\",\"version\":%s,\"version_type\":\"external\"}}\n"
           "{\"delete\":{\"_index\":\"index\",\"_id\":\"3\",\"version\":%s,\"version_type\":\"external\"}}\n",
           ask(f.at_source, "select max(change_id) from rowrelay.history where key = '1'"),
           ask(f.at_source, "select max(change_id) from rowrelay.history where key = '2'"),
           ask(f.at_source, "select max(change_id) from rowrelay.history where key = '3'"));
  cr_assert_str_eq(request->body, expected);
  end(&f);
}

/* An id has 512 bytes at most. */
Test(search_wire, long_keys_are_told_apart_and_are_whole_letters) {
  struct fixture f;
  begin(&f, "wire_long_keys");
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "create table word (word text primary key, name text)");
  rowrelay_ok(&f, "route", "item", "w", "--remove", NULL);
  rowrelay_ok(&f, "capture", "word", "--to", "w", NULL);
  sql(f.at_source, "insert into word select repeat('ä', 256) || last from unnest(array['', 'a', 'b']) as last");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "update word set name = '200'");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_items(&f);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat_ws(' ', w.name, s.n), ', ' order by length(w.word), w.word) "
                       "from word w, (select id, count(*) as n from sent group by id) as s where s.id = "
                       "case when length(w.word) = 256 then w.word "
                       "else repeat('ä', 223) || '~' || encode(sha256(convert_to(w.word, 'UTF8')), 'hex') end"),
                   "200 2, 200 2, 200 2");
  end(&f);
}

Test(search_wire, each_item_has_its_own_outcome) {
  struct fixture f;
  begin(&f, "wire_mixed");
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "insert into item values (1, '200'), (2, '409'), (3, '429 200'), (4, '400'), (5, '503 503 201'), "
                   "(6, '400 200'), (7, '200')");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 30);
  stop_process(process, SIGTERM);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws('|', key, message, detail), ' ') from rowrelay.errors"),
      "4|row 4 has 400|of_the_test");
  load_items(&f);
  /* What has been accepted is not sent again; what has not, is, until it is. */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(id || ':' || n, ' ' order by id) from (select id, count(*) as n from "
                       "sent where id in ('1', '2', '3', '5', '7') group by id) as x"),
                   "1:1 2:1 3:2 5:3 7:1");
  cr_assert(ask_number(f.at_source, "select count(*) from sent where id = '4'") >= 2);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where key <> '4' and status ->> 'w' <> "
                                    "'complete'"),
                   "0");
  end(&f);
}

Test(search_wire, an_answer_that_says_nothing_of_the_items_loses_none) {
  static const struct answer BAD[] = {
      {.status = 200, .body = "<html>well</html>"},
      {.status = 200, .body = ""},
      {.status = 200, .body = "{\"took\":1,\"errors\":false}"},
      {.status = 200, .body = "{\"took\":1,\"errors\":false,\"items\":[]}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[{\"index\":{\"status\":200}},{\"index\":{\"status\":200}}]}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[{\"index\":{}}]}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[\"well\"]}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[{}]}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[{\"index\":{\"status\":200}}"},
      {.status = 200, .body = "{\"took\":1,\"items\":[{\"index\":{\"status\":200}}]}", .cut = 20},
      {.status = 200, .body = "{\"took\":1,\"items\":[{\"index\":{\"status\":200}}]}", .cut = 80},
      {.status = 204},
      {.status = 429, .headers = "Retry-After: 0\r\n"},
      {.status = 503, .body = "busy"},
      {.status = 401, .body = "{\"error\":\"who are you\"}"},
      {.status = 302, .headers = "Location: /elsewhere\r\n"},
      {.raw = "nonsense"},
  };
  static char words[sizeof BAD / sizeof BAD[0]][32]; /* the receiver borrows them */
  struct fixture f;
  begin(&f, "wire_bad");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
    snprintf(words[i], sizeof words[i], "\"_id\":\"%zu\"", i);
    receiver_answer(receiver, words[i], 1, BAD[i]);
  }
  receiver_answer(receiver, NULL, 0, ITEMS);
  pid_t process = fixture_run(&f, NULL, NULL);
  for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
    sql(f.at_source, "insert into item values (%zu, '200 first')", i);
    sql(f.at_source, "update item set name = '200 second' where id = %zu", i);
    wait_until_empty(&f, 20);
  }
  stop_process(process, SIGTERM);
  load_items(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  /* Once badly, once well, and only then what comes after it. */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct names, ' | ') from (select string_agg(right(name, -4), ' ' "
                       "order by request) as names from sent group by id) as x"),
                   "first first second");
  end(&f);
}

/* Engines quote values in their errors. */
Test(search_wire, an_error_that_quotes_a_nul_is_of_its_row_alone) {
  struct fixture f;
  begin(&f, "wire_nul");
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "alter table item add note json");
  sql(f.at_source, "insert into item values (1, '200', null), (2, '400', '\"a\\u0000b\"'), (3, '200', null)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws('|', key, message), ' ') from rowrelay.errors"),
                   "2|row 2 has \"a b\"");
  end(&f);
}

/* The answer is as long as what is asked, and nobody can read it. */
static char *answer_nonsense(const struct received *request) {
  char *answer = answer_items(request);
  answer[strlen(answer) - 1] = '\xff';
  return answer;
}

Test(search_wire, a_row_that_makes_an_answer_nobody_understands_is_found_and_refused) {
  struct fixture f;
  begin(&f, "wire_nonsense");
  receiver_answer(receiver, "\"_id\":\"30\"", 0, (struct answer){.status = 200, .make_body = answer_nonsense});
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "insert into item select n, '200' from generate_series(1, 64) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat_ws('|', key, message, left(detail, 27)), ' ') from rowrelay.errors"),
      "30|the answer is not one to a bulk request|{\"took\":1,\"errors\":true,\"it");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.history where status ->> 'w' = 'complete'"), "63");
  end(&f);
}

/* A proxy that has something else to say is not about rows. */
Test(search_wire, a_page_instead_of_an_answer_refuses_no_row) {
  struct fixture f;
  begin(&f, "wire_page");
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 200, .body = "<html>log in\n</html>"});
  sql(f.at_source, "insert into item values (1, '200')");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  receiver_wait(receiver, 4, 10);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  receiver_recover(receiver);
  receiver_answer(receiver, NULL, 0, ITEMS);
  wait_until_empty(&f, 20);
  stop_process(process, SIGTERM);
  end(&f);
}

Test(search_wire, what_is_too_large_is_sent_in_parts) {
  struct fixture f;
  begin(&f, "wire_413");
  receiver_answer(receiver, "too large", 0, (struct answer){.status = 413, .body = "<html>413</html>"});
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "insert into item select n, case when n = 30 then '200 too large' else '200' end "
                   "from generate_series(1, 64) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws('|', key, message), ' ') from rowrelay.errors"),
                   "30|HTTP 413");
  load_items(&f);
  cr_assert_str_eq(ask(f.at_source, "select count(distinct id) from sent where status = 200"), "63");
  end(&f);
}

Test(search_wire, a_request_is_bounded_in_bytes) {
  struct fixture f;
  begin(&f, "wire_bytes");
  rowrelay_ok(&f, "target", "set", "w", "--option", "bulk_bytes=5000", NULL);
  receiver_answer(receiver, NULL, 0, ITEMS);
  /* One is larger than that, and travels alone. */
  sql(f.at_source, "insert into item select n, '200 ' || repeat('x', case n when 50 then 20000 else n * 10 end) "
                   "from generate_series(1, 100) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_items(&f);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(n::text, ' ') from request where length(body) > 5000 and n <> (select "
                       "request from sent where id = '50')"),
                   "");
  cr_assert_str_eq(
      ask(f.at_source, "select count(*) from sent where request = (select request from sent where id = '50')"), "1");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', count(distinct id)) from sent"), "100 100");
  /* And they are filled. */
  cr_assert(ask_number(f.at_source, "select count(*) from request") < 20);
  end(&f);
}

Test(search_wire, requests_that_take_longer_than_a_lease_are_not_sent_by_two) {
  struct fixture f;
  begin(&f, "wire_lease");
  const char *const options[] = {"bulk_bytes=1024", "push_timeout=2", "lease=3", "claim=lease"};
  for (int i = 0; i < 4; i++)
    rowrelay_ok(&f, "target", "set", "w", "--option", options[i], NULL);
  receiver_answer(receiver, "_bulk", 0, (struct answer){.status = 200, .make_body = answer_items, .delay = 1});
  sql(f.at_source, "insert into item select n, '200 ' || repeat('x', 1000) from generate_series(1, 6) as n");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 20);
  stop_process(process, SIGTERM);
  cr_assert_eq(receiver_count(receiver), 6);
  cr_assert_eq(receiver_most_at_once(receiver), 1);
  end(&f);
}

/* Its older change is accepted, so the index is as the table was then. */
Test(search_wire, of_a_row_that_is_refused_the_change_before_counts) {
  struct fixture f;
  begin(&f, "wire_before");
  receiver_answer(receiver, "bad", 0, (struct answer){.status = 200, .make_body = answer_items});
  receiver_answer(receiver, NULL, 0, ITEMS);
  sql(f.at_source, "insert into item values (1, '200 good'), (2, '200'), (3, '200')");
  sql(f.at_source, "update item set name = '400 bad' where id = 1; update item set name = '200 new' where id = 2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_items(&f);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws('|', op, key, message), ' ') from rowrelay.errors"),
                   "update|1|row 1 has 400");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct name, ', ') from sent where id = '1'"),
                   "200 good, 400 bad");
  end(&f);
}

Test(search_wire, secrets_go_with_each_request_and_nowhere_else) {
  struct fixture f;
  setenv("ROWRELAY_TEST_KEY", "c2VjcmV0LWtleQ==", 1);
  setenv("ROWRELAY_TEST_PASSWORD", "pass:w/rd", 1);
  begin(&f, "wire_secrets");
  rowrelay_ok(&f, "target", "set", "w", "--option", "api_key=${ROWRELAY_TEST_KEY}", "--option", "gzip=true", NULL);
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 401, .body = "no"});
  sql(f.at_source, "insert into item values (1, '200')");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  cr_assert(strstr(process_log(process), "c2VjcmV0") == NULL, "%s", process_log(process));
  cr_assert_str_eq(ask(f.at_source, "select note ~ 'c2VjcmV0' from rowrelay.status"), "f");
  stop_process(process, SIGTERM);
  const struct received *request = receiver_at(receiver, 0);
  cr_assert_str_eq(received_header(request, "Authorization"), "ApiKey c2VjcmV0LWtleQ==");
  cr_assert_str_eq(received_header(request, "Content-Encoding"), "gzip");
  cr_assert((unsigned char)request->body[0] == 0x1f && (unsigned char)request->body[1] == 0x8b);
  end(&f);
}

Test(search_wire, a_target_test_names_the_engine_or_says_what_else_answers) {
  struct fixture f;
  const char *errors;
  begin(&f, "wire_test");
  static const struct {
    struct answer answer;
    const char *said;
  } ENGINES[] = {
      {{.status = 200, .body = "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"2.11.0\"}}"},
       "target w: opensearch 2.11.0\n"},
      {{.status = 200, .body = "{\"version\":{\"number\":\"8.4.1\"}}"}, "target w: elasticsearch 8.4.1\n"},
  };
  for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
    receiver_answer(receiver, NULL, 1, ENGINES[i].answer);
    cr_assert_str_eq(rowrelay_ok(&f, "target", "test", "w", NULL), ENGINES[i].said);
  }
  static const struct {
    struct answer answer;
    const char *said;
  } OTHERS[] = {
      {{.status = 200, .body = "<html>welcome</html>"}, "not a search engine"},
      {{.status = 200, .body = "{\"version\":2}"}, "not a search engine"},
      {{.status = 401, .body = "who are you?"}, "401"},
      {{.status = 503}, "503"},
  };
  for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
    receiver_answer(receiver, NULL, 1, OTHERS[i].answer);
    cr_assert_eq(rowrelay(&f, NULL, &errors, "target", "test", "w", NULL), 1);
    cr_assert_not_null(strstr(errors, OTHERS[i].said), "%s", errors);
  }
  for (int i = 0; i < receiver_count(receiver); i++)
    cr_assert(strncmp(receiver_at(receiver, i)->bytes, "GET /", 5) == 0, "it writes nothing: %s",
              receiver_at(receiver, i)->bytes);
  end(&f);
}

/* What somebody else writes at the same moment is not deleted, though the answer is a success. */
Test(search_wire, an_index_is_emptied_until_nothing_is_left) {
  struct fixture f;
  begin(&f, "search_wire_left");
  receiver_answer(receiver, "_delete_by_query", 2,
                  (struct answer){.status = 200, .body = "{\"deleted\":1,\"version_conflicts\":1,\"failures\":[]}"});
  receiver_answer(receiver, NULL, 0,
                  (struct answer){.status = 200, .body = "{\"deleted\":1,\"version_conflicts\":0,\"failures\":[]}"});
  sql(f.at_source, "truncate item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  receiver_load(receiver, f.at_source);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from request where head like '%%_delete_by_query%%'"), "3");
  end(&f);
}
