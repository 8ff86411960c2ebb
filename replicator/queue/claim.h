/*
 * claim: takes a batch of queued changes for one target out of the source, inside a transaction that stays open until
 * settle.h ends it.
 *
 * Any number of workers, here and on other machines, can do this at the same time. A claim first locks some lanes,
 * which are rows of rowrelay.lane; only their holder takes rows from them, so two workers never hold changes of the
 * same key. A second statement decides what may be claimed, barriers included, because the snapshot of the first may be
 * older than what the last holder of the lane committed just before it released it: see schema/README.md. Both are sent
 * together, and the second reads the changes, too. From a target's only lane whole transactions are taken (see
 * transactions.h), from several the oldest rows of each. Locks and deletes vanish with the connection: a process that
 * dies leaves nothing behind.
 *
 * If a target's lanes are leased (see lease.h), the rows stay in the queue, and the transaction is committed.
 */
#ifndef ROWRELAY_QUEUE_CLAIM_H
#define ROWRELAY_QUEUE_CLAIM_H

#include "queue/day_query.h"
#include "queue/floor.h"
#include "source/change.h"
#include "source/settings.h"
#include "source/source.h"

struct claim {
  struct source *source; /* borrowed, with no transaction open */
  const struct settings *settings;
  int batch_rows; /* at most; fewer than in its settings while a target is probed */
  const struct routes *routes;
  struct floor *floor;
  struct day_query *days; /* of the source's connection */
  const char *instance;   /* id of this process */
  int64_t horizon;        /* see horizon.h; read before claim_take() is called */
  int workers;            /* of all live processes that serve the target; they share its lanes */
  bool late_first;        /* prefer work that live changes overtake; only documents have such */
  bool with_details;      /* the target wants captured_at, txid and actor too */
};

enum claimed {
  CLAIMED_SOME,    /* the batch has changes; the transaction is open, or the lanes are leased */
  CLAIMED_NONE,    /* there is nothing to do */
  CLAIMED_BUSY,    /* there is, but others hold the lanes */
  CLAIMED_OUTDATED /* the settings are out of date: read them again */
};

/* Fills an empty batch. On an error, and on anything but CLAIMED_SOME, no transaction is left open. */
MUST_CHECK bool claim_take(const struct claim *claim, struct batch *batch, enum claimed *claimed, struct error *error);

#endif
