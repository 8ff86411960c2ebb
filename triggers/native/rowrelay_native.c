/*
 * rowrelay_native: a procedural language in which the trigger functions of captured tables run where a server lets a
 * library in. The body of such a function is PL/pgSQL, as rowrelay.trigger_function() makes it everywhere; its first
 * line is a plan: what the body does with a row for which nothing out of the ordinary is to be done. Such a row is
 * captured here, with the same result, for less than half of the CPU. Every other row goes the way of the body, which
 * PL/pgSQL's own handler runs: a row that may nest, whose key changes, that is large, of a session with rowrelay.skip,
 * of a table that is not as the plan knows it. So there is one description of what a capture means, and
 * this file is never the only one that knows it.
 *
 * What is ordinary must not fail where PL/pgSQL's guarded block would have caught it: values are small, of types that
 * PostgreSQL itself made, and their output functions take every value. What cannot be written into the log fails the
 * statement here as there, because a change that is not in the log would be lost.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "log.h"
#include "plan.h"
#include "row.h"
#include "schema.h"

#define LARGE_IMAGE 52428800 /* rowrelay.large_image() */

static PGFunction run_body = NULL;

/* What the server looks up; all else is hidden: see the Makefile. */
#pragma GCC visibility push(default)
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(rowrelay_call_handler);
PG_FUNCTION_INFO_V1(rowrelay_validator);
void _PG_init(void);
#pragma GCC visibility pop

void _PG_init(void) {
  schema_init();
  plan_init();
  log_init();
  run_body = (PGFunction)load_external_function("$libdir/plpgsql", "plpgsql_call_handler", true, NULL);
}

static bool is_set(const char *name) {
  const char *value = GetConfigOption(name, true, false);
  return value != NULL && *value != '\0';
}

/* As many characters of these as there have to be, and not all of them 0. */
static bool is_hex(const char *text, size_t length, bool may_be_nothing) {
  return strspn(text, "0123456789abcdef") >= length && (may_be_nothing || strspn(text, "0") < length);
}

/* 00-TRACE-SPAN-FLAGS */
static bool is_trace(const char *trace) {
  return trace != NULL && strlen(trace) == 55 && strncmp(trace, "00-", 3) == 0 && is_hex(trace + 3, 32, false) &&
         trace[35] == '-' && is_hex(trace + 36, 16, false) && trace[52] == '-' && is_hex(trace + 53, 2, true);
}

/* The tables that a change has passed, with blanks between them. */
static bool is_path(const char *origin) {
  return origin != NULL && origin[0] != '\0' && strspn(origin, "/ 0123456789") == strlen(origin) &&
         strlen(origin) < 8000;
}

/* As rowrelay.traced() of a change without a caveat. */
static Datum find_trace(void) {
  const char *trace = GetConfigOption("rowrelay.traceparent", true, false);
  const char *origin = GetConfigOption("rowrelay.origin", true, false);
  bool has_trace = is_trace(trace), has_path = is_path(origin);
  if (!has_trace && !has_path)
    return (Datum)0;
  return CStringGetTextDatum(psprintf("{%s%s%s%s%s%s%s}", has_trace ? "\"traceparent\":\"" : "", has_trace ? trace : "",
                                      has_trace ? "\"" : "", has_trace && has_path ? "," : "",
                                      has_path ? "\"path\":\"" : "", has_path ? origin : "", has_path ? "\"" : ""));
}

/* As rowrelay.login_name() says it. */
static const char *login_name(void) {
  const char *name = GetConfigOptionByName("session_authorization", NULL, false);
  return name[0] != '\0' ? name : GetUserNameFromId(GetSessionUserId(), false);
}

/* As rowrelay.actor() and rowrelay.db_user() say it; false when it may be that this is not to be captured. */
static bool find_author(const plan *plan, change *change) {
  const char *user = login_name();
  const char *role = GetConfigOptionByName("role", NULL, false); /* "none" after SET SESSION AUTHORIZATION, too */
  bool has_role = strcmp(role, "none") != 0, has_actor = is_set("rowrelay.actor");
  bool has_trace = is_set("rowrelay.traceparent");
  if (is_set("rowrelay.skip") || (!plan->captures_origin && is_set("rowrelay.origin")))
    return false;
  if (has_trace)
    change->caveat = find_trace();
  if (has_actor || has_role || has_trace)
    change->actor = CStringGetTextDatum(has_actor ? GetConfigOption("rowrelay.actor", true, false) : user);
  change->db_user = CStringGetTextDatum(has_role ? psprintf("%s as %s", user, role) : user);
  return true;
}

