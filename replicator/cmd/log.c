/*
 * rowrelay log: shows changes like `git log`, the newest first and in a pager, or as they happen, like `tail -f`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "common/interrupt.h"
#include "common/shell.h"
#include "history/as_of.h"
#include "history/log_reader.h"
#include "history/printer.h"
#include "history/tail.h"
#include "queries.h"
#include "source/operation.h"

/* Pages grow from one screen to this. */
#define LARGEST_PAGE 1000
#define FIRST_PAGE 20
/* How many earlier changes --follow shows first. */
#define TAIL_LENGTH 10

/* ---- what is wanted -------------------------------------------------------------------------------------------- */

/* A filter, and the texts that it points to. */
struct wanted {
  struct log_filter filter;
  struct buffer relations;
  struct buffer actors;
  struct buffer ops;
  struct moment since;
  struct moment until;
  struct moment as_of; /* set: show the table, not its changes */
  int tables;          /* how many are named; 0: all */
  int64_t limit;       /* -1: all */
};

static void wanted_init(struct wanted *wanted) {
  *wanted = (struct wanted){.limit = -1};
  buffer_init(&wanted->relations, LIST_LIMIT);
  buffer_init(&wanted->actors, LIST_LIMIT);
  buffer_init(&wanted->ops, LIST_LIMIT);
}

static void wanted_release(struct wanted *wanted) {
  buffer_release(&wanted->relations);
  buffer_release(&wanted->actors);
  buffer_release(&wanted->ops);
  PQclear(wanted->since.reply);
  PQclear(wanted->until.reply);
  PQclear(wanted->as_of.reply);
}

/* All values of an option as an array; *list is NULL when there is none. */
static bool collect(const struct options *given, const char *name, struct buffer *array, const char **list,
                    struct error *error) {
  size_t count = option_count(given, name);
  const char **texts = calloc(count + 1, sizeof *texts);
  if (texts == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < count; i++)
    texts[i] = option_at(given, name, i);
  if (count > 0)
    array_add_texts(array, count, texts);
  *list = array->data;
  free(texts);
  return buffer_ok(array, name, error);
}

static bool check_ops(const struct options *given, struct error *error) {
  for (size_t i = 0; i < option_count(given, "op"); i++)
    if (!operation_check(option_at(given, "op", i), error))
      return false;
  return true;
}

/* Writes the named tables as an array of oids. */
static bool find_tables(struct source *source, const struct options *given, struct wanted *wanted,
                        struct error *error) {
  const char *first = given->argument_count > 0 ? given->arguments[0] : NULL;
  size_t count = option_count(given, "table") + (first != NULL);
  if (count == 0)
    return true;
  const char **patterns = calloc(count, sizeof *patterns);
  if (patterns == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < option_count(given, "table"); i++)
    patterns[i] = option_at(given, "table", i);
  if (first != NULL)
    patterns[count - 1] = first;
  PGresult *tables = NULL;
  bool ok = pattern_match(source, &PATTERN_OF_LOGGED, (struct patterns){count, patterns}, &tables, error);
  free(patterns);
  if (ok)
    pattern_add_oids(&wanted->relations, tables);
  wanted->filter.relations = wanted->relations.data;
  ok = ok && buffer_ok(&wanted->relations, "the list of tables", error);
  wanted->tables = ok ? PQntuples(tables) : 0;
  if (ok && given->argument_count > 1 && PQntuples(tables) != 1)
    ok = error_set(error, FAILURE_USAGE, "a key needs one table, but \"%s\" matches %d", first, PQntuples(tables));
  PQclear(tables);
  return ok;
}

static bool check_past(const struct options *given, const struct wanted *wanted, struct error *error) {
  static const char *const others[] = {"since", "until", "op", "actor", "txid", "follow"};
  if (wanted->as_of.text == NULL)
    return true;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (option_given(given, others[i]))
      return error_set(error, FAILURE_USAGE, "options --as-of and --%s cannot be combined", others[i]);
  if (wanted->tables == 1)
    return true;
  error_set(error, FAILURE_USAGE, "--as-of needs exactly one table");
  struct shell_word word;
  return error_hint(error, "run: rowrelay log TABLE --as-of %s", shell_quote(&word, option_text(given, "as-of")));
}

/* As in --since 2026-03-01 12:00, without quotes. */
static bool looks_like_time(const struct options *given) {
  bool timed = option_given(given, "since") || option_given(given, "until") || option_given(given, "as-of");
  return timed && given->argument_count > 0 && given->arguments[0][0] >= '0' && given->arguments[0][0] <= '9';
}

