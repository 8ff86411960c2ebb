/* JSON lines, in a file or on standard output. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static char path[128];
static char url[160];

/* Table item at the source goes to target w, which is the file `path` or, if that is not wanted, standard output. */
static void begin(struct fixture *f, const char *name, bool is_file) {
  fixture_begin(f, name);
  snprintf(path, sizeof path, "/tmp/rowrelay-%d.jsonl", (int)getpid());
  unlink(path);
  snprintf(url, sizeof url, "file:%s", path);
  sql(f->at_source, "create table item (id int primary key, name text, more json)");
  rowrelay_ok(f, "target", "add", "w", is_file ? url : "stdout:", NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

static void end(struct fixture *f) {
  unlink(path);
  fixture_end(f);
}

/* Fills table lines (n, line) at the source, in order; every line must be a JSON object, and the last must be ended. */
static void load_lines(struct fixture *f, const char *file) {
  sql(f->at_source,
      "drop table if exists lines; create temp table lines (n bigint generated always as identity, line json)");
  PGresult *result =
      PQexec(f->at_source, "copy lines (line) from stdin (format csv, delimiter e'\\x01', quote e'\\x02')");
  cr_assert_eq(PQresultStatus(result), PGRES_COPY_IN);
  PQclear(result);
  int in = open(file, O_RDONLY | O_CLOEXEC);
  cr_assert(in >= 0, "%s", file);
  static char bytes[65536];
  ssize_t length;
  char last = '\n';
  while ((length = read(in, bytes, sizeof bytes)) > 0) {
    cr_assert_eq(PQputCopyData(f->at_source, bytes, (int)length), 1);
    last = bytes[length - 1];
  }
  close(in);
  cr_assert_eq(PQputCopyEnd(f->at_source, NULL), 1);
  finish(f->at_source);
  cr_assert_eq(last, '\n');
  cr_assert_str_eq(ask(f->at_source, "select count(*) from lines where json_typeof(line) <> 'object'"), "0");
}

/* Each change must be there once, and of each key the older before the newer. */
static void assert_complete(struct fixture *f) {
  cr_assert_str_eq(ask(f->at_source, "select concat(count(*), ' ', count(distinct line ->> 'change_id')) from lines"),
                   ask(f->at_source, "select concat(count(*), ' ', count(*)) from rowrelay.history"));
  cr_assert_str_eq(
      ask(f->at_source,
          "select count(*) from (select (line ->> 'change_id')::bigint < lag((line ->> 'change_id')::bigint) "
          "over (partition by line ->> 'key' order by n) as bad from lines) as x where bad"),
      "0");
}

/*
 * Runs rowrelay with these words and a pipe behind it, into `consumer`, which must not write to standard output itself.
 * Gives rowrelay's exit status; 124 when it has not ended after 20 seconds.
 */
static int run_into_pipe(struct fixture *f, const char *words, const char *consumer) {
  char command[2048];
  snprintf(command, sizeof command,
           "exit $( { { timeout 20 \"$ROWRELAY_BIN\" -d '%s' run %s; echo $? >&3; } | %s; } 3>&1 )", f->source, words,
           consumer);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void write_file(const char *text, size_t length) {
  int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  cr_assert(out >= 0 && write(out, text, length) == (ssize_t)length);
  close(out);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

Test(target_lines, each_change_is_a_line_that_says_all) {
  struct fixture f;
  begin(&f, "lines_each", true);
  sql(f.at_source, "insert into item values (1, e'a\\nb\\t\"c\\\\ \\u2028 ü', e'{\\n  \"x\": [1,\\r\\n 2]\\n}')");
  sql(f.at_source, "set rowrelay.actor = 'anna'; update item set name = null; reset rowrelay.actor; delete from item; "
                   "truncate item");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_lines(&f, path);
  assert_complete(&f);
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(concat_ws('|', line ->> 'op', line ->> 'relation', line ->> 'key', line ->> 'actor', "
          "line -> 'old_row'), ' ' order by n) from lines"),
      "insert|public.item|1|postgres|null update|public.item|1|anna|null delete|public.item|1|postgres|{\"id\" : 1} "
      "truncate|public.item|postgres|null");
  cr_assert_str_eq(ask(f.at_source, "select line -> 'new_row' ->> 'name' from lines where n = 1"),
                   "a\nb\t\"c\\ \xe2\x80\xa8 ü");
  cr_assert_str_eq(ask(f.at_source, "select line -> 'new_row' -> 'more' -> 'x' ->> 1 from lines where n = 1"), "2");
  cr_assert_str_eq(
      ask(f.at_source,
          "select count(*) from lines join rowrelay.history h on h.change_id = (line ->> 'change_id')::bigint "
          "and h.captured_at = (line ->> 'captured_at')::timestamptz and h.txid = (line ->> 'txid')::xid8 "
          "and line ->> 'source' = (select id::text from rowrelay.source)"),
      "4");
  end(&f);
}

Test(target_lines, a_file_grows_and_is_never_written_over) {
  struct fixture f;
  begin(&f, "lines_grow", true);
  write_file("{\"mine\":1}\n", 11);
  for (int i = 0; i < 3; i++) {
    sql(f.at_source, "insert into item values (%d)", i);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
  }
  load_lines(&f, path);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(coalesce(line ->> 'key', line ->> 'mine'), ' ' order by n) from lines"),
      "1 0 1 2");
  end(&f);
}

Test(target_lines, a_line_that_was_cut_short_is_taken_away) {
  static const char *const begins[] = {"{\"whole\":1}\n{\"whole\":2}\n", ""};
  struct fixture f;
  begin(&f, "lines_torn", true);
  for (int i = 0; i < 4; i++) {
    /* A short one, and one that is longer than what is looked at at a time. */
    char text[20000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s{\"change_id\":5,\"torn\":\"", begins[i % 2]);
    size_t torn = i < 2 ? 3 : 10000;
    memset(text + length, 'x', torn);
    write_file(text, length + torn);
    sql(f.at_source, "insert into item values (%d)", i);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    load_lines(&f, path);
    cr_assert_str_eq(
        ask(f.at_source,
            "select string_agg(coalesce(line ->> 'whole', 'key ' || (line ->> 'key')), ' ' order by n) from lines"),
        ask(f.at_source, "select '%skey %d'", i % 2 == 0 ? "1 2 " : "", i));
  }
  end(&f);
}

Test(target_lines, a_last_line_of_somebody_else_is_ended_and_stays) {
  static const char *const texts[] = {"{\"whole\":1}", "{\"whole\":1}\n{\"changes\":2}", "{}"};
  static const char *const expected[] = {"{\"whole\":1} 7", "{\"whole\":1} {\"changes\":2} 7", "{} 7"};
  struct fixture f;
  begin(&f, "lines_foreign", true);
  for (int i = 0; i < 3; i++) {
    write_file(texts[i], strlen(texts[i]));
    sql(f.at_source, "insert into item values (7); delete from item");
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    load_lines(&f, path);
    cr_assert_str_eq(ask(f.at_source, "select string_agg(coalesce(line ->> 'key', line::text), ' ' order by n) "
                                      "from lines where line ->> 'op' is distinct from 'delete'"),
                     expected[i]);
  }
  end(&f);
}

/* As far as it goes, it is what our own begin with. */
Test(target_lines, a_last_line_that_is_too_short_to_tell_stays_unless_a_block_ends_there) {
  struct fixture f;
  begin(&f, "lines_short", true);
  for (int padding = 0; padding <= 509; padding += 509) { /* and 3 bytes are a block */
    char text[600] = "";
    char line[600] = "";
    memset(text, ' ', (size_t)padding);
    strcat(text, "\n{\"");
    write_file(text, strlen(text));
    sql(f.at_source, "insert into item values (7); delete from item");
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fgets(line, sizeof line, file) != NULL && fgets(line, sizeof line, file) != NULL);
    if (padding == 0)
      cr_expect_str_eq(line, "{\"\n");
    else
      cr_expect(strncmp(line, "{\"change_id\":", 13) == 0, "%s", line);
    fclose(file);
  }
  end(&f);
}

/* A file may not grow beyond a limit here, so that a write ends in the middle, as on a full disk. */
Test(target_lines, a_write_that_fails_in_the_middle_leaves_nothing_and_is_repeated_as_a_whole) {
  struct fixture f;
  begin(&f, "lines_full", true);
  sql(f.at_source, "insert into item values (0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "insert into item select n, repeat('x', 300) from generate_series(1, 100) as n");
  char command[2048];
  snprintf(
      command, sizeof command,
      "trap '' XFSZ; ulimit -f 16; exec timeout 20 \"$ROWRELAY_BIN\" -d '%s' run --until-empty --wait 2 2>/dev/null",
      f.source);
  cr_assert_neq(system(command), 0);
  load_lines(&f, path); /* whole ones, of the smaller batches that it was tried with after that */
  cr_assert_str_eq(ask(f.at_source, "select count(*) < 20 and count(*) = count(distinct line ->> 'key') from lines"),
                   "t");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_lines(&f, path);
  assert_complete(&f);
  end(&f);
}

Test(target_lines, several_processes_write_one_file_and_each_key_stays_in_order) {
  struct fixture f;
  begin(&f, "lines_several", true);
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL),
                       fixture_run(&f, "--workers", "3", NULL)};
  for (int i = 0; i < 30; i++)
    sql(f.at_source,
        "insert into item select n, repeat('x', (n %% 50) * 100) from generate_series(%d, %d) as n;"
        "update item set more = '{\"round\": %d}' where id %% 17 = %d %% 17",
        i * 50, i * 50 + 49, i, i);
  wait_until_empty(&f, 20);
  for (int i = 0; i < 3; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  load_lines(&f, path);
  assert_complete(&f);
  end(&f);
}

Test(target_lines, a_killed_process_leaves_no_hole_and_no_half_line) {
  struct fixture f;
  begin(&f, "lines_killed", true);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=200", NULL);
  sql(f.at_source, "insert into item select n, repeat('x', 5000) from generate_series(1, 5000) as n");
  for (int i = 0; i < 4; i++) {
    pid_t process = fixture_run(&f, "--workers", "2", NULL);
    sleep_seconds(0.1 + 0.05 * i);
    stop_process(process, SIGKILL);
  }
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  load_lines(&f, path);
  /* What was not settled comes twice; nothing is missing. */
  cr_assert_str_eq(ask(f.at_source, "select count(distinct line ->> 'change_id') from lines"), "5000");
  end(&f);
}

/* As logrotate does, which tells nobody. */
Test(target_lines, a_file_that_is_renamed_or_removed_is_made_anew) {
  struct fixture f;
  begin(&f, "lines_rotated", true);
  char rotated[160];
  snprintf(rotated, sizeof rotated, "%s.1", path);
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  cr_assert_eq(rename(path, rotated), 0);
  sql(f.at_source, "insert into item values (2)");
  wait_until_empty(&f, 10);
  load_lines(&f, path);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line ->> 'key', ' ') from lines"), "2");
  load_lines(&f, rotated);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line ->> 'key', ' ') from lines"), "1");
  cr_assert_eq(unlink(path), 0);
  sql(f.at_source, "insert into item values (3)");
  wait_until_empty(&f, 10);
  load_lines(&f, path);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line ->> 'key', ' ') from lines"), "3");
  stop_process(process, SIGTERM);
  unlink(rotated);
  end(&f);
}

