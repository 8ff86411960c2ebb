/* What commands do and print, and their exit status. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "fixture.h"
#include "spoken.h"

static struct fixture f;

static void begin(const char *name) {
  spoken_begin(&f, name);
}

static void end(void) {
  fixture_end(&f);
}

/* ---- wrong use ------------------------------------------------------------------------------------------------- */

Test(commands, wrong_words_are_wrong_use) {
  begin("commands_words");
  FAILS(2, "unknown command \"frobnicate\"", "frobnicate");
  FAILS(2, "did you mean \"capture\"?", "captur");
  FAILS(2, "did you mean \"target pause\"?", "pause", "w");
  FAILS(2, "did you mean \"target list\" or \"document list\"?", "list");
  FAILS(2, "command \"target\" needs a second word", "target");
  FAILS(2, "unknown command \"target remove\"", "target", "remove", "w");
  FAILS(2, "one of: add, list, show", "target", "frobnicate");
  FAILS(2, "--frob", "status", "--frob");
  FAILS(2, "-x", "status", "-x");
  FAILS(2, "missing argument: TABLE...", "capture");
  FAILS(2, "unexpected argument \"extra\"", "status", "extra");
  FAILS(2, "--to", "capture", "item", "--to");
  FAILS(2, "option --to is given twice", "backfill", "item", "--to", "a", "--to", "b");
  FAILS(2, "option --workers must be a whole number from 1 to 64, not \"0\"", "run", "--workers", "0");
  FAILS(2, "not \"many\"", "run", "--workers", "many");
  FAILS(2, "--watch", "status", "--watch=0");
  FAILS(2, "try: rowrelay log --help", "log", "item", "1", "2");
  FAILS(2, "--limit", "log", "item", "--limit", "-1");
  FAILS(2, "cannot be combined", "retry", "--all", "1");
  FAILS(2, "name at least one change", "skip");
  FAILS(2, "--create", "capture", "item", "--create");
  FAILS(2, "nothing to set", "target", "set", "w");
  end();
}

Test(commands, capture_routes_to_each_target_named) {
  begin("commands_targets");
  SAYS("target a: added\n", "target", "add", "a", "file:/tmp/never");
  SAYS("target b: added\n", "target", "add", "b", "file:/tmp/never2");
  FAILS(2, "\"c\" does not exist", "capture", "item", "--to", "a", "--to", "c");
  FAILS(2, "--dry-run takes one --to", "capture", "item", "--dry-run", "--to", "a", "--to", "b");
  SAYS("item: captured, routed to a, b\n", "capture", "item", "--to", "a", "--to", "b");
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(target, ' ' order by target) from rowrelay.status where backlog "
                                    "= 1"),
                   "a b");
  end();
}

Test(commands, archive_says_that_nothing_is_old_enough) {
  begin("commands_archive");
  SAYS("nothing is old enough to be archived\n", "archive", "--older-than", "90 days", "/tmp");
  end();
}

