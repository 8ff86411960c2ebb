/*
 * flight: the changes of a push on their way to a broker that answers each of them on its own. Different rows are in
 * flight together; the next change of a row is sent when the one before it is stored, so that nothing of a row is there
 * without what came before.
 */
#ifndef ROWRELAY_TARGETS_FLIGHT_H
#define ROWRELAY_TARGETS_FLIGHT_H

#include "targets/target.h"

enum flight_stage {
  FLIGHT_UNSENT,
  FLIGHT_SENT, /* and not answered */
  FLIGHT_STORED,
  FLIGHT_REFUSED, /* for its own sake, */
  FLIGHT_HELD     /* or because its table has no place there */
};

struct flight_ticket {
  enum flight_stage stage;
  size_t bytes;
};

struct flight {
  const struct push *push;
  struct flight_ticket *tickets; /* one for each change */
  size_t *next;                  /* change of the same row that comes after */
  size_t *ready;                 /* what may be sent now, from `first_ready` on */
  size_t first_ready;
  size_t ready_count;
  size_t in_flight;
  size_t bytes_in_flight;
  struct error rejection; /* why the broker takes no more now; FAILURE_NONE: it does */
};

MUST_CHECK bool flight_init(struct flight *flight, const struct push *push, struct error *error);
void flight_release(struct flight *flight);

/* Whether there is something left to send or to wait for. */
bool flight_goes_on(const struct flight *flight);
/* Whether one more may be sent, with at most so much in flight; a single one always may. */
bool flight_has_room(const struct flight *flight, size_t messages, size_t bytes);
/* The next change to be sent. */
size_t flight_next(struct flight *flight);
/* Whether this change was sent and is not answered; the index may be anything. */
bool flight_awaits(const struct flight *flight, size_t index);

/* What has become of a change; the answer goes to the receipt. */
void flight_send(struct flight *flight, size_t index, size_t bytes);
void flight_store(struct flight *flight, size_t index, const char *text);
/* `stage` is FLIGHT_REFUSED or FLIGHT_HELD. */
void flight_refuse(struct flight *flight, size_t index, enum flight_stage stage, const struct error *why);
/*
 * It is not there, as the broker says, which is no fault of its own. Nothing more is sent, but what is in flight is
 * waited for: it may go where there is room, and would be there twice.
 */
void flight_reject(struct flight *flight, size_t index, const struct error *why);

/*
 * Sets the verdicts of those that were not sent or are held. `ok`: nothing else is wrong; else `error` says what is.
 * What is held waits with its table where each has a place of its own, or else is the fault of the target as a whole.
 */
MUST_CHECK bool flight_end(const struct flight *flight, bool per_table, bool ok, struct error *error);

#endif