Test(target_lines, files_that_are_renamed_under_several_processes_have_each_change_once_and_in_order) {
  enum { ROUNDS = 30 };
  struct fixture f;
  begin(&f, "lines_rotating", true);
  pid_t processes[] = {fixture_run(&f, "--workers", "3", NULL), fixture_run(&f, "--workers", "3", NULL)};
  char rotated[160];
  char command[1024];
  for (int i = 0; i < ROUNDS; i++) {
    sql(f.at_source,
        "insert into item select n, repeat('x', 100) from generate_series(%d, %d) as n;"
        "update item set more = '{\"round\": %d}' where id %% 17 = %d %% 17",
        i * 50, i * 50 + 49, i, i);
    snprintf(rotated, sizeof rotated, "%s.%02d", path, i);
    for (int waited = 0; access(path, F_OK) != 0; waited++) {
      cr_assert_lt(waited, 2000, "nothing was written in round %d", i);
      sleep_seconds(0.01);
    }
    cr_assert_eq(rename(path, rotated), 0);
  }
  wait_until_empty(&f, 20);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  snprintf(command, sizeof command, "cat %s.[0-9]* $(ls %s) > %s.all; rm %s.[0-9]*", path, path, path, path);
  cr_assert_eq(system(command), 0);
  snprintf(rotated, sizeof rotated, "%s.all", path);
  load_lines(&f, rotated);
  unlink(rotated);
  assert_complete(&f);
  end(&f);
}