Test(commands, names_of_what_is_not_there_are_wrong_use) {
  begin("commands_names");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured\n", "capture", "item");
  FAILS(2, "no table matches \"nothing\"", "capture", "nothing");
  FAILS(2, "views and foreign tables do not match", "capture", "nothing");
  FAILS(2, "no table matches \"shop.*\"", "capture", "item", "shop.*");
  sql(f.at_source, "create schema \"Old & Odd\"; create table \"Old & Odd\".\"It's %%I\" (id int primary key);"
                   "create table spare (id int primary key); create view item_view as select 1; create materialized "
                   "view heap as select 1");
  FAILS(2, "did you mean '\"Old & Odd\".*'? A name with capitals", "capture", "Old & Odd.*");
  FAILS(2, "did you mean '\"Old & Odd\".\"It'\\''s %I\"'?", "capture", "old & odd.it's %i");
  FAILS(2, "did you mean '\"Old & Odd\".\"It'\\''s %I\"'?", "doctor", "It's %I");
  FAILS(2, "did you mean public.spare?", "capture", "public.sapre");
  FAILS(2, "public.item_view is a view, which cannot be captured", "capture", "item_view");
  FAILS(2, "public.heap is a view, which cannot be captured", "capture", "public.heap");
  FAILS(2, "table public.spare is not captured; to capture it: rowrelay capture public.spare", "release", "Spare");
  FAILS(2, "no captured table matches \"other\"", "release", "other");
  FAILS(2, "no captured table matches \"other\"", "route", "other", "w");
  FAILS(2, "target \"v\" does not exist", "capture", "other", "--to", "v");
  FAILS(2, "hint: Targets are: \"w\"", "route", "item", "v");
  FAILS(2, "target \"v\" does not exist", "target", "show", "v");
  FAILS(2, "target \"v\" does not exist", "target", "set", "v", "--url", "stdout:");
  FAILS(2, "target \"v\" does not exist", "target", "pause", "v");
  FAILS(2, "target \"v\" does not exist", "target", "resume", "v");
  FAILS(2, "target \"v\" does not exist", "target", "drop", "v");
  FAILS(2, "target \"v\" does not exist", "errors", "--target", "v");
  FAILS(2, "target \"v\" does not exist", "errors", "--target", "v", "--json");
  FAILS(2, "target \"v\" does not exist", "retry", "--all", "--target", "v");
  FAILS(2, "target \"v\" does not exist", "skip", "1", "--target", "v");
  FAILS(2, "target \"v\" does not exist", "run", "--target", "w", "--target", "v");
  FAILS(2, "no table that is or was captured matches \"other\"", "log", "other");
  FAILS(2, "table public.item is not routed to target \"w\"", "route", "item", "w", "--remove");
  FAILS(2, "yesterdayish", "log", "item", "--since", "yesterdayish");
  FAILS(2, "\"one\" is not a change id", "retry", "one");
  FAILS(2, "is not a change id", "retry", "99999999999999999999");
  FAILS(2, "\"one\" is not a change id", "undo", "item", "1", "one");
  FAILS(2, "\"abc\" is not an interval\nhint: Give an interval such as '90 days'", "keep", "abc");
  FAILS(2, "\"abc\" is not an interval\nhint: Give an interval such as '90 days'", "prune", "--older-than", "abc");
  FAILS(2, "\"abc\" is not an interval\nhint: Give an interval such as '90 days'", "archive", "--older-than", "abc",
        ".");
  FAILS(2, "run: rowrelay retry --all --target w", "retry", "--target", "w");
  FAILS(2, "hint: give change ids as \"rowrelay errors\" shows them", "retry", "--target", "d w");
  /* Nothing has changed by any of it. */
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(relation::text, ' ') from rowrelay.captures where targets = '{}'"), "item");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat_ws(' ', name, state), ', ') from rowrelay.targets"),
                   "w not running");
  end();
}

