/* How much memory a process needs, however much is queued. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/optional.h"
#include "fixture.h"
#include "flood.h"

/* A sanitizer needs memory of its own. */
static bool is_sanitized(void) {
  const char *sanitizer = getenv("SANITIZE");
  return sanitizer != NULL && sanitizer[0] != '\0';
}

/* Bytes of the largest batch of more than one change. */
static int64_t largest_batch(struct fixture *f) {
  return ask_number(
      f->at_source,
      "select max(bytes) from (select sum(octet_length(h.new_row::text)) as bytes from rowrelay.receipt r "
      "cross join unnest(r.change_ids) as u(id) join rowrelay.change h on h.id = u.id "
      "group by r.token having count(*) > 1) as batch");
}

Test(memory, a_backlog_of_any_size_is_delivered_in_batches_that_are_bounded) {
  struct fixture f;
  fixture_begin(&f, "memory");
  sql(f.at_source, "create table item (id int primary key, body text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item select n, 'row ' || n from generate_series(1, 300000) as n");
  sql(f.at_source, "insert into item select n, repeat('x', 60000) from generate_series(300001, 300700) as n;"
                   "insert into item select n, repeat('y', 5000000) from generate_series(300701, 300710) as n");
  pid_t process = fixture_run(&f, "--workers", "4", NULL);
  wait_until_empty(&f, 120);
  long peak = peak_of(process);
  fprintf(stderr, "peak with 4 workers: %ld MiB\n", peak);
  cr_assert(is_sanitized() || peak < 100, "%ld MiB", peak);
  int64_t largest = largest_batch(&f);
  cr_assert(largest > 4 * 1024 * 1024 && largest <= 8 * 1024 * 1024, "%lld bytes", (long long)largest);

  /* A row larger than a batch may be travels alone, and takes as much as it must. */
  sql(f.at_source, "insert into item values (-1, repeat('z', 60000000)); update item set body = 'w' where id between "
                   "300001 and 300100");
  wait_until_empty(&f, 120);
  fprintf(stderr, "with a row of 60 MB: %ld MiB\n", peak_of(process));
  cr_assert(is_sanitized() || peak_of(process) < 500, "%ld MiB", peak_of(process));
  cr_assert_str_eq(ask(f.at_source,
                       "select max(cardinality(r.change_ids)) from rowrelay.receipt r where (select max(change_id) "
                       "from rowrelay.history where key = '-1') = any (r.change_ids)"),
                   "1");
  cr_assert_str_eq(ask(f.at_target, "select concat_ws(' ', count(*), sum(length(body)), max(length(body))) from item"),
                   ask(f.at_source, "select concat_ws(' ', count(*), sum(length(body)), max(length(body))) from item"));
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* A target whose answer to anything is `head` and 200 MB: what the process holds has to stay small. */
static void is_bounded(const char *name, const char *scheme, const char *path, const char *head) {
  struct fixture f;
  char url[128];
  struct flood *flood = flood_begin(head, 200);
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, body text)");
  snprintf(url, sizeof url, "%s://127.0.0.1:%d%s", scheme, flood_port(flood), path);
  rowrelay_ok(&f, "target", "add", "w", url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  flood_wait(flood, 60);
  wait_until(f.at_source, "t", 30,
             "select exists (select from rowrelay.errors) or note <> '' from rowrelay.status where target = 'w'");
  long peak = peak_of(process);
  fprintf(stderr, "%s with an answer of 200 MB: %ld MiB\n", scheme, peak);
  cr_assert(is_sanitized() || peak < 64, "%ld MiB", peak);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
  flood_end(flood);
}

Test(memory, an_answer_of_any_size_of_a_webhook_is_bounded) {
  is_bounded("flood_webhook", "http", "/", "HTTP/1.1 500 No\r\n\r\n");
}

Test(memory, an_answer_of_any_size_of_a_search_engine_is_bounded) {
  is_bounded("flood_search", "elasticsearch+http", "/index", "HTTP/1.1 200 OK\r\n\r\n{\"took\":1,\"items\":[\"");
}

Test(memory, a_text_of_any_size_of_redis_is_bounded) {
  if (!HAVE_HIREDIS)
    cr_skip("rowrelay was built without libhiredis");
  is_bounded("flood_redis", "redis", "/0/stream", "$419430400\r\n");
}
