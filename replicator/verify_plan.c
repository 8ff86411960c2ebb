#include "verify_plan.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "queries.h"
#include "reply.h"

/* Columns of verify_target.sql */
enum { COLUMN_KEY_MISSING, COLUMN_MISSING, COLUMN_IN_RANGES, COLUMN_NAMES, COLUMN_SOURCE_PLAN, COLUMN_TARGET_PLAN };

static bool ask_one(struct pair *pair, enum side side, const struct query *query, struct values values,
                    PGresult **reply, struct error *error) {
  struct question question = {.side = side, .text = query->text, .values = values};
  bool ok = pair_ask(pair, &question, 1, error);
  *reply = question.reply;
  return ok;
}

/* Finds the table in the target as the mirror does, by the search_path of the target's user. */
static bool resolve(struct pair *pair, const char *into_table, PGresult **name, struct error *error) {
  struct pgconn *connection = pair->connections[SIDE_TARGET];
  return pgconn_script(connection, "set search_path to default", error) &&
         ask_one(pair, SIDE_TARGET, &QUERY_verify_resolve, VALUES(into_table), name, error) &&
         pgconn_script(connection, "set search_path to pg_catalog, pg_temp", error);
}

static bool check(const struct plan *plan, const char *into_table, const PGresult *compared, struct error *error) {
  if (reply_text(compared, 0, COLUMN_KEY_MISSING) != NULL)
    return error_set(error, FAILURE_FATAL, "table %s in the target has no column %s, which is in the key of %s",
                     into_table, PQgetvalue(compared, 0, COLUMN_KEY_MISSING), plan->relation);
  if (reply_text(compared, 0, COLUMN_NAMES) == NULL)
    return error_set(error, FAILURE_FATAL, "table %s in the target has no column of %s", into_table, plan->relation);
  return true;
}

static bool read_plan(struct plan *plan, struct pair *pair, const PGresult *compared, const char *token, bool md5_only,
                      struct error *error) {
  const char *md5 = md5_only ? "true" : "false";
  const char *missing = reply_text(compared, 0, COLUMN_MISSING);
  plan->in_ranges = reply_bool(compared, 0, COLUMN_IN_RANGES);
  plan->missing = missing != NULL ? strdup(missing) : NULL;
  struct question questions[] = {
      {.side = SIDE_SOURCE,
       .text = QUERY_verify_statements.text,
       .values = VALUES(PQgetvalue(compared, 0, COLUMN_SOURCE_PLAN), token, md5)},
      {.side = SIDE_TARGET,
       .text = QUERY_verify_statements.text,
       .values = VALUES(PQgetvalue(compared, 0, COLUMN_TARGET_PLAN), token, md5)},
      {.side = SIDE_SOURCE, .text = QUERY_verify_columns.text, .values = VALUES(PQgetvalue(compared, 0, COLUMN_NAMES))},
  };
  if (!pair_ask(pair, questions, 3, error))
    return false;
  plan->statements[SIDE_SOURCE] = questions[0].reply;
  plan->statements[SIDE_TARGET] = questions[1].reply;
  plan->columns = questions[2].reply;
  return true;
}

bool plan_make(struct plan *plan, struct pair *pair, int target, const char *oid, const char *relation,
               const char *token, bool md5_only, struct error *error) {
  PGresult *source = NULL;
  PGresult *name = NULL;
  PGresult *compared = NULL;
  bool ok = false;
  *plan = (struct plan){.oid = oid, .relation = relation};
  if (!ask_one(pair, SIDE_SOURCE, &QUERY_verify_source, VALUES(oid, number(target).text), &source, error))
    goto done;
  if (PQntuples(source) == 0) {
    error_set(error, FAILURE_RETRY, "table %s is no longer captured", relation);
    goto done;
  }
  const char *into_table = PQgetvalue(source, 0, 1);
  plan->keyless = reply_bool(source, 0, 2);
  plan->capture = reply_int(source, 0, 3);
  if (!resolve(pair, into_table, &name, error))
    goto done;
  if (PQntuples(name) == 0) {
    error_set(error, FAILURE_FATAL, "table %s, where %s goes, does not exist in the target", into_table, relation);
    goto done;
  }
  ok = ask_one(pair, SIDE_TARGET, &QUERY_verify_target, VALUES(PQgetvalue(source, 0, 0), PQgetvalue(name, 0, 0)),
               &compared, error) &&
       check(plan, into_table, compared, error) && read_plan(plan, pair, compared, token, md5_only, error);

done:
  PQclear(source);
  PQclear(name);
  PQclear(compared);
  return ok;
}

void plan_release(struct plan *plan) {
  free(plan->missing);
  PQclear(plan->columns);
  PQclear(plan->statements[SIDE_SOURCE]);
  PQclear(plan->statements[SIDE_TARGET]);
  *plan = (struct plan){.oid = NULL};
}

const char *plan_statement(const struct plan *plan, enum side side, enum ask ask) {
  return PQgetvalue(plan->statements[side], 0, (int)ask);
}
