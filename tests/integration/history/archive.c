/* Days of the log in files: nothing is dropped that is not in one, and it comes back as it was, to the byte. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "past.h"

static char directory[64];

static void remove_directory(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  cr_assert_eq(system(command), 0);
}

/* Table item is captured, with images that are hard to keep, and goes nowhere. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  snprintf(directory, sizeof directory, "/tmp/rowrelay-archive-XXXXXX");
  cr_assert_not_null(mkdtemp(directory));
  sql(f->at_source, "create table item (id int primary key, name text, data json, n numeric, at timestamptz)");
  rowrelay_ok(f, "capture", "item", "--before", NULL);
  sql(f->at_source, "insert into item select n, 'name ' || n, null, n / 3.0, now() from generate_series(1, 500) as n");
  sql(f->at_source,
      "insert into item values (1001, e'a\\nb\\tc\\\\d\\x01\\x02\"e', e'{\"a\":\\n  [1,\\r\\n 2.50] }', 1e-30, "
      "'infinity'),"
      "  (1002, '', '{\"a\":1, \"a\":2}', 'NaN', null), (1003, null, '\"\\u0000\"', 12345678901234567890.1, null)");
  sql(f->at_source, "set rowrelay.actor = 'anna \"the\\1\"'; update item set name = name || 'x' where id > 495;"
                    "delete from item where id < 10; truncate item; reset rowrelay.actor");
}

static void end(struct fixture *f) {
  remove_directory();
  fixture_end(f);
}

/* The path of the only file; valid until the next call. */
static const char *only_file(void) {
  static char path[256];
  char command[256];
  snprintf(command, sizeof command, "ls %s/*.jsonl.gz", directory);
  FILE *list = popen(command, "r");
  cr_assert(fgets(path, sizeof path, list) != NULL, "there is no file");
  path[strcspn(path, "\n")] = '\0';
  cr_assert(fgets(command, sizeof command, list) == NULL, "there are several files");
  pclose(list);
  return path;
}

/* All that the log holds of a day, byte for byte. */
static const char *contents(struct fixture *f, const char *day) {
  return ask(
      f->at_source,
      "select count(*) || ' ' || md5(string_agg(c::text, ',' order by id)) from rowrelay.change c where day = '%s'",
      day);
}

Test(archive, a_day_that_was_dropped_comes_back_to_the_byte) {
  struct fixture f;
  begin(&f, "archive_bytes");
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  const char *before = contents(&f, day);
  const char *life = ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '1001')");
  rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  cr_assert_str_eq(contents(&f, day), "", "it is still in the log");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.partition_days() where day = '%s'", day), "0");
  /* Others can check and read it too. */
  char command[512];
  snprintf(command, sizeof command, "cd %s && sha256sum --quiet -c *.sha256 && test $(zcat *.gz | wc -l) = 522",
           directory);
  cr_assert_eq(system(command), 0);

  const char *said = rowrelay_ok(&f, "archive", "--restore", only_file(), NULL);
  cr_assert_not_null(strstr(said, "521 changes restored"), "%s", said);
  cr_assert_str_eq(contents(&f, day), before);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '1001')"), life);
  sql(f.at_source, "insert into item values (1)");
  end(&f);
}

Test(archive, what_was_restored_stays_until_it_is_asked_for) {
  struct fixture f;
  begin(&f, "archive_restored");
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  rowrelay_ok(&f, "archive", "--restore", only_file(), NULL);
  rowrelay_ok(&f, "keep", "10 days", NULL);
  rowrelay_ok(&f, "prune", NULL);
  rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 521);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "archive", "--restore", only_file(), NULL), 2);
  cr_assert_not_null(strstr(errors, "is in the log"), "%s", errors);
  rowrelay_ok(&f, "prune", "--restored", NULL);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 0);
  rowrelay_ok(&f, "archive", "--restore", only_file(), NULL);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 521);
  end(&f);
}

