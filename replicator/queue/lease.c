#include "queue/lease.h"

#include <stdio.h>

#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

#define LISTS_LIMIT ((size_t)64 * 1024 * 1024)

static void write_lanes(const struct batch *batch, struct buffer *lanes) {
  buffer_add_string(lanes, "{");
  for (size_t i = 0; i < batch->lane_count; i++)
    buffer_add_format(lanes, "%s%d", i > 0 ? "," : "", batch->lanes[i]);
  buffer_add_string(lanes, "}");
}

/* What must not be sent twice leaves the queue now. */
static bool take_out(const struct claim *claim, const struct batch *batch, struct error *error) {
  struct buffer list;
  buffer_init(&list, LISTS_LIMIT);
  for (size_t i = 0; i < batch->count; i++) {
    const struct change *change = &batch->changes[i];
    buffer_add_format(
        &list, "%s{\"id\":%lld,\"lane\":%d,\"day\":\"%s\",\"bytes\":%lld,\"capture\":%d,\"key\":", i == 0 ? "[" : ",",
        (long long)change->id, change->lane, change->day, (long long)change->bytes, change->capture);
    buffer_add_json_string(&list, change->key);
    if (change->has_hash || change->operation == OPERATION_TRUNCATE)
      buffer_add_format(&list, ",\"hash\":%lld", change->has_hash ? (long long)change->hash : 0); /* 0: of any row */
    buffer_add_string(&list, "}");
  }
  buffer_add_string(&list, "]");
  bool ok = buffer_ok(&list, "a list of changes", error) &&
            source_run(claim->source, &QUERY_lease_at_most_once,
                       VALUES(number(claim->settings->target).text, list.data), NULL, error);
  buffer_release(&list);
  return ok;
}

bool lease_take(const struct claim *claim, struct batch *batch, bool *taken, struct error *error) {
  struct buffer lanes;
  PGresult *reply = NULL;
  buffer_init(&lanes, LISTS_LIMIT);
  write_lanes(batch, &lanes);
  bool ok = buffer_ok(&lanes, "a list of lanes", error) &&
            (!claim->settings->at_most_once || take_out(claim, batch, error)) &&
            source_run(claim->source, &QUERY_claim_lease,
                       VALUES(lanes.data, claim->instance, number(batch->receipt.token).text,
                              number(claim->settings->lease).text,
                              batch->count == 1 ? number(batch->changes[0].id).text : NULL),
                       &reply, error);
  *taken = ok && (size_t)PQntuples(reply) == batch->lane_count;
  if (*taken) {
    snprintf(batch->receipt.process_id, sizeof batch->receipt.process_id, "%s",
             PQgetvalue(reply, 0, LEASED_PROCESS_ID));
    batch->receipt.failures = result_int(reply, 0, LEASED_EXPIRIES);
    batch->receipt.deaths = result_int(reply, 0, LEASED_DEATHS);
    /* It must survive a crash of the source, because its holder may be pushing. */
    ok = source_script(claim->source, "set local synchronous_commit to on; commit", error);
  }
  PQclear(reply);
  buffer_release(&lanes);
  return ok;
}

/* Runs lease_renew.sql or lease_end.sql, which must find all lanes. */
static bool find_lanes(const struct claim *claim, const struct batch *batch, const struct query *query,
                       const char *third, struct error *error) {
  struct buffer lanes;
  PGresult *reply = NULL;
  buffer_init(&lanes, LISTS_LIMIT);
  write_lanes(batch, &lanes);
  bool ok = buffer_ok(&lanes, "a list of lanes", error) &&
            source_run(claim->source, query, VALUES(lanes.data, batch->receipt.process_id, third), &reply, error);
  if (ok && (size_t)PQntuples(reply) != batch->lane_count)
    ok = error_set(error, FAILURE_FENCED, "the lease has expired, and another process has claimed the lanes");
  PQclear(reply);
  buffer_release(&lanes);
  return ok;
}

bool lease_renew(const struct claim *claim, const struct batch *batch, struct error *error) {
  return find_lanes(claim, batch, &QUERY_lease_renew, number(claim->settings->lease).text, error);
}

bool lease_begin_settling(const struct claim *claim, const struct batch *batch, struct error *error) {
  return source_script(claim->source, "begin", error) && find_lanes(claim, batch, &QUERY_lease_end, "true", error);
}

void lease_give_back(const struct claim *claim, const struct batch *batch) {
  struct error ignored;
  pgconn_rollback(source_connection(claim->source));
  if (batch->lane_count > 0 && batch->receipt.process_id[0] != '\0')
    (void)!find_lanes(claim, batch, &QUERY_lease_end, "false", &ignored);
}

bool lease_is_awaited(const struct claim *claim, const struct batch *batch) {
  struct buffer lanes;
  struct error ignored;
  PGresult *reply = NULL;
  buffer_init(&lanes, LISTS_LIMIT);
  write_lanes(batch, &lanes);
  bool awaited = buffer_ok(&lanes, "a list of lanes", &ignored) &&
                 source_run(claim->source, &QUERY_lease_is_awaited, VALUES(lanes.data), &reply, &ignored) &&
                 result_bool(reply, 0, 0);
  PQclear(reply);
  buffer_release(&lanes);
  return awaited;
}

bool lease_is_deadly(const struct claim *claim, const struct batch *batch) {
  return claim->settings->leased && batch->count == 1 && batch->receipt.deaths > claim->settings->retries;
}
