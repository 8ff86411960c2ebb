#include "delivery/breaker.h"

#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* Milliseconds until asking again: while another worker probes; and at most. */
#define OTHER_TRIES 200
#define LONGEST_WAIT 1000

bool breaker_open(struct breaker *breaker, const struct error *why, struct error *error) {
  return source_run(breaker->source, &QUERY_outage_begin,
                    VALUES(number(breaker->target).text, why->message, why->hint[0] != '\0' ? why->hint : NULL,
                           number(why->retry_after).text, why->sqlstate[0] != '\0' ? why->sqlstate : NULL),
                    NULL, error);
}

bool breaker_close(struct breaker *breaker, struct error *error) {
  return source_run(breaker->source, &QUERY_outage_end, VALUES(number(breaker->target).text), NULL, error);
}

int64_t breaker_wait(int64_t due) {
  return due <= 0 ? OTHER_TRIES : due < LONGEST_WAIT ? due : LONGEST_WAIT;
}

bool breaker_may_try(struct breaker *breaker, bool *may, int64_t *wait, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(breaker->source, &QUERY_outage_probe, VALUES(number(breaker->target).text), &reply, error))
    return false;
  bool fails = PQntuples(reply) > 0;
  *wait = 0;
  *may = breaker->probing = fails && result_bool(reply, 0, 0);
  if (fails && !*may)
    *wait = breaker_wait(result_bigint(reply, 0, 1));
  PQclear(reply);
  return true;
}

void breaker_leave(struct breaker *breaker) {
  struct error ignored; /* a lost connection has released it already */
  if (breaker->probing && breaker->source != NULL)
    (void)!source_run(breaker->source, &QUERY_outage_leave, VALUES(number(breaker->target).text), NULL, &ignored);
  breaker->probing = false;
}