Test(archive, a_damaged_cut_or_foreign_file_is_not_restored) {
  struct fixture f;
  begin(&f, "archive_damaged");
  past_move(f.at_source, 40);
  past_close(f.at_source);
  rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  static const struct {
    const char *damage, *said;
  } CASES[] = {
      {"head -c -100 $f > $f.2", ".2 is truncated"},
      {"{ cat $f; echo more; } > $f.2", ".2 is damaged"},
      {"{ head -c -8 $f; echo damaged; } > $f.2", ".2 is damaged"}, /* the checksum: other bytes may be chance's */
      {"echo hello > $f.2", ".2 is damaged, or was not written by rowrelay archive"},
      {"echo hello | gzip > $f.2", ".2: this is not an archive of rowrelay"},
      {"zcat $f | sed '$d' | gzip > $f.2", "; the log says "},
      {"zcat $f | sed 's/name 7/name 8/' | gzip > $f.2", "; the log says "}, /* only the checksum knows */
      {"zcat $f | sed '1s/\"source\" : \"[^\"]*\"/\"source\" : \"00000000-0000-0000-0000-000000000000\"/' | gzip > "
       "$f.2",
       " is from another source"},
      {"cp $f $f.2; echo 0000 > $f.2.sha256", "; the file beside it says 0000."},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char command[512];
    char damaged[300];
    snprintf(command, sizeof command, "f=%s; %s", only_file(), CASES[i].damage);
    cr_assert_eq(system(command), 0);
    snprintf(damaged, sizeof damaged, "%s.2", only_file());
    const char *errors;
    cr_assert_eq(rowrelay(&f, NULL, &errors, "archive", "--restore", damaged, NULL), i == 4 || i == 7 ? 2 : 1, "%s: %s",
                 CASES[i].damage, errors);
    cr_assert_not_null(strstr(errors, CASES[i].said), "%s: %s", CASES[i].damage, errors);
    cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.history"), 0, "%s", CASES[i].damage);
  }
  rowrelay_ok(&f, "archive", "--restore", only_file(), NULL);
  end(&f);
}

Test(archive, nothing_is_dropped_when_the_file_cannot_be_written_or_something_is_not_delivered) {
  struct fixture f;
  begin(&f, "archive_refused");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  rowrelay_ok(&f, "route", "item", "w", NULL);
  sql(f.at_source, "insert into item values (1)");
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  const char *said = rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  cr_assert_not_null(strstr(said, "kept: changes are queued for target w"), "%s", said);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "archive", "--older-than", "30 days", "/nowhere", NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "archive", directory, NULL), 2);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "archive", "--older-than", "30 days", "/proc", NULL), 1);
  /* A disk that is full. */
  char command[1024];
  snprintf(command, sizeof command, "ulimit -f 1; exec %s -d '%s' archive --older-than '30 days' %s",
           getenv("ROWRELAY_BIN"), f.source, directory);
  cr_assert_neq(system(command), 0);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 522);
  end(&f);
}

Test(archive, a_day_that_somebody_reads_is_written_and_stays) {
  struct fixture f;
  begin(&f, "archive_dump");
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  PGconn *dump = connect_to(f.source, NULL);
  sql(dump, "begin; lock table rowrelay.change in access share mode");
  const char *said = rowrelay_ok(&f, "archive", "--older-than", "30 days", "--lock-wait", "0", directory, NULL);
  cr_assert_not_null(strstr(said, "still in the log"), "%s", said);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 521);
  sql(dump, "commit");
  rowrelay_ok(&f, "archive", "--older-than", "30 days", directory, NULL);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.change where day = '%s'", day), 0);
  /* Neither file has taken the other's place. */
  char command[256];
  snprintf(command, sizeof command, "test $(ls %s/*.gz | wc -l) = 2", directory);
  cr_assert_eq(system(command), 0);
  PQfinish(dump);
  end(&f);
}