Test(commands, a_url_or_option_that_cannot_work_is_wrong_use) {
  begin("commands_url");
  FAILS(2, "target URL \"oracle://x\" is not supported", "target", "add", "w", "oracle://x");
  FAILS(2, "target URL \"\" is not supported", "target", "add", "w", "");
  FAILS(2, "names no file", "target", "add", "w", "file:");
  static const char *const secrets[] = {
      "postgresql://u:geheim@host/db",           "postgres://u:geheim@/db",
      "postgresql://host/db?password=geheim",    "postgresql://host/db?user=u&password=geheim",
      "postgresql://host/db?sslpassword=geheim", "postgresql://u:${A}geheim@host/db"};
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    FAILS(2, "target URL contains a password", "target", "add", "w", secrets[i]);
    const char *errors;
    rowrelay(&f, NULL, &errors, "target", "add", "w", secrets[i], NULL);
    cr_assert_null(strstr(errors, "geheim"), "%s", errors);
  }
  static const char *const fine[] = {"postgresql://u:${A}@host/db",
                                     "postgresql://host:5432?user=a@b",
                                     "postgres://h/?password=${A}",
                                     "postgresql://u@h1:1,h2:2/db?options=-c%20a=b",
                                     "postgresql:",
                                     "postgresql:///db",
                                     "stdout:",
                                     "file:/tmp/a:b@c"};
  for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
    SAYS("target w: added\n", "target", "add", "w", fine[i]);
    SAYS("target w: dropped\n", "target", "drop", "w");
  }
  FAILS(2, "option \"speed\" does not exist", "target", "add", "w", "stdout:", "--option", "speed=9");
  FAILS(2, "on_error must be park, block or halt, not \"ignore\"", "target", "add", "w", "stdout:", "--option",
        "on_error=ignore");
  FAILS(2, "lanes must be a number from 1 to 1024, not \"0\"", "target", "add", "w", "stdout:", "-o", "lanes=0");
  FAILS(2, "retries must be a number from 0 to 1000, not \"-1\"", "target", "add", "w", "stdout:", "-o", "retries=-1");
  FAILS(2, "NAME=VALUE", "target", "add", "w", "stdout:", "-o", "retries");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.targets"), "0");
  SAYS("target w: added\n", "target", "add", "w", "stdout:");
  FAILS(2, "target \"w\" already exists", "target", "add", "w", "stdout:");
  FAILS(2, "file: or stdout:", "target", "set", "w", "--url", "x");
  FAILS(2, "option \"speed\" does not exist", "target", "set", "w", "--option", "speed=9");
  FAILS(2, "the target's name is empty", "target", "add", "", "stdout:");
  /* A running process could not open such a target. */
  FAILS(2, "the target's name is longer than 63 bytes", "target", "add",
        "a_target_with_a_name_that_is_as_long_as_those_of_old_tables_may_be", "stdout:");
  FAILS(2, "the target's name contains a control character", "target", "add", "v\nw", "stdout:");
  FAILS(2, "Options are batch_bytes, batch_rows", "target", "add", "v", "stdout:", "--option", "speed=9");
  FAILS(2, "\"speed\" does not exist\n", "target", "add", "v", "stdout:", "--option", "speed=9");
  FAILS(2, "names no database", "target", "add", "v", "postgresql:shop");
  end();
}

Test(commands, a_server_that_is_not_there_is_a_failure) {
  begin("commands_server");
  FAILS(1, "connection to server on socket", "status", "-d", "host=/nowhere");
  FAILS(1, "hint: option -d, or PGHOST, PGPORT, PGUSER and PGDATABASE say where the source is", "status", "-d",
        "host=/nowhere");
  FAILS(1, "database \"nowhere\" does not exist", "status", "-d",
        ask(f.at_source, "select format('%s dbname=nowhere', '%s')", "%s", f.source));
  FAILS(2, "invalid connection option \"hots\"", "status", "-d", "hots=x");
  end();
}

/* ---- exit statuses --------------------------------------------------------------------------------------------- */

/* A right use of each command, in an order in which all succeed. */
static const char *const RIGHT_USES[][9] = {{"init"},
                                            {"help"},
                                            {"target add", "w", "stdout:"},
                                            {"target set", "w", "--option", "retries=1"},
                                            {"target list"},
                                            {"target show", "w"},
                                            {"target pause", "w"},
                                            {"target resume", "w"},
                                            {"target test", "w"},
                                            {"capture", "item"},
                                            {"route", "item", "w"},
                                            {"backfill", "item", "--to", "w"},
                                            {"export"},
                                            {"apply", "/dev/null"},
                                            {"replay", "w", "--since", "2000-01-01"},
                                            {"resume", "--here"},
                                            {"run", "--until-empty", "--wait", "1"},
                                            {"status"},
                                            {"errors"},
                                            {"retry", "--all"},
                                            {"skip", "--all"},
                                            {"log", "item"},
                                            {"redact", "item", "1", "name"},
                                            {"seal"},
                                            {"keep"},
                                            {"prune"},
                                            {"archive", "/tmp", "--older-than", "90 days"},
                                            {"document list"},
                                            {"release", "item"},
                                            {"target drop", "w"},
                                            {"uninstall", "--force"}};

/* Of those that fail here even so, or wait. */
static const char *const OTHER_USES[][9] = {
    {"document add", "d", "--target", "w", "--key", "id", "--query=/dev/null", "--from", "item:id"},
    {"document suggest", "/dev/null"},
    {"document show", "d"},
    {"document drop", "d"},
    {"document rebuild", "d"},
    {"health", "127.0.0.1:1"},
    {"doctor"},
    {"undo", "item", "1", "1"},
    {"verify", "w"},
    {"verify-log"}};

