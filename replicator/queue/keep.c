#include "queue/keep.h"

#include "common/clock.h"
#include "postgres/result.h"
#include "queries.h"
#include "queue/lease.h"

/* Milliseconds. */
#define SOURCE_TIMEOUT 60000 /* for one statement at the source */

void keep_begin(struct keep *keep, const struct claim *claim, const struct batch *batch) {
  *keep = (struct keep){.claim = claim, .batch = batch, .heard = clock_now()};
}

/* A lease has to last longer than what is begun under it. */
static bool outlasts_a_push(const struct keep *keep) {
  return keep->leased_until - clock_now() >= keep->claim->settings->push_timeout;
}

/*
 * A push in parts, with retries, may take longer than the source's timeout for idle transactions, so it sends a
 * statement now and then. A lease is renewed instead.
 */
static bool tell_source(struct keep *keep, struct error *error) {
  struct source *source = keep->claim->source;
  bool leased = keep->claim->settings->leased;
  int64_t now = clock_now();
  if (leased ? outlasts_a_push(keep) : now - keep->heard < SOURCE_TIMEOUT)
    return true;
  pgconn_set_deadline(source_connection(source), SOURCE_TIMEOUT);
  bool ok = leased ? lease_renew(keep->claim, keep->batch, error) : source_script(source, "select 1", error);
  keep->heard = now;
  keep->leased_until = now + keep->claim->settings->lease;
  keep->source_lost = !ok && (!leased || !pgconn_alive(source_connection(source)));
  if (ok && leased && !outlasts_a_push(keep))
    return error_set(error, FAILURE_RETRY, "the source took too long to renew a lease");
  return ok;
}

bool keep_claim(struct keep *keep, struct error *error) {
  if (pgconn_alive(source_connection(keep->claim->source)))
    return tell_source(keep, error);
  keep->source_lost = true;
  return error_set(error, FAILURE_RETRY, "the connection to the source is lost");
}

bool keep_is_awaited(const struct keep *keep) {
  struct source *source = keep->claim->source;
  struct error ignored;
  PGresult *reply = NULL;
  pgconn_set_deadline(source_connection(source), SOURCE_TIMEOUT);
  if (keep->claim->settings->leased)
    return lease_is_awaited(keep->claim, keep->batch);
  /* If the source is lost, the next push finds out. */
  bool awaited = source_run(source, &QUERY_claim_is_awaited, NO_VALUES, &reply, &ignored) && result_bool(reply, 0, 0);
  PQclear(reply);
  return awaited;
}

bool keep_knows(const struct keep *keep, int64_t token) {
  struct source *source = keep->claim->source;
  struct error ignored;
  PGresult *reply = NULL;
  pgconn_set_deadline(source_connection(source), SOURCE_TIMEOUT);
  bool knows = source_run(source, &QUERY_claim_next, NO_VALUES, &reply, &ignored) && token < result_bigint(reply, 0, 0);
  PQclear(reply);
  return knows;
}

void keep_give_back(const struct keep *keep) {
  struct pgconn *connection = source_connection(keep->claim->source);
  pgconn_set_deadline(connection, SOURCE_TIMEOUT);
  if (keep->claim->settings->leased)
    lease_give_back(keep->claim, keep->batch);
  else
    pgconn_rollback(connection);
}