static bool read_wanted(struct source *source, const struct options *given, struct wanted *wanted,
                        struct error *error) {
  struct log_filter *filter = &wanted->filter;
  const char *txid = option_text(given, "txid");
  /* PostgreSQL before 16 reads any word as 0. */
  if (txid != NULL && !option_is_id(txid))
    return error_set(error, FAILURE_USAGE, "--txid must be a transaction id, not \"%s\"", txid);
  filter->key = given->argument_count > 1 ? given->arguments[1] : NULL;
  filter->txid = txid;
  /* Times first: what follows one that should have been quoted is taken for a table and a key. */
  if (!call_moment(source, given, "since", &wanted->since, error) ||
      !call_moment(source, given, "until", &wanted->until, error) ||
      !call_moment(source, given, "as-of", &wanted->as_of, error))
    return false;
  if (!find_tables(source, given, wanted, error)) {
    if (looks_like_time(given))
      error_hint(error, "a time of several words is written in quotes, such as '2026-03-01 12:00'");
    return false;
  }
  filter->since = wanted->since.text;
  filter->until = wanted->until.text;
  return check_past(given, wanted, error) && collect(given, "actor", &wanted->actors, &filter->actors, error) &&
         collect(given, "op", &wanted->ops, &filter->ops, error);
}

/* ---- how ------------------------------------------------------------------------------------------------------- */

static bool wants_colours(const struct options *given, bool terminal, bool *colours, struct error *error) {
  const char *when = option_text(given, "color");
  const char *none = getenv("NO_COLOR");
  const char *kind = getenv("TERM");
  *colours = terminal && (none == NULL || none[0] == '\0') && (kind == NULL || strcmp(kind, "dumb") != 0);
  if (strcmp(when, "auto") == 0)
    return true;
  *colours = strcmp(when, "always") == 0;
  if (*colours || strcmp(when, "never") == 0)
    return true;
  return error_set(error, FAILURE_USAGE, "--color must be auto, always or never, not \"%s\"", when);
}