/* With `more` behind it; NULL: nothing. */
static int status_of(const char *const use[9], const char *more[2]) {
  char first[32];
  snprintf(first, sizeof first, "%s", use[0]);
  const char *words[13] = {first};
  size_t count = 1;
  char *second = strchr(first, ' ');
  if (second != NULL) {
    *second++ = '\0';
    words[count++] = second;
  }
  for (int i = 1; i < 9 && use[i] != NULL; i++)
    words[count++] = use[i];
  for (int i = 0; i < 2 && more[i] != NULL; i++)
    words[count++] = more[i];
  return rowrelay(&f, NULL, NULL, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7],
                  words[8], words[9], words[10], words[11], words[12], NULL);
}

static bool is_used(const char *const uses[][9], size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(uses[i][0], name) == 0)
      return true;
  return false;
}

Test(commands, each_has_one_meaning_for_an_exit_status) {
  enum { RIGHT = sizeof RIGHT_USES / sizeof RIGHT_USES[0], OTHER = sizeof OTHER_USES / sizeof OTHER_USES[0] };
  begin("commands_statuses");
  sql(f.at_source, "insert into item values (1, 'x')");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    cr_assert(is_used(RIGHT_USES, RIGHT, COMMANDS[i]->name) || is_used(OTHER_USES, OTHER, COMMANDS[i]->name),
              "%s has no right use here", COMMANDS[i]->name);
  for (size_t i = 0; i < RIGHT + OTHER; i++) {
    const char *const *use = i < RIGHT ? RIGHT_USES[i] : OTHER_USES[i - RIGHT];
    int wrong = status_of(use, (const char *[]){"--no-such-option", NULL});
    cr_expect_eq(wrong, 2, "%s: %d instead of 2 after a wrong option", use[0], wrong);
    int failed = status_of(use, (const char *[]){"--dbname=host=/nowhere", NULL});
    cr_expect_eq(failed, strcmp(use[0], "help") == 0 ? 0 : 1, "%s: %d without a server", use[0], failed);
  }
  for (size_t i = 0; i < RIGHT; i++) {
    int status = status_of(RIGHT_USES[i], (const char *[]){NULL, NULL});
    cr_expect_eq(status, 0, "%s: %d instead of 0", RIGHT_USES[i][0], status);
  }
  end();
}

/* It is the right command, and another may give it. */
Test(commands, each_fails_without_a_right) {
  enum { RIGHT = sizeof RIGHT_USES / sizeof RIGHT_USES[0], OTHER = sizeof OTHER_USES / sizeof OTHER_USES[0] };
  begin("commands_rightless");
  sql(f.at_source, "drop role if exists commands_guest; create role commands_guest login");
  char as_guest[600];
  snprintf(as_guest, sizeof as_guest, "--dbname=%s user=commands_guest", f.source);
  for (size_t i = 0; i < RIGHT + OTHER; i++) {
    const char *const *use = i < RIGHT ? RIGHT_USES[i] : OTHER_USES[i - RIGHT];
    int status = status_of(use, (const char *[]){as_guest, NULL});
    cr_expect_eq(status, strcmp(use[0], "help") == 0 ? 0 : 1, "%s: %d without a right", use[0], status);
  }
  sql(f.at_source, "drop role commands_guest");
  end();
}

/* The same whoever finds it: the process that delivers is not restarted after status 2 (deploy/systemd). */
Test(commands, each_that_misses_a_variable_of_its_environment_is_wrong_use) {
  begin("commands_variable");
  rowrelay_ok(&f, "target", "add", "v", "postgresql://u:${ROWRELAY_TEST_NOTHING}@127.0.0.1:1/x", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "v", NULL);
  FAILS(2, "environment variable ROWRELAY_TEST_NOTHING", "target", "test", "v");
  FAILS(2, "environment variable ROWRELAY_TEST_NOTHING", "verify", "v");
  FAILS(2, "environment variable ROWRELAY_TEST_NOTHING", "run", "--until-empty");
  FAILS(2, "environment variable ROWRELAY_TEST_NOTHING", "run", "--wait", "60");
  end();
}

