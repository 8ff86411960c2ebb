/*
 * Documents and late lanes: a document is built from what the source has now. A change of its own row queues it in a lane,
 * one of a row that many documents share in the late lane behind it; both lanes have one lock.
 *
 * Order: what is pushed last is what was read last. Nothing is lost: when all is quiet, the document is up to date.
 *
 * What can be left out, to see that it is needed: -DNO_SHARED_LOCK (each of the lanes has a lock of its own),
 * -DREAD_BEFORE_LOCK (the document is read before its lane is locked), -DQUEUE_APART (a change and its
 * row in the queue do not become visible at once).
 */

#define WRITES 3

byte source = 0; /* committed versions of what the document is built from */
bool queued[2];  /* the live lane and the late one, for changes up to now */
bool lane_locked[2];
byte target = 0;
byte crashes = 1;

proctype writers() {
  byte lane = 0;
  do
  :: source < WRITES ->
    if
    :: lane = 0
    :: lane = 1
    fi;
#ifdef QUEUE_APART
    queued[lane] = true;
    source++;
#else
    d_step { source++; queued[lane] = true; lane = 0 }
#endif
  :: else -> break
  od
}

#ifdef NO_SHARED_LOCK
#define LOCK lane
#else
#define LOCK 0
#endif

proctype replicator() {
  byte lane = 0, read = 0;
  bool has = false;

again:
  atomic { queued[0] || queued[1]; if :: queued[0] -> lane = 0 :: queued[1] -> lane = 1 fi };
#ifdef READ_BEFORE_LOCK
  read = source;
#endif
  if
  :: atomic { !lane_locked[LOCK] -> lane_locked[LOCK] = true };
    d_step { has = queued[lane]; queued[lane] = false }; /* its delete: later changes have rows of their own */
    if
    :: !has -> skip
    :: else ->
#ifndef READ_BEFORE_LOCK
      read = source; /* document_built.sql: a snapshot taken now */
#endif
      if
      :: d_step { assert(read >= target); target = read }
      :: d_step { crashes > 0 -> crashes--; queued[lane] = true } /* rolls back */
      fi
    fi;
    d_step { lane_locked[LOCK] = false; read = 0; has = false; lane = 0 }
  :: lane_locked[LOCK] -> d_step { lane = 0; read = 0 }
  fi;
  goto again
}

proctype quiet() {
  timeout -> assert(target == source)
}

init {
  atomic {
    run writers();
    run replicator();
    run replicator();
    run quiet()
  }
}
