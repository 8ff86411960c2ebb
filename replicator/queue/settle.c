#include "queue/settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error_kind.h"
#include "common/shell.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "queue/hold.h"
#include "queue/lease.h"
#include "queue/receipts.h"

/* A list of all changes of a batch with their errors is far smaller. */
#define LIST_LIMIT ((size_t)512 * 1024 * 1024)

static const struct query COMMIT = {.name = NULL, .text = "commit"};

/*
 * What is settled has to be on the disk before anything younger of its lanes is pushed: should a crash of the source
 * forget it, it would be delivered again after that, and targets would go back in time. The last push alone may come
 * again; see targets/fence.h.
 */
static const struct query FOR_GOOD = {.name = NULL, .text = "set local synchronous_commit to on"};

static void array_open(struct buffer *array) {
  buffer_init(array, LIST_LIMIT);
  buffer_add_string(array, "{");
}

static void array_add(struct buffer *array, int64_t value) {
  buffer_add_format(array, "%s%s", array->length > 1 ? "," : "", number(value).text);
}

/* ---- lists of changes as JSON ---------------------------------------------------------------------------------- */

static void list_open(struct buffer *list) {
  buffer_init(list, LIST_LIMIT);
  buffer_add_string(list, "[");
}

static void list_close(struct buffer *list) {
  buffer_add_string(list, "]");
}

static bool list_is_empty(const struct buffer *list) {
  return list->length <= 2;
}

static void add_member(struct buffer *list, const char *name, const char *text) {
  buffer_add_format(list, ",\"%s\":", name);
  buffer_add_json_string(list, text);
}

static void add_identity(struct buffer *list, const struct change *change) {
  buffer_add_format(list, "%s{\"id\":%lld,\"capture\":%d", list->length > 1 ? "," : "", (long long)change->id,
                    change->capture);
  add_member(list, "key", change->key);
  if (change->has_hash)
    buffer_add_format(list, ",\"hash\":%lld", (long long)change->hash);
}

static void add_queued(struct buffer *list, const struct change *change) {
  add_identity(list, change);
  buffer_add_format(list, ",\"lane\":%d,\"day\":\"%s\",\"bytes\":%lld", change->lane, change->day,
                    (long long)change->bytes);
}

/* Whether all rows of its table stand behind it. Not where the target can never empty a part of a table. */
static bool is_of_all_rows(const struct change *change, const struct fate *fate) {
  return change->operation == OPERATION_TRUNCATE &&
         (change->new_row == NULL || fate->why == NULL || strcmp(fate->why->sqlstate, "0A000") != 0);
}

static void add_refused(struct buffer *list, const struct change *change, const struct fate *fate) {
  static const struct error behind = {.message = "an older change of this row was refused"};
  static const struct error behind_any = {.message = "an older change of this table, which has no key, was refused"};
  static const struct error held = {.message = "its table waits"}; /* why, says rowrelay.hold */
  char kind[ERROR_KIND_SIZE];
  bool is_error = fate->outcome == OUTCOME_REFUSED;
  const struct error *why = is_error && fate->why != NULL ? fate->why : change->key == NULL ? &behind_any : &behind;
  if (fate->outcome == OUTCOME_HELD)
    why = &held;
  add_queued(list, change);
  if (is_of_all_rows(change, fate))
    buffer_add_string(list, ",\"hash\":0");
  add_member(list, "state", is_error ? "error" : fate->outcome == OUTCOME_HELD ? "waiting" : "blocked");
  buffer_add_format(list, ",\"attempts\":%d", fate->attempts);
  add_member(list, "sqlstate", why->sqlstate[0] != '\0' ? why->sqlstate : NULL);
  add_member(list, "message", why->message);
  error_kind(why, kind, sizeof kind);
  add_member(list, "kind", strcmp(kind, why->message) != 0 ? kind : NULL);
  add_member(list, "detail", why->detail[0] != '\0' ? why->detail : NULL);
  buffer_add_string(list, "}");
}

/* ---- before and after the delivery ----------------------------------------------------------------------------- */

