#include "queue/taken.h"

#include <string.h>

#include "common/metrics.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

void taken_release(struct taken *taken) {
  if (taken->logged != taken->rows)
    PQclear(taken->logged);
  PQclear(taken->rows);
  *taken = (struct taken){.rows = NULL};
}

bool taken_is_complete(const struct taken *taken) {
  for (int row = 0; row < PQntuples(taken->rows); row++)
    if (PQgetisnull(taken->rows, row, TAKEN_ID))
      return false;
  return true;
}

/* Array literals about rows. */
struct lists {
  struct buffer ids;
  struct buffer lanes;
  struct buffer days;
  struct buffer distinct; /* each day once, but for rare ones */
};

static void lists_release(struct lists *lists) {
  buffer_release(&lists->ids);
  buffer_release(&lists->lanes);
  buffer_release(&lists->days);
  buffer_release(&lists->distinct);
}

/* To be released even if it fails. */
static bool lists_make(struct lists *lists, const PGresult *rows, struct error *error) {
  buffer_init(&lists->ids, ROWS_LIMIT);
  buffer_init(&lists->lanes, ROWS_LIMIT);
  buffer_init(&lists->days, ROWS_LIMIT);
  buffer_init(&lists->distinct, ROWS_LIMIT);
  for (int row = 0; row < PQntuples(rows); row++) {
    const char *day = PQgetvalue(rows, row, ROW_DAY);
    char separator = row == 0 ? '{' : ',';
    buffer_add_format(&lists->ids, "%c%s", separator, PQgetvalue(rows, row, ROW_CHANGE_ID));
    buffer_add_format(&lists->lanes, "%c%s", separator, PQgetvalue(rows, row, ROW_LANE));
    buffer_add_format(&lists->days, "%c%s", separator, day);
    /* In order of ids they are nearly in order of days. */
    if (row == 0 || strcmp(day, PQgetvalue(rows, row - 1, ROW_DAY)) != 0)
      buffer_add_format(&lists->distinct, "%c%s", separator, day);
  }
  buffer_add_string(&lists->ids, "}");
  buffer_add_string(&lists->lanes, "}");
  buffer_add_string(&lists->days, "}");
  buffer_add_string(&lists->distinct, "}");
  return buffer_ok(&lists->ids, "the list of changes", error) && buffer_ok(&lists->lanes, "the list of lanes", error) &&
         buffer_ok(&lists->days, "the list of days", error) && buffer_ok(&lists->distinct, "the list of days", error);
}

bool taken_read_log(struct taken *taken, const struct claim *claim, enum reading reading, struct error *error) {
  /* One plan for all days would have to look into every partition there is. */
  static const struct query PLAN_FOR_DAYS = {.name = NULL, .text = "set local plan_cache_mode to force_custom_plan"};
  const struct settings *settings = claim->settings;
  const char *aged = metrics_wants_delays() ? "true" : "false";
  const struct query changes = QUERY_ONCE(QUERY_claim_changes);
  const struct query documents = QUERY_ONCE(QUERY_claim_documents);
  const struct query txids = QUERY_ONCE(QUERY_claim_txids);
  struct pgconn *connection = source_connection(claim->source);
  PGresult *replies[3] = {NULL, NULL, NULL};
  struct lists lists;
  bool ok = lists_make(&lists, taken->rows, error);
  if (ok) {
    const char *ids = lists.ids.data;
    const char *days = lists.days.data;
    const char *distinct = lists.distinct.data;
    pgconn_pipeline_begin(connection);
    pgconn_pipeline_add(connection, &PLAN_FOR_DAYS, NO_VALUES);
    if (reading == READ_TXIDS)
      pgconn_pipeline_add(connection, &txids, VALUES(ids, days, distinct));
    else if (settings->document)
      pgconn_pipeline_add(connection, &documents,
                          VALUES(ids, days, distinct, lists.lanes.data, number(settings->target).text,
                                 number(settings->lanes.live).text, aged));
    else
      pgconn_pipeline_add(connection, &changes,
                          VALUES(ids, days, distinct, claim->with_details ? "true" : "false", aged));
    pgconn_pipeline_add(connection, &QUERY_claim_refusals, VALUES(number(settings->target).text));
    ok = pgconn_pipeline_run(connection, replies, 3, error);
    taken->has_refusals = ok && result_bool(replies[2], 0, 0);
  }
  PQclear(replies[0]);
  PQclear(replies[2]);
  if (taken->logged != taken->rows)
    PQclear(taken->logged);
  taken->logged = replies[1];
  lists_release(&lists);
  return ok;
}
