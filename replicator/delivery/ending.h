/*
 * ending: decides what happens to a claimed batch after its push, and what the worker does next. The caller carries it
 * out.
 */
#ifndef ROWRELAY_DELIVERY_ENDING_H
#define ROWRELAY_DELIVERY_ENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* The result of a push. */
struct pushed {
  bool documents;    /* built from the batch, which is settled as a whole or not at all */
  bool at_most_once; /* what may have arrived must not be pushed again */
  bool failing;      /* the target is recorded as failing */
  bool source_lost;  /* and the claim with it */
  bool began;        /* it got as far as to have outcomes */
  bool ok;           /* everything was tried; if not, see `why` */
  enum failure why;
  bool is_momentary; /* a serialization failure or deadlock at the target */
  int fenced;        /* pushes in succession, this one included, that claims kept out which the source has not given */
  size_t delivered;
  size_t refused;
  size_t held;
  size_t returned;
  size_t unknown; /* of those returned: pushed, without an answer */
};

enum batch_end {
  BATCH_LOST,      /* with the source */
  BATCH_GIVE_BACK, /* it is queued as before */
  BATCH_SETTLE
};

enum sequel {
  SEQUEL_GO_ON,
  SEQUEL_PAUSE,        /* all changes have to wait for others */
  SEQUEL_RANDOM_PAUSE, /* the other transaction may be repeated, too */
  SEQUEL_FAILURE,      /* the target fails: record that for all */
  SEQUEL_HALT,         /* the target wants no more */
  SEQUEL_LEAVE
};

struct ending {
  enum batch_end end;
  bool refuses_unknown; /* changes that may have arrived are refused first */
  bool counts;          /* it counts in the metrics */
  bool shows_health;    /* the target works; valid if the batch is settled or given back */
  enum sequel sequel;
};

struct ending ending_of(const struct pushed *pushed);

/*
 * What a failed push is taken for. A deadlock or serialization failure has nothing to do with the data, unless batches
 * of the same lanes have ended in one so many times in succession (`contentions`): then a row may be the cause, which
 * is looked for as after a refusal.
 */
enum failure ending_cause(enum failure why, bool is_momentary, int contentions);

#endif