static bool block_waiting(const struct claim *claim, struct outcomes *outcomes, struct error *error) {
  const struct batch *batch = outcomes->batch;
  struct buffer list;
  struct buffer own;
  list_open(&list);
  array_open(&own);
  for (size_t i = 0; i < batch->count; i++) {
    if (claim->settings->at_most_once)
      array_add(&own, batch->changes[i].id);
    if (!outcomes_has_to_wait(outcomes, &batch->changes[i]))
      continue;
    add_identity(&list, &batch->changes[i]);
    buffer_add_string(&list, "}");
  }
  list_close(&list);
  buffer_add_string(&own, "}");
  PGresult *reply = NULL;
  bool ok = buffer_ok(&list, "a list of changes", error) && buffer_ok(&own, "a list of changes", error) &&
            (list_is_empty(&list) ||
             source_run(claim->source, &QUERY_blocked_keys,
                        VALUES(number(claim->settings->target).text, list.data, own.data), &reply, error));
  for (int row = 0; ok && reply != NULL && row < PQntuples(reply); row++) {
    int64_t id = result_bigint(reply, row, 0);
    for (size_t i = 0; i < batch->count; i++)
      if (batch->changes[i].id == id)
        outcomes_decide(outcomes, i, OUTCOME_BLOCKED, NULL);
  }
  PQclear(reply);
  buffer_release(&list);
  buffer_release(&own);
  return ok;
}

/* A hold comes before all else, so that what waits stays in order. */
static void hold_beforehand(struct outcomes *outcomes) {
  for (size_t i = 0; outcomes->batch->hold_count > 0 && i < outcomes->batch->count; i++)
    if (hold_catches(outcomes->batch, &outcomes->batch->changes[i]))
      outcomes_decide(outcomes, i, OUTCOME_HELD, NULL);
}

/* Whether a change of that table came before, in the batch. */
static bool is_listed(const struct batch *batch, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (batch->changes[i].capture == batch->changes[index].capture)
      return true;
  return false;
}

/*
 * A refused truncate would, when it is retried, remove from a mirror what came after it. So all of its table waits, but
 * for a later truncate, behind which the refused one does not matter.
 */
static bool block_behind_truncates(const struct claim *claim, struct outcomes *outcomes, struct error *error) {
  const struct batch *batch = outcomes->batch;
  struct buffer captures;
  struct buffer own;
  array_open(&captures);
  array_open(&own);
  for (size_t i = 0; i < batch->count; i++) {
    if (claim->settings->at_most_once)
      array_add(&own, batch->changes[i].id);
    if (!is_listed(batch, i))
      array_add(&captures, batch->changes[i].capture);
  }
  buffer_add_string(&captures, "}");
  buffer_add_string(&own, "}");
  PGresult *reply = NULL;
  bool ok = buffer_ok(&captures, "a list of tables", error) && buffer_ok(&own, "a list of changes", error) &&
            source_run(claim->source, &QUERY_refused_truncates,
                       VALUES(number(claim->settings->target).text, captures.data, own.data), &reply, error);
  for (int row = 0; ok && row < PQntuples(reply); row++) {
    int capture = result_int(reply, row, 0);
    int64_t id = result_bigint(reply, row, 1);
    for (size_t i = 0; i < batch->count; i++) {
      const struct change *change = &batch->changes[i];
      bool empties_table = change->operation == OPERATION_TRUNCATE && change->new_row == NULL;
      if (change->capture == capture && change->id > id && change->operation != OPERATION_BARRIER && !empties_table)
        outcomes_decide(outcomes, i, OUTCOME_BLOCKED, NULL);
    }
  }
  PQclear(reply);
  buffer_release(&captures);
  buffer_release(&own);
  return ok;
}

/*
 * A truncate says nothing of which rows it is about. Where those of another table are in the same place it would take
 * them away, too, so a person has to do what it means.
 */
static bool refuse_if_shared(const struct claim *claim, struct outcomes *outcomes, size_t index, struct error *error) {
  const struct change *change = &outcomes->batch->changes[index];
  const struct settings *settings = claim->settings;
  PGresult *reply = NULL;
  if (!outcomes->keeps_state || settings->document || change->operation != OPERATION_TRUNCATE || change->route == NULL)
    return true;
  if (!source_run(claim->source, &QUERY_shared_place,
                  VALUES(number(change->capture).text, number(settings->target).text), &reply, error))
    return false;
  const char *other = result_text(reply, 0, 0);
  if (other != NULL) {
    struct error why;
    struct shell_word word;
    error_set(&why, FAILURE_REFUSED, "a truncate of %s would take away the rows of %s, which go to the same place",
              change->route->relation, other);
    error_detail(&why, "delete the rows of %s from %s there, then run: rowrelay skip %lld --target %s",
                 change->route->relation, change->route->into_table, (long long)change->id,
                 shell_quote(&word, settings->name));
    outcomes_decide(outcomes, index, OUTCOME_REFUSED, &why);
  }
  PQclear(reply);
  return true;
}

