#include "verify/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "postgres/session.h"
#include "queries.h"

#define COARSE_LIMIT ((size_t)1024 * 1024)

#define ASK_SOURCE(named, ...)                                                                                         \
  ((struct question){.side = SIDE_SOURCE, .query = QUERY_ONCE(named), .values = VALUES(__VA_ARGS__)})
#define ASK_TARGET(named, ...)                                                                                         \
  ((struct question){.side = SIDE_TARGET, .query = QUERY_ONCE(named), .values = VALUES(__VA_ARGS__)})

/* Whether it failed or not, *reply is the caller's to PQclear. */
static bool ask_one(struct pair *pair, struct question question, PGresult **reply, struct error *error) {
  bool ok = pair_ask(pair, &question, 1, error);
  *reply = question.reply;
  return ok;
}

/* Finds the table in the target as the mirror does, by the search_path of the target's user. */
static bool resolve(struct pair *pair, const char *into_table, PGresult **name, struct error *error) {
  struct pgconn *connection = pair->connections[SIDE_TARGET];
  return pgconn_script(connection, "set search_path to default", error) &&
         ask_one(pair, ASK_TARGET(QUERY_verify_resolve, into_table), name, error) &&
         pooler_set(connection, SESSION_VERIFY, error);
}

static bool check(const struct plan *plan, const char *into_table, const PGresult *compared, struct error *error) {
  if (result_text(compared, 0, COMPARED_KEY_MISSING) != NULL)
    return error_set(error, FAILURE_FATAL, "table %s in the target has no column %s, part of the key of %s", into_table,
                     PQgetvalue(compared, 0, COMPARED_KEY_MISSING), plan->relation);
  if (result_text(compared, 0, COMPARED_NAMES) == NULL)
    return error_set(error, FAILURE_FATAL, "table %s in the target has no columns of %s", into_table, plan->relation);
  return true;
}

static bool read_plan(struct plan *plan, struct pair *pair, const PGresult *compared, const struct recipe *recipe,
                      struct error *error) {
  const char *token = recipe->token;
  const char *md5 = recipe->md5_only ? "true" : "false";
  const char *missing = result_text(compared, 0, COMPARED_MISSING);
  plan->in_ranges = result_bool(compared, 0, COMPARED_IN_RANGES);
  plan->missing = missing != NULL ? strdup(missing) : NULL;
  const struct query here = plan->oid != NULL ? QUERY_ONCE(QUERY_verify_statements) : QUERY_ONCE(QUERY_verify_built);
  const char *source_plan = PQgetvalue(compared, 0, COMPARED_SOURCE_PLAN);
  bool may_fail = result_bool(compared, 0, COMPARED_MAY_FAIL);
  struct question questions[] = {
      {.side = SIDE_SOURCE, .query = here, .values = VALUES(source_plan, token, md5, "false")},
      {.side = SIDE_TARGET,
       .query = QUERY_ONCE(QUERY_verify_statements),
       .values = VALUES(PQgetvalue(compared, 0, COMPARED_TARGET_PLAN), token, md5, "false")},
      {.side = SIDE_SOURCE,
       .query = QUERY_ONCE(QUERY_verify_columns),
       .values = VALUES(PQgetvalue(compared, 0, COMPARED_NAMES))},
      {.side = SIDE_SOURCE, .query = here, .values = VALUES(source_plan, token, md5, "true")},
  };
  if (!pair_ask(pair, questions, may_fail ? 4 : 3, error))
    return false;
  plan->statements[SIDE_SOURCE] = questions[0].reply;
  plan->statements[SIDE_TARGET] = questions[1].reply;
  plan->columns = questions[2].reply;
  plan->safe = may_fail ? questions[3].reply : NULL;
  return true;
}

static bool count_blocks(struct plan *plan, struct pair *pair, const char *here, const char *there,
                         struct error *error) {
  struct question questions[] = {
      {.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_blocks), .values = VALUES(here)},
      {.side = SIDE_TARGET, .query = QUERY_ONCE(QUERY_verify_blocks), .values = VALUES(there)},
  };
  if (!pair_ask(pair, questions, 2, error))
    return false;
  plan->blocks[SIDE_SOURCE] = result_bigint(questions[0].reply, 0, 0);
  plan->blocks[SIDE_TARGET] = result_bigint(questions[1].reply, 0, 0);
  pair_forget(questions, 2);
  return true;
}

/* Columns whose values are compared as the target has them, because it cannot have them otherwise. */
static bool find_coarse(struct plan *plan, struct pair *pair, const PGresult *source, const char *into_table,
                        struct error *error) {
  const char *types = result_text(source, 0, SOURCE_TYPES);
  PGresult *coarse = NULL;
  struct buffer text;
  if (types == NULL)
    return true;
  if (!ask_one(pair, ASK_TARGET(QUERY_coarse_columns, into_table, types, PQgetvalue(source, 0, SOURCE_KEY_NAMES)),
               &coarse, error))
    return false;
  buffer_init(&text, COARSE_LIMIT);
  for (int row = 0; row < PQntuples(coarse); row++) {
    buffer_add_string(&text, row > 0 ? "; " : "");
    buffer_add_string(&text, PQgetvalue(coarse, row, COARSE_PROBLEM));
  }
  bool ok = buffer_ok(&text, "the list of columns", error);
  plan->coarse = ok && PQntuples(coarse) > 0 ? strdup(text.data) : NULL;
  plan->may_be_altered = result_bool(source, 0, SOURCE_CREATES);
  buffer_release(&text);
  PQclear(coarse);
  return ok;
}