/* What goes before `more` is as many arguments as `count` says; fails unless that is wrong use, and said to be so. */
static void is_wrong(const struct command *command, size_t count, const char *more, const char *says) {
  char first[32];
  snprintf(first, sizeof first, "%s", command->name);
  const char *words[8] = {first};
  size_t used = 1;
  char *second = strchr(first, ' ');
  if (second != NULL) {
    *second++ = '\0';
    words[used++] = second;
  }
  cr_assert_lt(used + count + 1, 8);
  for (size_t i = 0; i < count; i++)
    words[used++] = "1";
  words[used] = more;
  const char *out;
  const char *errors;
  int status =
      rowrelay(&f, &out, &errors, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], NULL);
  cr_expect_eq(status, 2, "%s with %zu arguments and %s: %d", command->name, count, more, status);
  cr_expect(out[0] == '\0' && strstr(errors, says) != NULL && strstr(errors, "\nhint: ") != NULL, "%s: %s%s",
            command->name, out, errors);
}

/* Found in the program's own tables, so it is true of a command or option that is new. */
Test(commands, each_refuses_words_that_do_not_fit_and_says_which) {
  begin("commands_each");
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    const struct command *command = COMMANDS[i];
    if (command->least > 0)
      is_wrong(command, command->least - 1, NULL, "missing argument: ");
    if (command->most != ANY_NUMBER)
      is_wrong(command, command->most + 1, NULL, "unexpected argument \"1\"");
    is_wrong(command, command->least, "-?", "unknown option");
    for (const struct option *option = command->options; option->name != NULL; option++)
      if (option->required) {
        is_wrong(command, command->least, NULL, " is missing\nhint: add --");
        break;
      }
    for (const struct option *option = command->options; option->name != NULL; option++) {
      char word[64];
      bool needs_value = option->value != NULL && option->implied == NULL;
      snprintf(word, sizeof word, "--%s%s", option->name, option->value == NULL ? "=1" : "");
      if (needs_value || option->value == NULL)
        is_wrong(command, command->least, word, needs_value ? "needs a value" : "takes no value");
    }
  }
  end();
}

Test(commands, a_schema_that_does_not_fit_is_said_to_be_so) {
  begin("commands_schema");
  sql(f.at_source, "insert into rowrelay.migration (version) values (999)");
  static const char *const commands[][4] = {{"status", NULL, NULL, NULL},   {"run", "--until-empty", NULL, NULL},
                                            {"target", "list", NULL, NULL}, {"capture", "item", NULL, NULL},
                                            {"init", NULL, NULL, NULL},     {"uninstall", "--force", NULL, NULL}};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    FAILS(2, "has version 999, but this program needs", commands[i][0], commands[i][1], commands[i][2], commands[i][3]);
    FAILS(2, "hint: upgrade rowrelay on this machine", commands[i][0], commands[i][1], commands[i][2], commands[i][3]);
  }
  sql(f.at_source, "drop schema rowrelay cascade");
  for (size_t i = 0; i < 4; i++) {
    FAILS(2, "schema rowrelay is not installed in database", commands[i][0], commands[i][1], commands[i][2],
          commands[i][3]);
    FAILS(2, "hint: run: rowrelay init", commands[i][0], commands[i][1], commands[i][2], commands[i][3]);
  }
  end();
}

Test(commands, each_has_its_help) {
  begin("commands_help");
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    char first[32];
    snprintf(first, sizeof first, "%s", COMMANDS[i]->name);
    char *second = strchr(first, ' ');
    if (second != NULL)
      *second++ = '\0';
    const char *out;
    const char *errors;
    int status =
        rowrelay(&f, &out, &errors, first, second != NULL ? second : "--help", second != NULL ? "--help" : NULL, NULL);
    cr_assert_eq(status, 0, "%s: %s", COMMANDS[i]->name, errors);
    cr_assert_not_null(strstr(out, COMMANDS[i]->summary));
    char usage[64];
    snprintf(usage, sizeof usage, "usage: rowrelay %s", COMMANDS[i]->name);
    cr_assert_eq(strncmp(out, usage, strlen(usage)), 0, "%s", out);
  }
  const char *add = rowrelay_ok(&f, "document", "add", "--help", NULL);
  cr_expect_not_null(strstr(add, "--target TARGET            the target it is delivered to (required)\n"), "%s", add);
  static const char *const groups[][2] = {{"target", "--help"}, {"target", "-h"}, {"help", "target"}};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    const char *out = rowrelay_ok(&f, groups[i][0], groups[i][1], NULL);
    cr_expect(strstr(out, "target pause") != NULL && strstr(out, "document") == NULL, "%s", out);
  }
  end();
}

