/*
 * workload: applications at work. Each writer is a process that runs transactions of random steps (functions of
 * workload.sql) until it is told to stop, and notes in DIR/acked.N what became of each: "ok", "failed" or "unknown",
 * and the tokens that it wrote; and in DIR/times.N when its first write began, when its end was known, and its tokens.
 */
#ifndef ROWRELAY_CHAOS_WORKLOAD_H
#define ROWRELAY_CHAOS_WORKLOAD_H

#include "stage.h"

#define WRITERS 6

/* Makes the tables in database "work" of the source; they are empty, but for the roots of documents. */
void workload_create(const struct stage *stage);
/* The rows that are there before anybody writes: of the bank. */
void workload_begin(const struct stage *stage);
/* Starts the writers. They write while shared->writing, and end when the run is over. */
void workload_start(const struct stage *stage);
/* Ends transactions that were prepared by somebody who has gone. */
void workload_resolve(const struct stage *stage);
/*
 * While nobody else writes: writes single rows, each in a transaction that is open for a moment, and notes in DIR/late
 * each that is not in the mirror a few seconds after it was committed.
 */
void workload_trickle(const struct stage *stage, double seconds);

#endif
