#include "process/doorbell.h"

#include <stdlib.h>

#include "common/clock.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "source/horizon.h"

/* Milliseconds. */
#define LEAST_INTERVAL 2L /* between being woken and arming again, growing to */
#define LARGEST_INTERVAL 500L
#define AWAKE_STEP 3L /* between polls until then, */
#define BUSY_PART 100 /* and this part of the interval more */
#define FIRST_STEP 2  /* between polls while a writer may not have seen it armed, growing to */
#define LONGEST_STEP 250
#define POLL_STEP 25    /* between polls where writers cannot ring */
#define SLEEP_STEP 1000 /* between checks that the bell is still armed */
/* Arm again when there are fewer changes than this left for which it rings. */
#define SPARE_CHANGES 1000

void doorbell_init(struct doorbell *doorbell) {
  *doorbell = (struct doorbell){.state = DOORBELL_AWAKE, .processes = 1, .interval = LEAST_INTERVAL};
}

void doorbell_release(struct doorbell *doorbell) {
  free(doorbell->writers);
  doorbell_init(doorbell);
}

bool doorbell_listen(struct doorbell *doorbell, struct source *source, struct error *error) {
  doorbell->state = DOORBELL_AWAKE;
  doorbell->may_arm = 0;
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_doorbell_can_ring, NO_VALUES, &reply, error))
    return false;
  doorbell->can_ring = result_bool(reply, 0, 0);
  PQclear(reply);
  return source_run(source, &QUERY_doorbell_listen, NO_VALUES, NULL, error);
}

/*
 * All who are just writing ring when it is armed, and NOTIFY lets one of them commit after the other. So where it rings
 * as soon as it is armed, it is armed less and less often: the process finds new changes by looking, as often as it
 * did.
 */
static void choose_interval(struct doorbell *doorbell, int64_t rang_after) {
  bool is_busy = rang_after < doorbell->interval;
  doorbell->interval = is_busy ? doorbell->interval * 2 : doorbell->interval / 2;
  if (doorbell->interval < LEAST_INTERVAL)
    doorbell->interval = LEAST_INTERVAL;
  if (doorbell->interval > LARGEST_INTERVAL)
    doorbell->interval = LARGEST_INTERVAL;
}

bool doorbell_disarm(struct doorbell *doorbell, struct source *source, struct error *error) {
  int64_t now = clock_now();
  bool armed = doorbell->state != DOORBELL_AWAKE;
  if (armed)
    choose_interval(doorbell, now - doorbell->armed_at);
  doorbell->state = DOORBELL_AWAKE;
  doorbell->next_step = 0;
  doorbell->may_arm = now + doorbell->interval * doorbell->processes;
  return !armed || source_run(source, &QUERY_doorbell_disarm, VALUES(number(doorbell->value).text), NULL, error);
}

static bool arm(struct doorbell *doorbell, struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_doorbell_arm, NO_VALUES, &reply, error))
    return false;
  doorbell->value = result_bigint(reply, 0, 0);
  PQclear(reply);
  free(doorbell->writers);
  doorbell->writers = NULL;
  if (!horizon_mark(source, &doorbell->writers, error))
    return false;
  doorbell->state = DOORBELL_ARMED;
  doorbell->armed_at = clock_now();
  doorbell->step = FIRST_STEP;
  return true;
}

static void lower(int64_t *wait, int64_t until, int64_t now) {
  int64_t left = until > now ? until - now : 0;
  if (left < *wait)
    *wait = left;
}

/* Whether writers will ring for some time to come. */
static bool is_armed(struct source *source, bool *armed, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_doorbell_left, NO_VALUES, &reply, error))
    return false;
  *armed = result_bigint(reply, 0, 0) > SPARE_CHANGES;
  PQclear(reply);
  return true;
}

bool doorbell_tend(struct doorbell *doorbell, struct source *source, bool *poll, int64_t *wait, struct error *error) {
  int64_t now = clock_now();
  *poll = false;
  if (now < doorbell->next_step) {
    lower(wait, doorbell->next_step, now);
    return true;
  }
  if (doorbell->state == DOORBELL_ASLEEP) {
    bool armed;
    if (!is_armed(source, &armed, error))
      return false;
    if (armed) {
      doorbell->next_step = now + SLEEP_STEP;
      lower(wait, doorbell->next_step, now);
      return true;
    }
    doorbell->state = DOORBELL_AWAKE;
  }
  *poll = true;
  if (!doorbell->can_ring) {
    doorbell->next_step = now + POLL_STEP;
  } else if (doorbell->state == DOORBELL_AWAKE) {
    doorbell->next_step = now + (AWAKE_STEP + doorbell->interval / BUSY_PART) * doorbell->processes;
    if (now >= doorbell->may_arm && !arm(doorbell, source, error))
      return false;
  } else {
    bool passed;
    if (!horizon_passed(source, doorbell->writers, &passed, error))
      return false;
    doorbell->step = doorbell->step * 3 / 2 < LONGEST_STEP ? doorbell->step * 3 / 2 + 1 : LONGEST_STEP;
    doorbell->next_step = now + (passed ? SLEEP_STEP : doorbell->step);
    if (passed)
      doorbell->state = DOORBELL_ASLEEP;
  }
  lower(wait, doorbell->next_step, now);
  return true;
}