bool settle_beforehand(const struct claim *claim, struct outcomes *outcomes, struct error *error) {
  if (outcomes->batch->receipt.has_refusals &&
      !(block_waiting(claim, outcomes, error) &&
        (!outcomes->keeps_state || block_behind_truncates(claim, outcomes, error))))
    return false;
  hold_beforehand(outcomes);
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    const struct change *change = &outcomes->batch->changes[i];
    if (outcomes->fates[i].outcome == OUTCOME_HELD)
      continue;
    if (change->operation == OPERATION_BARRIER)
      outcomes_decide(outcomes, i, OUTCOME_DELIVERED, NULL);
    if (lease_is_deadly(claim, outcomes->batch)) {
      struct error why;
      error_set(&why, FAILURE_REFUSED, "%d processes died while delivering this change alone",
                outcomes->batch->receipt.deaths);
      outcomes_decide(outcomes, i, OUTCOME_REFUSED, &why);
    }
    if (outcomes->fates[i].outcome != OUTCOME_RETURNED)
      continue;
    if (change->problem == NULL) {
      if (!refuse_if_shared(claim, outcomes, i, error))
        return false;
      continue;
    }
    struct error why;
    error_set(&why, FAILURE_REFUSED, "the row could not be captured: %s", change->problem);
    outcomes_decide(outcomes, i, OUTCOME_REFUSED, &why);
  }
  return true;
}

static bool has_older_pending(const struct claim *claim, int64_t id, bool *has, struct error *error) {
  struct starts starts;
  starts_init(&starts, LIST_LIMIT);
  bool ok = true;
  *has = true;
  if (floor_write(claim->floor, claim->settings->version, NULL, 0, &starts)) {
    PGresult *reply = NULL;
    ok = starts_ok(&starts, error) &&
         source_run(claim->source, &QUERY_older_pending, VALUES(number(id).text, starts.lanes.data, starts.floors.data),
                    &reply, error);
    *has = ok && result_bool(reply, 0, 0);
    PQclear(reply);
  }
  starts_release(&starts);
  return ok;
}

static bool is_about_other_rows(const struct error *why) {
  bool unique = strcmp(why->sqlstate, "23505") == 0;
  bool foreign_key = strcmp(why->sqlstate, "23503") == 0;
  return unique || foreign_key;
}

bool settle_is_final(const struct claim *claim, const struct batch *batch, const struct refused *refused, bool *final,
                     struct error *error) {
  *final = true;
  if (!is_about_other_rows(refused->why))
    return true;
  /* What waited when it was claimed may have been delivered since, after this one was tried. */
  *final = batch->first_elsewhere > refused->change->id;
  if (!*final)
    return true;
  bool older;
  if (!has_older_pending(claim, refused->change->id, &older, error))
    return false;
  *final = !older;
  return true;
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void add_halt(const struct settlement *settlement, struct pgconn *connection) {
  const struct outcomes *outcomes = settlement->outcomes;
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    const struct change *change = &outcomes->batch->changes[i];
    if (outcomes->fates[i].outcome != OUTCOME_REFUSED)
      continue;
    char reason[256];
    text_print(reason, sizeof reason, "change %lld of %s was refused: retry or skip it, then resume",
               (long long)change->id, change->route->relation);
    pgconn_pipeline_add(connection, &QUERY_target_halt,
                        VALUES(number(settlement->claim->settings->target).text, reason));
    return;
  }
}

/* Whether older refused changes have no meaning any more once this one has arrived where rows' states are kept. */
static bool replaces_older(const struct change *change) {
  if (change->operation == OPERATION_TRUNCATE)
    return change->new_row == NULL; /* else it was one partition */
  return change->key != NULL;
}

/* The changes of a batch by what became of them. */
struct lists {
  struct buffer delivered_ids; /* array literals */
  struct buffer gone_lanes;    /* of what leaves the queue, where it was leased */
  struct buffer gone_ids;
  struct buffer returned_ids;
  struct buffer delivered; /* JSON: what makes older refused changes moot */
  struct buffer refused;
  struct buffer returned;
  struct buffer receipts;
  struct buffer passed_lanes; /* an array literal: those in which the target has confirmed this claim */
  struct buffer held;         /* JSON: tables that wait */
  struct buffer passed;       /* JSON: tables that waited */
};

