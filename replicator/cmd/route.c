/* rowrelay route: sends the changes of captured tables to a target. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cli/pattern.h"
#include "cmd/uncopied.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"
#include "setup/request.h"

static bool route_table(struct source *source, const struct options *given, const char *oid, const char *name,
                        struct error *error) {
  const char *target = given->arguments[1];
  PGresult *reply = NULL;
  if (option_given(given, "discard")) {
    if (!call_run(source, &QUERY_cmd_discard, VALUES(oid, target), &reply, error))
      return false;
    printf("%s: no longer routed to %s; %s queued change%s discarded\n", name, target, PQgetvalue(reply, 0, 0),
           text_plural(result_bigint(reply, 0, 0)));
  } else if (option_given(given, "remove")) {
    if (!call_run(source, &QUERY_cmd_unroute, VALUES(oid, target), NULL, error))
      return false;
    printf("%s: no longer routed to %s\n", name, target);
  } else {
    const struct route_wanted wanted = {.table = oid,
                                        .target = target,
                                        .into = option_text(given, "into"),
                                        .create = option_given(given, "create") ? "true" : NULL,
                                        .like = option_text(given, "like"),
                                        .shared = option_given(given, "shared") ? "true" : NULL};
    struct request request;
    bool ok = request_route(&request, &wanted, error) && request_run(source, 1, &request, error);
    request_release(&request);
    if (!ok)
      return false;
    printf("%s: routed to %s\n", name, target);
  }
  PQclear(reply);
  return true;
}

static bool route_tables(struct source *source, const struct options *given, struct error *error) {
  PGresult *tables = NULL;
  if (!call_run(source, &QUERY_target_id, VALUES(given->arguments[1]), NULL, error) ||
      !pattern_match(source, &PATTERN_OF_CAPTURED, (struct patterns){1, given->arguments}, &tables, error))
    return false;
  struct uncopied uncopied = {.found = NULL};
  const struct place place = {.target = given->arguments[1], .into = option_text(given, "into")};
  bool ok = option_given(given, "remove") || uncopied_find(&uncopied, source, tables, place, error);
  if (ok && option_given(given, "into") && PQntuples(tables) > 1)
    ok = error_set(error, FAILURE_USAGE, "--into takes one table, but \"%s\" matches %d", given->arguments[0],
                   PQntuples(tables));
  for (int row = 0; ok && row < PQntuples(tables); row++)
    ok = route_table(source, given, PQgetvalue(tables, row, PATTERN_OID), PQgetvalue(tables, row, PATTERN_NAME), error);
  if (ok)
    uncopied_tell(&uncopied, (struct patterns){1, given->arguments}, given->arguments[1]);
  uncopied_release(&uncopied);
  PQclear(tables);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  if (option_given(given, "remove") && (option_given(given, "into") || option_given(given, "create")))
    return error_set(error, FAILURE_USAGE, "option --remove cannot be combined with --into or --create");
  if (option_given(given, "discard") && !option_given(given, "remove"))
    return error_set(error, FAILURE_USAGE, "option --discard needs --remove");
  if (!request_check_like(option_text(given, "like"), option_given(given, "create"), error) ||
      !call_open(&source, given, error))
    return false;
  bool ok = route_tables(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "into", .value = "NAME", .help = "the table's name in the target (default: the same)"},
    {.name = "create", .help = "create the table in the target if it does not exist, and columns added later"},
    {.name = "like",
     .value = "minimal|full",
     .help = "with --create: a mirror gets columns, types and key, or also NOT NULL, defaults, CHECKs, comments, "
             "partitions"},
    {.name = "shared",
     .help = "allow a target table that other tables write to; their keys must not overlap, and truncates are refused "
             "there"},
    {.name = "remove", .help = "stop sending changes there; what is queued is still delivered"},
    {.name = "discard", .help = "with --remove: discard what is queued; the log keeps it"},
    OPTION_END,
};

const struct command COMMAND_route = {
    .name = "route",
    .summary = "send the changes of captured tables to a target",
    .arguments = "TABLE TARGET",
    .least = 2,
    .most = 2,
    .options = OPTIONS,
    .notes =
        "TABLE is a name or a pattern as in psql, and must be captured.\n"
        "Where tables share one, a truncate says nothing of whose rows it means: \"rowrelay errors\" lists it, and\n"
        "later changes of its table wait until those rows are deleted there by hand and it is skipped. \"rowrelay\n"
        "verify\" finds no extra rows there.\n",
    .examples = "rowrelay route shop.orders dw --into staging.orders --create\n"
                "rowrelay route shop.orders dw --remove --discard\n",
    .run = run,
};
