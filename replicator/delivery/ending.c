#include "delivery/ending.h"

/* How often in succession a batch may meet a deadlock or serialization failure by chance. */
#define MOST_CONTENTIONS 10
/* How often in succession claims may keep out a push that the source does not know: a crash may have lost them. */
#define MOST_FENCED 5

static enum sequel after_failure(const struct pushed *pushed) {
  if (pushed->is_momentary)
    return SEQUEL_RANDOM_PAUSE;
  switch (pushed->why) {
  case FAILURE_STOP:
    return SEQUEL_LEAVE;
  case FAILURE_GONE:
    return SEQUEL_HALT;
  default:
    return SEQUEL_FAILURE;
  }
}

struct ending ending_of(const struct pushed *pushed) {
  bool ok = pushed->ok;
  if (pushed->source_lost)
    return (struct ending){.end = BATCH_LOST, .sequel = SEQUEL_GO_ON};
  if (!ok && pushed->why == FAILURE_FENCED)
    return (struct ending){.end = BATCH_GIVE_BACK,
                           .sequel = pushed->fenced >= MOST_FENCED ? SEQUEL_HALT : SEQUEL_GO_ON};
  if (!ok && pushed->why == FAILURE_STOP && !pushed->at_most_once)
    return (struct ending){.end = BATCH_GIVE_BACK, .sequel = SEQUEL_LEAVE};

  struct ending ending = {.refuses_unknown = !ok && pushed->at_most_once && pushed->began};
  size_t tried = pushed->delivered + pushed->refused;
  size_t decided = tried + pushed->held + (ending.refuses_unknown ? pushed->unknown : 0);
  /* Documents are built again as a whole. */
  bool in_vain = pushed->documents ? !ok || pushed->returned > 0 : !ok && decided == 0;
  ending.end = in_vain && !(pushed->at_most_once && pushed->began) ? BATCH_GIVE_BACK : BATCH_SETTLE;
  ending.counts = !in_vain;
  if (!ok) {
    ending.sequel = after_failure(pushed);
    return ending;
  }
  /* If nothing was tried, nothing is known of the target. */
  ending.shows_health = pushed->documents || tried > 0 || !pushed->failing;
  ending.sequel = in_vain || (!pushed->documents && decided == 0) ? SEQUEL_PAUSE : SEQUEL_GO_ON;
  return ending;
}

enum failure ending_cause(enum failure why, bool is_momentary, int contentions) {
  return is_momentary && contentions >= MOST_CONTENTIONS ? FAILURE_REFUSED : why;
}