/*
 * Whether a row that is deleted may have come back in this transaction, or another be there under its key: by what the
 * server counts for its statistics, in each subtransaction that was not rolled back.
 */
static bool may_be_back(Relation relation) {
  const PgStat_TableXactStatus *counted;
  if (!pgstat_track_counts || relation->pgstat_info == NULL)
    return true;
  for (counted = relation->pgstat_info->trans; counted != NULL; counted = counted->upper)
    if (counted->tuples_inserted > 0 || counted->tuples_updated > 0)
      return true;
  return false;
}

/* Whether another statement may have been told of the row before this one, or its key changes. */
static bool may_nest(const plan *plan, Relation relation, HeapTuple new_tuple, const row *old, const row *new) {
  if (new == NULL)
    return may_be_back(relation);
  return HeapTupleHeaderGetRawXmax(new_tuple->t_data) != InvalidTransactionId ||
         (old != NULL && !row_has_key_of(old, new, plan));
}

static int32 size_of(Datum image) {
  return image == (Datum)0 ? 0 : (int32)VARSIZE(DatumGetPointer(image));
}

/* Captures the row, if it is an ordinary one. */
static bool capture_row(const plan *plan, TriggerData *trigger) {
  bool is_insert = TRIGGER_FIRED_BY_INSERT(trigger->tg_event), is_delete = TRIGGER_FIRED_BY_DELETE(trigger->tg_event);
  HeapTuple new_tuple = is_delete ? NULL : is_insert ? trigger->tg_trigtuple : trigger->tg_newtuple;
  row old_values, new_values;
  row *old = is_insert ? NULL : &old_values, *new = is_delete ? NULL : &new_values;
  row *current = is_delete ? old : new;
  change change = {.op = is_insert ? 'i' : is_delete ? 'd' : 'u'};
  if (!find_author(plan, &change) ||
      (old != NULL && !row_read(old, plan, trigger->tg_relation, trigger->tg_trigtuple)) ||
      (new != NULL && !row_read(new, plan, trigger->tg_relation, new_tuple)) ||
      may_nest(plan, trigger->tg_relation, new_tuple, old, new) ||
      (old != NULL && plan->keeps_before && !row_fits_json(old, plan)) || (new != NULL && !row_fits_json(new, plan)))
    return false;
  change.key = row_key(current, plan);
  change.hash = row_hash(current, plan);
  if ((new != NULL && !row_image(new, plan, LARGE_IMAGE, &change.new_row)) ||
      (old != NULL && plan->keeps_before && !row_image(old, plan, LARGE_IMAGE, &change.old_row)))
    return false;
  if (is_delete && !plan->keeps_before)
    change.old_row = row_key_image(old, plan);
  change.bytes = size_of(change.new_row) + (plan->keeps_before ? size_of(change.old_row) : 0);
  return change.bytes <= LARGE_IMAGE && log_write(plan, &change);
}

Datum rowrelay_call_handler(PG_FUNCTION_ARGS) {
  const plan *plan = plan_find(fcinfo->flinfo->fn_oid);
  const schema *schema = schema_find();
  TriggerData *trigger = (TriggerData *)fcinfo->context;
  if (plan->is_usable && schema != NULL && plan_is_allowed(plan, schema) && CALLED_AS_TRIGGER(fcinfo) &&
      TRIGGER_FIRED_FOR_ROW(trigger->tg_event) && TRIGGER_FIRED_AFTER(trigger->tg_event) &&
      trigger->tg_trigger->tgnargs == 0 && plan_knows_table(plan, trigger->tg_relation) && capture_row(plan, trigger))
    return PointerGetDatum(NULL);
  return run_body(fcinfo);
}

/*
 * CREATE FUNCTION calls it, and so makes no function in the language that writers could not run; and
 * rowrelay.native_obstacle(). Sessions that begin now need the library's file, though this one has it loaded.
 */
Datum rowrelay_validator(PG_FUNCTION_ARGS) {
  Dl_info library;
  if (dladdr(&run_body, &library) != 0 && access(library.dli_fname, R_OK) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not access file \"%s\": %m", library.dli_fname)));
  PG_RETURN_VOID();
}
