/* How much memory a process needs, however much is queued. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

/* The most that the process has held so far, in MiB. */
static long peak_of(pid_t process) {
  char name[64];
  char line[256];
  long kilobytes = -1;
  snprintf(name, sizeof name, "/proc/%d/status", (int)process);
  FILE *status = fopen(name, "re");
  cr_assert(status != NULL);
  while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %ld kB", &kilobytes) != 1)
    ;
  fclose(status);
  cr_assert(kilobytes > 0);
  return kilobytes / 1024;
}

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