/* ---- for people and for programs ------------------------------------------------------------------------------- */

/* Asks PostgreSQL about what a command printed: `question` is an SQL expression about json j. */
static const char *about(const char *question, const char *json) {
  static char text[64 * 1024];
  char *literal = PQescapeLiteral(f.at_source, json, strlen(json));
  snprintf(text, sizeof text, "select %s from (select %s::json) as x(j)", question, literal);
  PQfreemem(literal);
  return ask(f.at_source, "%s", text);
}

/* The lines of `log --json` as one array. */
static const char *array_of(const char *lines) {
  static char array[64 * 1024];
  size_t length = (size_t)snprintf(array, sizeof array, "[");
  for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1)
    length += (size_t)snprintf(array + length, sizeof array - length, "%s%.*s", line == lines ? "" : ",",
                               (int)strcspn(line, "\n"), line);
  snprintf(array + length, sizeof array - length, "]");
  return array;
}

static const char *const KEYS_AND_TYPES =
    "(select string_agg(k.key || ' ' || json_typeof(k.value), ', ' order by k.key) from json_each(j -> 0) as k)";

Test(commands, json_has_the_members_and_types_that_programs_rely_on) {
  begin("commands_json");
  static const char *const empty[][5] = {
      {"status", "--json"}, {"status", "--tables", "--json"}, {"errors", "--json"}, {"target", "list", "--json"}};
  for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
    SAYS("[]\n", empty[i][0], empty[i][1], empty[i][2], empty[i][3]);

  SAYS("target w: added\n", "target", "add", "w", f.target_url, "--option", "retries=0");
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w", "--before");
  sql(f.at_target, "alter table item add check (id > 0)");
  sql(f.at_source,
      "insert into item values (1, 'a \"quoted\" ü'), (-1, null); update item set name = 'b' where id = 1");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "insert into item values (2)");

  cr_assert_str_eq(about(KEYS_AND_TYPES, rowrelay_ok(&f, "status", "--json", NULL)),
                   "backlog number, blocked number, errors number, note string, oldest_pending string, "
                   "oldest_pending_seconds number, rate number, state string, target string");
  cr_assert_str_eq(
      about("(select string_agg(k.key || ' ' || json_typeof(k.value), ', ' order by k.key) from json_each(j) "
            "as k)",
            rowrelay_ok(&f, "status", "--log", "--json", NULL)),
      "bytes number, days number, first_day string, keep null");
  FAILS(2, "options --log and --tables cannot be combined", "status", "--log", "--tables");
  cr_assert_str_eq(
      about(KEYS_AND_TYPES, rowrelay_ok(&f, "errors", "--json", NULL)),
      "attempts number, change_id number, detail string, key string, kind string, message string, new_row object, "
      "old_row null, op string, refused_at string, relation string, relation_name string, sqlstate string, state "
      "string, target "
      "string");
  cr_assert_str_eq(about("j -> 0 -> 'new_row' ->> 'id'", rowrelay_ok(&f, "errors", "--json", NULL)), "-1");
  cr_assert_str_eq(about("json_array_length(j)", rowrelay_ok(&f, "errors", "--json", "--target", "w", NULL)), "1");
  cr_assert_str_eq(
      about("(select string_agg(k || ' ' || json_typeof(j -> 0 -> k), ', ') from unnest('{change_id,relation,op,key,"
            "old_row,new_row,changed,captured_at,txid,actor,db_user,application_name,status,problem}'::text[]) as k)",
            array_of(rowrelay_ok(&f, "log", "item", "1", "--json", NULL))),
      "change_id number, relation string, op string, key string, old_row object, new_row object, changed object, "
      "captured_at string, txid string, actor string, db_user string, application_name string, status object, "
      "problem null");
  cr_assert_str_eq(
      about("concat_ws(' ', json_array_length(j), j -> 0 -> 'status' ->> 'w', j -> 0 -> 'old_row' ->> 'name')",
            array_of(rowrelay_ok(&f, "log", "item", "1", "--json", NULL))),
      "2 complete a \"quoted\" ü");
  cr_assert_str_eq(about(KEYS_AND_TYPES, rowrelay_ok(&f, "target", "list", "--json", NULL)),
                   "created_at string, lanes number, name string, options object, reason null, resumed_at null, "
                   "resumed_by null, state string, url string");
  cr_assert_str_eq(about(KEYS_AND_TYPES, rowrelay_ok(&f, "target", "show", "w", "--json", NULL)),
                   "created_at string, lanes number, name string, options object, reason null, resumed_at null, "
                   "resumed_by null, state string, tables "
                   "array, url string");
  cr_assert_str_eq(about("j -> 0 -> 'key' ->> 0 || ' ' || (j -> 0 -> 'targets' ->> 0) || ' ' || (j -> 0 ->> 'before')",
                         rowrelay_ok(&f, "status", "--tables", "--json", NULL)),
                   "id w full");
  end();
}

