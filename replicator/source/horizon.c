#include "source/horizon.h"

#include <stdlib.h>
#include <string.h>

#include "postgres/result.h"
#include "queries.h"

void horizon_init(struct horizon *horizon) {
  *horizon = (struct horizon){.candidate = 0};
  atomic_init(&horizon->id, 0);
  atomic_init(&horizon->forgotten, false);
}

void horizon_release(struct horizon *horizon) {
  free(horizon->writers);
  horizon->writers = NULL;
}

void horizon_forget(struct horizon *horizon) {
  atomic_store(&horizon->forgotten, true);
  atomic_store(&horizon->id, 0);
}

/* Lists who is writing now; *remain tells whether any of `earlier` is still among them. */
static bool list_writers(struct source *source, const char *earlier, char **writers, bool *remain,
                         struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_horizon_writers, VALUES(earlier), &reply, error))
    return false;
  *remain = result_bool(reply, 0, 1);
  *writers = strdup(PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return *writers != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

/* Whether the source was lost since this was called last. */
static bool forget_writers(struct horizon *horizon) {
  if (!atomic_exchange(&horizon->forgotten, false))
    return false;
  free(horizon->writers);
  horizon->writers = NULL;
  return true;
}

void horizon_learn(struct horizon *horizon, int64_t last_id, char *writers, bool remain) {
  if (forget_writers(horizon) || (horizon->writers != NULL && remain)) {
    free(writers);
    return;
  }
  bool nobody_writes = strcmp(writers, "{}") == 0;
  if (nobody_writes)
    atomic_store(&horizon->id, last_id);
  else if (horizon->writers != NULL)
    atomic_store(&horizon->id, horizon->candidate);
  free(horizon->writers);
  horizon->writers = writers;
  horizon->candidate = last_id;
  /* A thread that loses the source sets the flag before it resets the id: so it sees this id, or the flag is seen here.
   */
  if (atomic_load(&horizon->forgotten))
    atomic_store(&horizon->id, 0);
}

bool horizon_advance(struct horizon *horizon, struct source *source, struct error *error) {
  bool is_first = forget_writers(horizon) || horizon->writers == NULL;
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_horizon_last_id, NO_VALUES, &reply, error))
    return false;
  int64_t last_id = result_bigint(reply, 0, 0);
  PQclear(reply);
  if (!is_first && last_id < horizon->candidate)
    return error_set(error, FAILURE_RETRY, "change ids were set back, as by a restore, while this process ran");
  /* The list must be younger than the id. */
  char *writers = NULL;
  bool remain = false;
  if (!list_writers(source, horizon->writers != NULL ? horizon->writers : "{}", &writers, &remain, error))
    return false;
  horizon_learn(horizon, last_id, writers, remain);
  return true;
}

bool horizon_mark(struct source *source, char **writers, struct error *error) {
  bool unused;
  *writers = NULL;
  return list_writers(source, "{}", writers, &unused, error);
}

bool horizon_passed(struct source *source, const char *writers, bool *passed, struct error *error) {
  char *now = NULL;
  bool remain = false;
  if (!list_writers(source, writers, &now, &remain, error))
    return false;
  free(now);
  *passed = !remain;
  return true;
}
