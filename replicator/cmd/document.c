/* rowrelay document: rows or JSON that a query builds from several tables, kept up to date at a target. */
#include <stdio.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "common/buffer.h"
#include "common/file_text.h"
#include "common/shell.h"
#include "queries.h"
#include "setup/request.h"

/* Longest query. Bytes. */
#define QUERY_LIMIT ((size_t)1024 * 1024)

static void tell(bool is_warning, const char *message, const char *hint) {
  fprintf(stderr, "%s%s\n", is_warning ? "warning: " : "", message);
  if (hint != NULL)
    fprintf(stderr, "hint: %s\n", hint);
}

static bool store(const struct options *given, const struct buffer *query, const struct buffer *sources,
                  const struct buffer *search, struct error *error) {
  static struct notice_reader reader = {.tell = tell};
  const char *name = given->arguments[0];
  int64_t seconds;
  struct source *source;
  if (!option_integer(given, "lock-wait", (struct bounds){0, 86400}, &seconds, error) ||
      !call_open(&source, given, error))
    return false;
  pgconn_read_notices(source_connection(source), &reader);
  const struct document_wanted wanted = {.name = name,
                                         .target = option_text(given, "target"),
                                         .key = option_text(given, "key"),
                                         .query = query->data,
                                         .sources = sources->data,
                                         .into = option_text(given, "into"),
                                         .create = option_given(given, "create") ? "true" : "false",
                                         .search = search->length > 0 ? search->data : NULL,
                                         .lock_wait = option_text(given, "lock-wait")};
  struct request request;
  bool ok = request_document_add(&request, &wanted, error) && request_run(source, 1, &request, error);
  request_release(&request);
  source_close(source);
  struct shell_word word;
  if (ok)
    printf("document %s: added; to build the existing ones, run: rowrelay backfill --document %s\n", name,
           shell_quote(&word, name));
  return ok;
}

static bool add(const struct options *given, struct error *error) {
  const char *froms[256];
  size_t count = option_count(given, "from");
  if (count > sizeof froms / sizeof froms[0])
    return error_set(error, FAILURE_USAGE, "option --from may be given %zu times, not %zu",
                     sizeof froms / sizeof froms[0], count);
  for (size_t i = 0; i < count; i++)
    froms[i] = option_at(given, "from", i);
  struct buffer query;
  struct buffer sources;
  struct buffer search;
  buffer_init(&query, QUERY_LIMIT);
  buffer_init(&sources, LIST_LIMIT);
  buffer_init(&search, LIST_LIMIT);
  array_add_texts(&sources, count, froms);
  bool ok = buffer_ok(&sources, "the list of tables", error) &&
            (!option_given(given, "search") || array_add_names(&search, option_text(given, "search"), error)) &&
            file_text_read(&query, option_text(given, "query"), error) &&
            store(given, &query, &sources, &search, error);
  buffer_release(&query);
  buffer_release(&sources);
  buffer_release(&search);
  return ok;
}

static bool list(const struct options *given, struct error *error) {
  return call_print(given, &QUERY_cmd_document_list, &QUERY_cmd_document_list_json, NO_VALUES, error);
}

static bool show(const struct options *given, struct error *error) {
  struct values name = VALUES(given->arguments[0]);
  return call_execute(given, &QUERY_cmd_document_id, name, error) &&
         call_print(given, &QUERY_cmd_document_show, &QUERY_cmd_document_show_json, name, error);
}

static bool drop(const struct options *given, struct error *error) {
  bool ok = call_execute(given, &QUERY_cmd_document_drop, VALUES(given->arguments[0]), error);
  if (ok)
    printf("document %s: dropped\n", given->arguments[0]);
  return ok;
}