Test(commands, errors_says_how_many_it_does_not_list) {
  const char *out;
  const char *errors;
  begin("commands_errors");
  SAYS("target w: added\n", "target", "add", "w", f.target_url, "--option", "retries=0");
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  sql(f.at_target, "alter table item add check (id > 0)");
  sql(f.at_source, "insert into item values (-1), (-2), (-3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_eq(rowrelay(&f, &out, &errors, "errors", "--limit", "3", NULL), 0);
  cr_expect_str_eq(errors, "");
  cr_expect_eq(rowrelay(&f, &out, &errors, "errors", "--limit", "2", "--table", "item", NULL), 0);
  cr_expect_str_eq(errors, "rowrelay: 1 more change is refused or waits, which --limit can show\n");
  cr_expect_eq(rowrelay(&f, &out, &errors, "errors", "--limit", "1", "--target", "w", "--json", NULL), 0);
  cr_expect_str_eq(errors, "rowrelay: 2 more changes are refused or wait, which --limit can show\n");
  end();
}

Test(commands, log_shows_what_happened_to_a_table_or_a_row) {
  begin("commands_log");
  sql(f.at_source, "create table line (a int, b text, primary key (a, b))");
  SAYS("item: captured\nline: captured\n", "capture", "item", "line");
  sql(f.at_source, "set rowrelay.actor = 'anna'; insert into item values (1, 'a'), (2, 'b'); update item set name = "
                   "'c' where id = 1;"
                   "reset rowrelay.actor; delete from item where id = 2; insert into line values (1, 'x y'), (2, 'z')");
  const char *said = rowrelay_ok(&f, "log", "item", NULL);
  const char *expected[] = {"delete item 2", "postgres", "update item 1", "anna", "name: \"c\"", "insert item 2"};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    said = strstr(said, expected[i]);
    cr_assert_not_null(said, "%s in %s", expected[i], rowrelay_ok(&f, "log", "item", NULL));
  }
  const char *count = "json_array_length(j)";
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "item", "--json", NULL))), "4");
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "public.item", "2", "--json", NULL))), "2");
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "item", "--limit", "3", "--json", NULL))), "3");
  cr_assert_str_eq(about("j -> 0 ->> 'op'", array_of(rowrelay_ok(&f, "log", "item", "--limit", "2", "--json", NULL))),
                   "delete");
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "item", "--since", "tomorrow", "--json", NULL))), "0");
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "item", "--since", "yesterday", "--json", NULL))), "4");
  cr_assert_str_eq(about(count, array_of(rowrelay_ok(&f, "log", "line", "[1, \"x y\"]", "--json", NULL))), "1");
  cr_assert_str_eq(about("j -> 1 ->> 'actor'", array_of(rowrelay_ok(&f, "log", "item", "--json", NULL))), "anna");
  end();
}