Test(target_lines, a_file_that_cannot_be_opened_is_named_and_tried_again) {
  struct fixture f;
  begin(&f, "lines_closed", true);
  char directory[64];
  snprintf(directory, sizeof directory, "/tmp/rowrelay-%d.dir", (int)getpid());
  rowrelay_ok(&f, "target", "set", "w", "--url", ask(f.at_source, "select 'file://%s/x.jsonl'", directory), NULL);
  sql(f.at_source, "insert into item values (1)");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until(f.at_source, "failing", 10, "select state from rowrelay.status");
  char words[256];
  snprintf(words, sizeof words, "cannot open file %s/x.jsonl: No such file or directory", directory);
  cr_assert_not_null(strstr(ask(f.at_source, "select note from rowrelay.status"), words));
  cr_assert_eq(mkdir(directory, 0700), 0);
  wait_until_empty(&f, 10);
  stop_process(process, SIGTERM);
  snprintf(path, sizeof path, "%s/x.jsonl", directory);
  load_lines(&f, path);
  assert_complete(&f);
  end(&f);
  rmdir(directory);
}

/* ---- standard output ------------------------------------------------------------------------------------------- */

Test(target_lines, standard_output_has_the_lines_and_nothing_else) {
  struct fixture f;
  begin(&f, "lines_stdout", false);
  sql(f.at_source, "insert into item select n, 'x' from generate_series(1, 100) as n; update item set name = 'y'");
  const char *out = rowrelay_ok(&f, "run", "--until-empty", NULL);
  write_file(out, strlen(out));
  load_lines(&f, path);
  assert_complete(&f);
  cr_assert_str_eq(rowrelay_ok(&f, "run", "--until-empty", NULL), "");
  end(&f);
}