/* What is settled before it is pushed is not confirmed. */
static void add_passed_lanes(struct buffer *lanes, const struct settlement *settlement) {
  const struct settings *settings = settlement->claim->settings;
  const struct batch *batch = settlement->outcomes->batch;
  array_open(lanes);
  if (!settings->at_most_once && outcomes_count(settlement->pushed, OUTCOME_DELIVERED) > 0)
    for (size_t i = 0; i < batch->lane_count; i++)
      array_add(lanes, settings->document ? lane_of_keys(settings->lanes, batch->lanes[i]) : batch->lanes[i]);
  buffer_add_string(lanes, "}");
}

static void lists_fill(struct lists *lists, const struct settlement *settlement, bool heals) {
  const struct outcomes *outcomes = settlement->outcomes;
  array_open(&lists->delivered_ids);
  array_open(&lists->gone_lanes);
  array_open(&lists->gone_ids);
  array_open(&lists->returned_ids);
  list_open(&lists->delivered);
  list_open(&lists->refused);
  list_open(&lists->returned);
  buffer_init(&lists->receipts, LIST_LIMIT);
  add_passed_lanes(&lists->passed_lanes, settlement);
  buffer_init(&lists->held, LIST_LIMIT);
  buffer_init(&lists->passed, LIST_LIMIT);
  hold_write_lists(outcomes, &lists->held, &lists->passed);
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    const struct change *change = &outcomes->batch->changes[i];
    if (settlement->claim->settings->leased && outcomes->fates[i].outcome != OUTCOME_RETURNED) {
      array_add(&lists->gone_lanes, change->lane);
      array_add(&lists->gone_ids, change->id);
    }
    switch (outcomes->fates[i].outcome) {
    case OUTCOME_DELIVERED:
      array_add(&lists->delivered_ids, change->id);
      if (heals && replaces_older(change)) {
        add_identity(&lists->delivered, change);
        buffer_add_string(&lists->delivered, "}");
      }
      break;
    case OUTCOME_REFUSED:
    case OUTCOME_BLOCKED:
    case OUTCOME_HELD:
      add_refused(&lists->refused, change, &outcomes->fates[i]);
      break;
    case OUTCOME_RETURNED:
      array_add(&lists->returned_ids, change->id);
      add_queued(&lists->returned, change);
      buffer_add_string(&lists->returned, "}");
      break;
    }
  }
  buffer_add_string(&lists->delivered_ids, "}");
  buffer_add_string(&lists->gone_lanes, "}");
  buffer_add_string(&lists->gone_ids, "}");
  buffer_add_string(&lists->returned_ids, "}");
  list_close(&lists->delivered);
  list_close(&lists->refused);
  list_close(&lists->returned);
}

static bool list_receipts(struct lists *lists, const struct outcomes *outcomes, struct error *error) {
  struct receipts receipts = {.parts = NULL};
  bool ok = receipts_collect(&receipts, outcomes, error);
  if (ok)
    receipts_add_json(&receipts, &lists->receipts);
  receipts_release(&receipts);
  return ok;
}

static bool lists_ok(const struct lists *lists, struct error *error) {
  return buffer_ok(&lists->delivered_ids, "a list of changes", error) &&
         buffer_ok(&lists->receipts, "a receipt", error) && buffer_ok(&lists->passed_lanes, "a list of lanes", error) &&
         buffer_ok(&lists->held, "a list of tables", error) && buffer_ok(&lists->passed, "a list of tables", error) &&
         buffer_ok(&lists->gone_lanes, "a list of lanes", error) &&
         buffer_ok(&lists->gone_ids, "a list of changes", error) &&
         buffer_ok(&lists->returned_ids, "a list of changes", error) &&
         buffer_ok(&lists->delivered, "a list of changes", error) &&
         buffer_ok(&lists->refused, "a list of changes", error) &&
         buffer_ok(&lists->returned, "a list of changes", error);
}

static void lists_release(struct lists *lists) {
  buffer_release(&lists->delivered_ids);
  buffer_release(&lists->gone_lanes);
  buffer_release(&lists->gone_ids);
  buffer_release(&lists->returned_ids);
  buffer_release(&lists->delivered);
  buffer_release(&lists->refused);
  buffer_release(&lists->returned);
  buffer_release(&lists->receipts);
  buffer_release(&lists->passed_lanes);
  buffer_release(&lists->held);
  buffer_release(&lists->passed);
}