static int terminal_width(void) {
  struct winsize window;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

static bool choose_style(const struct options *given, struct printer *printer, struct error *error) {
  bool terminal = isatty(STDOUT_FILENO) == 1;
  printer->form = option_given(given, "json")      ? FORM_JSON
                  : option_given(given, "oneline") ? FORM_LINES
                                                   : FORM_PARAGRAPHS;
  printer->style.width = terminal ? terminal_width() : 0;
  return wants_colours(given, terminal, &printer->style.colours, error);
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

static bool print_book(struct source *source, const struct wanted *wanted, struct printer *printer,
                       struct error *error) {
  struct log_reader book;
  struct change_list page;
  change_list_init(&page);
  int64_t left = wanted->limit < 0 ? INT64_MAX : wanted->limit;
  size_t size = FIRST_PAGE;
  bool ok = log_reader_open(&book, source, &wanted->filter, error);
  printer->life = wanted->filter.key != NULL ? &book.list : NULL;
  while (ok && left > 0 && !printer->pager->left) {
    change_list_clear(&page);
    ok = log_reader_read(&book, &page, left < (int64_t)size ? (size_t)left : size, error) &&
         printer_print(printer, source, &page, error);
    if (page.count == 0)
      break;
    left -= (int64_t)page.count;
    size = 2 * size < LARGEST_PAGE ? 2 * size : LARGEST_PAGE;
  }
  printer->life = NULL;
  log_reader_close(&book);
  change_list_release(&page);
  return ok;
}

/* Silence would look like a row that never changed: says what was asked for, and that there is nothing of it. */
static void tell_of_nothing(const struct options *given, const struct wanted *wanted, bool hidden) {
  static const char *const filters[] = {"since", "until", "op", "actor", "txid"};
  bool filtered = false;
  for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
    filtered = filtered || option_given(given, filters[i]);
  if (wanted->limit == 0)
    return;
  if (wanted->filter.key != NULL)
    fprintf(stderr, "rowrelay: the log has no %schange of row %s of %s that you may see\n", filtered ? "such " : "",
            wanted->filter.key, given->arguments[0]);
  else
    fprintf(stderr, "rowrelay: the log has no %schange%s%s that you may see\n", filtered ? "such " : "",
            given->argument_count > 0 ? " of " : "", given->argument_count > 0 ? given->arguments[0] : "");
  struct shell_word word;
  if (hidden)
    return; /* why, was said */
  if (wanted->filter.key != NULL && !filtered)
    fprintf(stderr, "hint: To see how its keys are written: rowrelay log %s --oneline -n 5\n",
            shell_quote(&word, given->arguments[0]));
  else if (!filtered)
    fprintf(stderr, "hint: To see what is captured: rowrelay status --tables\n");
}

/* What the log does not reach, or may not be read, is an error; so the log knows that there was nothing. */
static void tell_of_no_past(const struct options *given, const struct wanted *wanted) {
  struct shell_word table;
  struct shell_word key;
  if (wanted->limit == 0)
    return;
  if (wanted->filter.key == NULL) {
    fprintf(stderr, "rowrelay: table %s had no rows at %s\n", given->arguments[0], wanted->as_of.text);
    return;
  }
  fprintf(stderr, "rowrelay: table %s had no row %s at %s\n", given->arguments[0], wanted->filter.key,
          wanted->as_of.text);
  fprintf(stderr, "hint: To see when it was there: rowrelay log %s %s\n", shell_quote(&table, given->arguments[0]),
          shell_quote(&key, wanted->filter.key));
}

static bool print_log(struct source **source, const struct options *given, struct wanted *wanted, struct error *error) {
  struct pager pager;
  struct printer printer;
  printer_init(&printer, &pager);
  bool follow = option_given(given, "follow");
  if (!choose_style(given, &printer, error) || !read_wanted(*source, given, wanted, error) ||
      !pager_open(&pager, !follow && !option_given(given, "no-pager"), error))
    return false;
  struct as_of past = {.filter = &wanted->filter, .moment = wanted->as_of.text, .limit = wanted->limit};
  struct following following = {.filter = &wanted->filter, .last = wanted->limit < 0 ? TAIL_LENGTH : wanted->limit};
  bool hidden = false;
  if (follow && !call_tell_hidden(*source, wanted->filter.relations, &hidden, error)) {
    pager_close(&pager);
    return false;
  }
  bool ok = past.moment != NULL ? as_of_print(&past, *source, &printer, error)
            : follow            ? tail_run(source, given, &following, &printer, error)
                                : print_book(*source, wanted, &printer, error);
  pager_close(&pager);
  if (ok && past.moment != NULL && !printer.printed && !interrupted())
    tell_of_no_past(given, wanted);
  if (ok && !follow && past.moment == NULL && !interrupted()) {
    ok = call_tell_hidden(*source, wanted->filter.relations, &hidden, error);
    if (ok && !printer.printed)
      tell_of_nothing(given, wanted, hidden);
  }
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  struct wanted wanted;
  wanted_init(&wanted);
  if (!check_ops(given, error) ||
      (option_given(given, "limit") &&
       !option_integer(given, "limit", (struct bounds){0, INT32_MAX}, &wanted.limit, error)) ||
      !call_open(&source, given, error))
    return false;
  /* When interrupted, the output still ends with a whole line, and the pager is left in order. */
  interrupt_on_signals();
  bool ok = print_log(&source, given, &wanted, error);
  wanted_release(&wanted);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "limit", .letter = 'n', .value = "N", .help = "show at most the N newest"},
    {.name = "since", .value = "TIME", .help = "only changes since then: any PostgreSQL timestamp, or '2 hours ago'"},
    {.name = "until", .value = "TIME", .help = "only changes until then"},
    {.name = "table", .value = "TABLE", .repeatable = true, .help = "only changes of this table"},
    {.name = "op",
     .value = "OP",
     .repeatable = true,
     .choices = "insert|update|delete|truncate|snapshot",
     .help = "only insert, update, delete, truncate or snapshot"},
    {.name = "actor", .value = "NAME", .repeatable = true, .help = "only changes by this person or database user"},
    {.name = "txid", .value = "TXID", .help = "only changes of this transaction"},
    {.name = "as-of", .value = "TIME", .help = "show the table, or the row, as it was then"},
    {.name = "follow",
     .letter = 'f',
     .help = "show the last 10 changes (or -n N), then new ones as they commit, until Ctrl-C"},
    {.name = "oneline", .help = "print one line for each change"},
    {.name = "json", .help = "print JSON for programs: one object per line, with all fields"},
    {.name = "color",
     .value = "WHEN",
     .choices = "auto|always|never",
     .initial = "auto",
     .implied = "always",
     .help = "use colors: auto (on a terminal), always or never"},
    {.name = "no-pager", .help = "do not use a pager"},
    OPTION_END,
};

const struct command COMMAND_log = {
    .name = "log",
    .summary = "show captured changes, the newest first",
    .arguments = "[TABLE [KEY]]",
    .least = 0,
    .most = 2,
    .options = OPTIONS,
    .notes =
        "TABLE may be a pattern, as in psql: 'shop.*'; without it, all tables are shown. KEY is the row's key as this\n"
        "command shows it, such as 42 or '[1, \"x\"]'. On a terminal the output goes to a pager: $PAGER, or less.\n",
    .examples = "rowrelay log shop.orders 42\n"
                "rowrelay log --since yesterday --actor anna --op delete\n"
                "rowrelay log shop.orders --as-of '2026-03-01 12:00'\n",
    .run = run,
};