Test(target_lines, lines_of_several_workers_do_not_mix_in_a_pipe) {
  struct fixture f;
  begin(&f, "lines_pipe", false);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=70", NULL);
  sql(f.at_source, "insert into item select n, repeat('x', 20000 + n) from generate_series(1, 2000) as n");
  char consumer[256];
  snprintf(consumer, sizeof consumer, "cat > %s", path);
  cr_assert_eq(run_into_pipe(&f, "--until-empty --workers 4", consumer), 0);
  load_lines(&f, path);
  assert_complete(&f);
  end(&f);
}

Test(target_lines, a_reader_that_goes_away_ends_the_process) {
  struct fixture f;
  begin(&f, "lines_head", false);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=50", NULL);
  sql(f.at_source, "insert into item select n, repeat('x', 3000) from generate_series(1, 1000) as n");
  char consumer[256];
  snprintf(consumer, sizeof consumer, "head -n 2 > %s", path);
  cr_assert_eq(run_into_pipe(&f, "--workers 2", consumer), 0);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.queue") > 0);
  /* The same when it is to end by itself; and a status with a reason is no use, as nothing is wrong. */
  cr_assert_eq(run_into_pipe(&f, "--until-empty", consumer), 0);
  cr_assert_str_eq(ask(f.at_source, "select state from rowrelay.status"), "not running");
  /* What nobody has read is still queued. */
  cr_assert_eq(run_into_pipe(&f, "--until-empty", "cat > /dev/null"), 0);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "0");
  end(&f);
}

Test(target_lines, a_reader_that_does_not_read_keeps_nobody_from_leaving) {
  struct fixture f;
  begin(&f, "lines_stuck", false);
  sql(f.at_source, "insert into item select n, repeat('x', 3000) from generate_series(1, 1000) as n");
  int pipe_ends[2];
  cr_assert_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
  pid_t process = fork();
  cr_assert(process >= 0);
  if (process == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    execl(getenv("ROWRELAY_BIN"), "rowrelay", "-d", f.source, "run", "--workers", "2", (char *)NULL);
    _exit(127);
  }
  close(pipe_ends[1]);
  sleep_seconds(1);
  kill(process, SIGTERM);
  cr_assert(still_runs(process, 0.5));
  kill(process, SIGTERM);
  cr_assert_neq(wait_process(process, 5), -1);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "1000");
  close(pipe_ends[0]);
  end(&f);
}

/*
 * A process waits for the file's lock and is stopped; its session at the source ends meanwhile, and another process
 * delivers the same change and a later one.
 */
Test(target_lines, a_process_that_lost_its_claim_while_it_waited_for_the_lock_writes_nothing_old) {
  struct fixture f;
  begin(&f, "lines_stale", true);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
  pid_t late = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "insert into item values (1, 'one')");
  static const char *const claims = "from pg_stat_activity where datname = current_database()"
                                    " and application_name like 'rowrelay%%' and state = 'idle in transaction'";
  wait_until(f.at_source, "1", 10, "select count(*) %s", claims);
  sleep_seconds(1);
  cr_assert_eq(kill(late, SIGSTOP), 0);
  sql(f.at_source, "select pg_terminate_backend(pid) %s", claims);
  cr_assert_eq(flock(fd, LOCK_UN), 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "update item set name = 'two'");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(kill(late, SIGCONT), 0);
  sleep_seconds(1);
  sql(f.at_source, "update item set name = 'three'");
  wait_until_empty(&f, 20);
  load_lines(&f, path);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(line -> 'new_row' ->> 'name', ' ' order by n) from lines"),
                   "one two three");
  close(fd);
  cr_assert_eq(stop_process(late, SIGTERM), 0);
  end(&f);
}

/* As one that was stopped in the middle of a push, or somebody's script. */
Test(target_lines, a_file_that_another_process_has_locked_is_waited_for_no_longer_than_a_push_may_take) {
  struct fixture f;
  begin(&f, "lines_locked", true);
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=2", NULL);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
  sql(f.at_source, "insert into item values (1, 'one')");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 10,
             "select note like '%%another process has held a lock on file %s%%' from rowrelay.status", path);
  double since = seconds_now();
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  cr_assert(seconds_now() - since < 20, "it took %.1f s", seconds_now() - since);
  process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 10, "select attempts > 2 from rowrelay.trouble");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.errors"), "0");
  cr_assert_eq(flock(fd, LOCK_UN), 0);
  wait_until_empty(&f, 20);
  load_lines(&f, path);
  assert_complete(&f);
  close(fd);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end(&f);
}