Test(commands, who_asks_for_something_that_is_not_there_is_told_so) {
  static const struct {
    const char *words[6];
    int status;
    const char *said;
  } cases[] = {
      {{"log", "item", "7"},
       0,
       "the log has no change of row 7 of item that you may see\nhint: To see how its keys are"},
      {{"log", "item", "1", "--op", "delete"}, 0, "the log has no such change of row 1 of item that you may see\n"},
      {{"log", "--actor", "nobody", "--json"}, 0, "the log has no such change that you may see\n"},
      {{"log", "item", "1"}, 0, ""},
      {{"log", "item", "7", "--as-of", "now"}, 0, "table item had no row 7 at 2"},
      {{"log", "line", "--as-of", "now"}, 0, "table line had no rows at 2"},
      {{"log", "item", "--as-of", "2001-01-01"}, 2, "the log of table public.item begins at 2"},
      {{"log", "item", "x", "--as-of", "now"}, 2, "\"x\""},
      {{"log", "item", "7", "--limit", "0"}, 0, ""},
      {{"redact", "item", "7", "name"}, 1, "the log has no change of key \"7\" of table public.item\nhint: "},
      {{"undo", "item", "7", "1"}, 1, "row 7 of table item has no change 1\nhint: "},
      {{"undo", "--txid", "99"}, 1, "the log has no change of transaction 99\nhint: "},
      {{"backfill", "--document", "d"}, 2, "document \"d\" does not exist\nhint: "},
      {{"replay", "w", "nothing", "--since", "yesterday"}, 2, "no captured table matches \"nothing\"\nhint: "},
      {{"route", "item", "w", "--into", "a.b.c"}, 2, "into_table \"a.b.c\" is not the name of a table\nhint: "},
      {{"route", "item", "w", "--into", "a\"b"}, 2, "into_table \"a\"b\" is not the name of a table\nhint: "},
      {{"health", "127.0.0.1:99999"}, 2, "\"127.0.0.1:99999\" is not an address\nhint: "},
      {{"retry", "7"}, 1, "change 7 is not refused\nhint: It may have been"},
      {{"skip", "7", "8", "--target", "w"}, 1, "none of these changes is refused by target w\n"},
      {{"retry", "--all"}, 0, ""},
  };
  begin("commands_nothing");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create table line (id int primary key)");
  rowrelay_ok(&f, "capture", "item", "line", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const *w = cases[i].words;
    const char *errors;
    int status = rowrelay(&f, NULL, &errors, w[0], w[1], w[2], w[3], w[4], NULL);
    cr_expect_eq(status, cases[i].status, "%s %s: %d", w[0], w[1], status);
    cr_expect(cases[i].said[0] == '\0' ? errors[0] == '\0' : strstr(errors, cases[i].said) != NULL, "%s %s: %s", w[0],
              w[1], errors);
  }
  end();
}

Test(commands, output_that_cannot_be_written_is_a_failure) {
  begin("commands_full");
  char command[700];
  snprintf(command, sizeof command, "\"$ROWRELAY_BIN\" -d '%s' status >/dev/full 2>/dev/null", f.source);
  cr_assert_eq(system(command), 1 << 8);
  end();
}

/* Each of them waits here for a lock that it does not get. */
Test(commands, that_are_interrupted_leave_nothing_running_at_the_server) {
  begin("commands_interrupted");
  static const char *const CASES[][4] = {{"status"},      {"undo", "--txid", "1"},
                                         {"init"},        {"target", "pause", "w"},
                                         {"log", "item"}, {"backfill", "item", "--to", "w"}};
  const char *question = "select count(*) from pg_stat_activity where datname = current_database() "
                         "and application_name = 'rowrelay' and wait_event_type = 'Lock'";
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; lock table rowrelay.target, rowrelay.tick, rowrelay.migration, rowrelay.capture in access "
              "exclusive mode");
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    const char *const *words = CASES[i];
    pid_t process = words[1] == NULL   ? fixture_start(&f, words[0], NULL)
                    : words[2] == NULL ? fixture_start(&f, words[0], words[1], NULL)
                    : words[3] == NULL ? fixture_start(&f, words[0], words[1], words[2], NULL)
                                       : fixture_start(&f, words[0], words[1], words[2], words[3], NULL);
    wait_until(f.at_source, "1", 10, "%s", question);
    cr_assert_eq(stop_process(process, i % 2 == 0 ? SIGINT : SIGTERM), 1, "%s", words[0]);
    wait_until(f.at_source, "0", 2, "%s", question);
  }
  PQfinish(holder);
  end();
}