static bool rebuild(const struct options *given, struct error *error) {
  struct source *source = NULL;
  PGresult *result = NULL;
  struct buffer keys;
  buffer_init(&keys, LIST_LIMIT);
  if (given->argument_count > 1)
    array_add_texts(&keys, given->argument_count - 1, given->arguments + 1);
  bool ok = buffer_ok(&keys, "the list of keys", error) && call_open(&source, given, error) &&
            call_run(source, &QUERY_cmd_document_rebuild,
                     VALUES(given->arguments[0], given->argument_count > 1 ? keys.data : NULL), &result, error);
  if (ok)
    printf("document %s: %s queued\n", given->arguments[0], PQgetvalue(result, 0, 0));
  PQclear(result);
  source_close(source);
  buffer_release(&keys);
  return ok;
}

static const struct option ADD_OPTIONS[] = {
    {.name = "target", .letter = 't', .value = "TARGET", .required = true, .help = "the target it is delivered to"},
    {.name = "key",
     .letter = 'k',
     .value = "COLUMN",
     .required = true,
     .help = "column of the query's result that identifies a document"},
    {.name = "query",
     .letter = 'q',
     .value = "FILE",
     .required = true,
     .help = "the query; its $1 is the array of keys to build"},
    {.name = "from",
     .letter = 'f',
     .value = "TABLE:COLUMN|QUERY",
     .repeatable = true,
     .required = true,
     .help = "a source table, and how its rows lead to keys"},
    {.name = "into", .value = "NAME", .help = "table at the target (default: the document's name)"},
    {.name = "create", .help = "create that table"},
    {.name = "search", .value = "COLUMNS", .help = "add an indexed full-text column \"search\" over these columns"},
    {.name = "lock-wait",
     .value = "SECONDS",
     .initial = "60",
     .help = "try for this long to get the lock on a table not captured yet"},
    OPTION_END,
};

static const struct option PRINT_OPTIONS[] = {
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

static const struct option NO_OPTIONS[] = {OPTION_END};

const struct command COMMAND_document_add = {
    .name = "document add",
    .summary = "build rows or JSON from several tables, and keep them up to date",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = ADD_OPTIONS,
    .notes =
        "The query is plain SQL, such as\n"
        "  select o.id, o.status, c.name as customer from orders o join customers c on c.id = o.customer_id\n"
        "   where o.id = any ($1)\n"
        "and returns any columns, or one of type json. --from tells how a changed row leads to documents; the first\n"
        "one must name the column that holds all keys:\n"
        "  --from orders:id                 the column that holds the key\n"
        "  --from 'lines:order_id(item,qty)'  the same; updates of other columns are ignored\n"
        "  --from 'customers:select o.id from orders o join changed c on c.id = o.customer_id'\n"
        "                                   a query for the keys; \"changed\" is the set of changed rows\n"
        "Tables that are not captured yet are captured.\n",
    .examples =
        "rowrelay document add order_search --target dw --key id --query order.sql --create --search customer \\\n"
        "  --from shop.orders:id --from 'shop.lines:order_id(order_id, item)'\n",
    .run = add,
};

const struct command COMMAND_document_list = {
    .name = "document list",
    .summary = "list the documents",
    .arguments = "",
    .options = PRINT_OPTIONS,
    .examples = "rowrelay document list\n",
    .run = list,
};

const struct command COMMAND_document_show = {
    .name = "document show",
    .summary = "show a document with its query and tables",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = PRINT_OPTIONS,
    .examples = "rowrelay document show order_search\n",
    .run = show,
};

const struct command COMMAND_document_drop = {
    .name = "document drop",
    .summary = "stop maintaining a document; the target keeps what it has",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = NO_OPTIONS,
    .examples = "rowrelay document drop order_search\n",
    .run = drop,
};

const struct command COMMAND_document_rebuild = {
    .name = "document rebuild",
    .summary = "rebuild all of a document's rows, or those with the given keys",
    .arguments = "NAME [KEY...]",
    .least = 1,
    .most = ANY_NUMBER,
    .options = NO_OPTIONS,
    .examples = "rowrelay document rebuild order_search 42 43\n",
    .run = rebuild,
};
