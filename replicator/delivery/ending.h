/*
 * ending: what becomes of a claimed batch after it was pushed, and what the worker does next. Nothing but a decision:
 * who asks does it.
 */
#ifndef ROWRELAY_DELIVERY_ENDING_H
#define ROWRELAY_DELIVERY_ENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* What a push came to. */
struct pushed {
  bool documents;    /* that were built from the batch: it is settled as a whole, or not at all */
  bool at_most_once; /* what may have arrived must not be pushed again */
  bool failing;      /* the source says that the target fails */
  bool source_lost;  /* and the claim with it */
  bool began;        /* it came as far as to have outcomes */
  bool ok;           /* everything was tried; if not, `why` says why */
  enum failure why;
  bool is_momentary; /* two transactions met at the target, and it chose this one to begin anew */
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
  SEQUEL_PAUSE,        /* all of it has to wait for others */
  SEQUEL_RANDOM_PAUSE, /* whom it met at the target may come again, too */
  SEQUEL_FAILURE,      /* the target cannot be delivered to: everybody is told */
  SEQUEL_HALT,         /* the target wants no more */
  SEQUEL_LEAVE
};

struct ending {
  enum batch_end end;
  bool refuses_unknown; /* what may have arrived is refused first */
  bool counts;          /* something came of it */
  bool shows_health;    /* the target works; not meant unless it is settled or given back */
  enum sequel sequel;
};

struct ending ending_of(const struct pushed *pushed);

#endif