/* A mirror is made when the first row comes, by us or by somebody else: until then nothing is missing. */
static bool miss_table(struct plan *plan, struct pair *pair, const PGresult *source, struct error *error) {
  struct question question = {.side = SIDE_SOURCE, .query.text = PQgetvalue(source, 0, SOURCE_IS_EMPTY)};
  PGresult *reply = NULL;
  if (!ask_one(pair, question, &reply, error))
    return false;
  plan->nothing = result_bool(reply, 0, 0);
  PQclear(reply);
  return plan->nothing ||
         error_set(error, FAILURE_FATAL, "table %s, the destination of %s, does not exist in the target",
                   PQgetvalue(source, 0, SOURCE_INTO_TABLE), plan->relation);
}

static bool make(struct plan *plan, struct pair *pair, const PGresult *source, const struct recipe *recipe,
                 struct error *error) {
  const char *into_table = PQgetvalue(source, 0, SOURCE_INTO_TABLE);
  PGresult *name = NULL;
  PGresult *compared = NULL;
  bool ok = false;
  plan->keyless = result_bool(source, 0, SOURCE_KEYLESS);
  plan->capture = result_int(source, 0, SOURCE_CAPTURE);
  const char *shared_with = result_text(source, 0, SOURCE_SHARED_WITH);
  plan->shared_with = shared_with != NULL ? strdup(shared_with) : NULL;
  if (shared_with != NULL && plan->shared_with == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  if (!resolve(pair, into_table, &name, error))
    goto done;
  if (PQntuples(name) == 0) {
    ok = miss_table(plan, pair, source, error);
    goto done;
  }
  ok = ask_one(pair, ASK_TARGET(QUERY_verify_target, PQgetvalue(source, 0, SOURCE_DOCUMENT), PQgetvalue(name, 0, 0)),
               &compared, error) &&
       check(plan, into_table, compared, error) && find_coarse(plan, pair, source, PQgetvalue(name, 0, 0), error) &&
       read_plan(plan, pair, compared, recipe, error) &&
       (plan->in_ranges || count_blocks(plan, pair, plan->relation, PQgetvalue(name, 0, 0), error));

done:
  PQclear(name);
  PQclear(compared);
  return ok;
}

static bool make_of_table(struct plan *plan, struct pair *pair, const struct subject *subject,
                          const struct recipe *recipe, struct error *error) {
  PGresult *source = NULL;
  bool ok =
      pooler_set(pair->connections[SIDE_SOURCE], SESSION_VERIFY, error) &&
      ask_one(pair, ASK_SOURCE(QUERY_verify_source, plan->oid, number(subject->target).text), &source, error) &&
      (PQntuples(source) == 1 || error_set(error, FAILURE_RETRY, "table %s is no longer captured", plan->relation)) &&
      make(plan, pair, source, recipe, error);
  PQclear(source);
  return ok;
}

static bool make_of_document(struct plan *plan, struct pair *pair, const struct subject *subject,
                             const struct recipe *recipe, struct error *error) {
  PGresult *source = NULL;
  bool ok =
      pooler_set(pair->connections[SIDE_SOURCE], SESSION_VERIFY, error) &&
      ask_one(pair, ASK_SOURCE(QUERY_verify_document, number(subject->target).text), &source, error) &&
      (PQntuples(source) == 1 ||
       error_set(error, FAILURE_FATAL, "the table with the keys of document \"%s\" was dropped", plan->relation)) &&
      make(plan, pair, source, recipe, error);
  PQclear(source);
  return ok;
}

bool plan_make(struct plan *plan, struct pair *pair, const struct subject *subject, const struct recipe *recipe,
               struct error *error) {
  *plan = (struct plan){.oid = subject->oid, .relation = subject->relation};
  return (subject->oid != NULL ? make_of_table : make_of_document)(plan, pair, subject, recipe, error);
}

void plan_release(struct plan *plan) {
  free(plan->missing);
  free(plan->shared_with);
  free(plan->coarse);
  PQclear(plan->columns);
  PQclear(plan->statements[SIDE_SOURCE]);
  PQclear(plan->statements[SIDE_TARGET]);
  PQclear(plan->safe);
  *plan = (struct plan){.oid = NULL};
}

struct question plan_question(const struct plan *plan, enum side side, enum ask ask, struct values values) {
  return (struct question){
      .side = side,
      .query.text = PQgetvalue(plan->statements[side], 0, (int)ask),
      .safe = side == SIDE_SOURCE && plan->safe != NULL ? PQgetvalue(plan->safe, 0, (int)ask) : NULL,
      .values = values,
  };
}