/* Before what waits is put by, so that a hold does not end meanwhile. */
static void add_holds(struct pgconn *connection, const struct lists *lists, const char *target) {
  if (lists->held.length == 0 && lists->passed.length == 0)
    return;
  pgconn_pipeline_add(connection, &QUERY_hold_lock, VALUES(target));
  if (lists->passed.length > 0)
    pgconn_pipeline_add(connection, &QUERY_settle_passed, VALUES(target, lists->passed.data));
  if (lists->held.length > 0)
    pgconn_pipeline_add(connection, &QUERY_settle_held, VALUES(target, lists->held.data));
}

/* Last, because others may wait for that row. */
static void add_unfound(struct pgconn *connection, const struct outcomes *outcomes, const char *target) {
  struct buffer captures;
  array_open(&captures);
  for (size_t i = 0; i < outcomes->fate_count; i++)
    if (outcomes->fates[i].outcome == OUTCOME_DELIVERED && outcomes->fates[i].unfound)
      array_add(&captures, outcomes->batch->changes[i].capture);
  buffer_add_string(&captures, "}");
  if (captures.length > 2) {
    pgconn_pipeline_needs(connection, &captures, "a list of tables");
    pgconn_pipeline_add(connection, &QUERY_settle_unfound, VALUES(target, captures.data));
  }
  buffer_release(&captures);
}

bool settle(const struct settlement *settlement, struct error *error) {
  const struct outcomes *outcomes = settlement->outcomes;
  const struct batch *batch = outcomes->batch;
  const struct settings *settings = settlement->claim->settings;
  struct pgconn *connection = source_connection(settlement->claim->source);
  struct number target = number(settings->target);
  struct lists lists;
  size_t refused_count = outcomes_count(outcomes, OUTCOME_REFUSED);
  /* What replaces a refused change may be in the same batch. */
  lists_fill(&lists, settlement, outcomes->keeps_state && (batch->receipt.has_refusals || refused_count > 0));
  bool ok = list_receipts(&lists, outcomes, error) && lists_ok(&lists, error) &&
            (!settings->leased || lease_begin_settling(settlement->claim, batch, error));
  if (ok) {
    pgconn_pipeline_begin(connection);
    if (settings->at_most_once) {
      pgconn_pipeline_add(connection, &QUERY_lease_arrived, VALUES(target.text, lists.delivered_ids.data));
      if (!list_is_empty(&lists.returned))
        pgconn_pipeline_add(connection, &QUERY_lease_unsent, VALUES(target.text, lists.returned_ids.data));
    } else if (settings->leased && lists.gone_ids.length > 2) {
      pgconn_pipeline_add(connection, &QUERY_lease_settled, VALUES(lists.gone_lanes.data, lists.gone_ids.data));
    }
    pgconn_pipeline_add(connection, &FOR_GOOD, NO_VALUES);
    if (lists.receipts.length > 2)
      pgconn_pipeline_add(connection, &QUERY_settle_receipt,
                          VALUES(number(batch->receipt.token).text, target.text, settlement->instance,
                                 batch->receipt.claimed_at, lists.receipts.data, lists.passed_lanes.data));
    add_holds(connection, &lists, target.text);
    if (!list_is_empty(&lists.refused))
      pgconn_pipeline_add(connection, &QUERY_settle_refused, VALUES(target.text, lists.refused.data));
    if (!list_is_empty(&lists.returned) && !settings->leased)
      pgconn_pipeline_add(connection, &QUERY_settle_returned, VALUES(lists.returned.data));
    if (!list_is_empty(&lists.delivered))
      pgconn_pipeline_add(connection, &QUERY_settle_superseded,
                          VALUES(target.text, lists.delivered.data, number(batch->receipt.token).text,
                                 settlement->instance, batch->receipt.claimed_at));
    if (refused_count > 0 && outcomes->on_error == ON_ERROR_HALT)
      add_halt(settlement, connection);
    add_unfound(connection, outcomes, target.text);
    pgconn_pipeline_add(connection, &COMMIT, NO_VALUES);
    ok = pgconn_pipeline_run(connection, NULL, 0, error);
  }
  if (!ok)
    pgconn_rollback(connection);
  lists_release(&lists);
  return ok;
}
