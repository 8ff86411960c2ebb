/*
 * Claims and barriers: two replicators, one of which may die, take rows of two lanes and of the lane of barriers. The
 * claim locks a lane first, and then looks.
 *
 * Order: per key the target never goes back, and two processes never push one key at once. Barrier: a TRUNCATE is pushed
 * after all that is before it is settled, and what is after it when it is settled itself.
 * Nothing is lost: when all is quiet, all is settled.
 *
 * What can be left out, to see that it is needed: -DNO_BARRIER (rows behind one are taken), -DNO_BARRIER_WAIT (it is
 * taken while older rows are queued), -DBARRIER_LOOK_BEFORE_LOCK (as seen before its lane was locked), -DNO_LANE_LOCK.
 */

#define IDS 5
#define LANES 3
#define NO_ID 15

#define ABSENT 0
#define QUEUED 1 /* to be seen by all, also while a claim's delete is not committed */
#define SETTLED 2

/* Two keys in two lanes, a barrier, and both keys again. */
byte row[IDS + 1];
bool lane_locked[LANES]; /* rows of rowrelay.lane, FOR UPDATE */
bool pushing[LANES];
byte pushed[LANES]; /* one key in each lane */
byte crashes = 1;

#define LANE_OF(id) (id == 3 -> 0 : (id == 1 || id == 4 -> 1 : 2))

/* Who truncates waits for older writers of the table, and later ones wait for it. */
proctype writers() {
  if
  :: row[1] = QUEUED; row[2] = QUEUED
  :: row[2] = QUEUED; row[1] = QUEUED /* the first commits late */
  fi;
  row[3] = QUEUED;
  if
  :: row[4] = QUEUED; row[5] = QUEUED
  :: row[5] = QUEUED; row[4] = QUEUED
  fi
}

#define FIRST_0 (row[3] == QUEUED -> 3 : NO_ID)
#define FIRST_1 (row[1] == QUEUED -> 1 : (row[4] == QUEUED -> 4 : NO_ID))
#define FIRST_2 (row[2] == QUEUED -> 2 : (row[5] == QUEUED -> 5 : NO_ID))

inline check_push() {
  if
  :: lane == 0 ->
    assert(row[1] == SETTLED && row[2] == SETTLED);
    assert(!pushing[1] && !pushing[2])
  :: else ->
    assert(!pushing[lane] && id >= pushed[lane]);
    assert(id < 3 || row[3] == SETTLED);
    pushed[lane] = id
  fi;
  pushing[lane] = true
}

inline die() {
  crashes--;
  pushing[lane] = false;
  lane_locked[lane] = false;
  id = 0;
  lane = 0
}

proctype replicator() {
  byte lane = 0, id = 0, barrier = 0, one = 0, two = 0;

again:
  /* claim_lanes.sql, with one snapshot: where is work? Nobody sees a reason to try where there is none. */
  atomic {
    FIRST_0 != NO_ID || FIRST_1 != NO_ID || FIRST_2 != NO_ID;
    if
#ifdef NO_BARRIER
    :: FIRST_1 != NO_ID -> lane = 1
    :: FIRST_2 != NO_ID -> lane = 2
#else
    :: FIRST_1 < FIRST_0 -> lane = 1
    :: FIRST_2 < FIRST_0 -> lane = 2
#endif
#ifdef NO_BARRIER_WAIT
    :: FIRST_0 != NO_ID -> lane = 0
#else
    :: FIRST_0 < FIRST_1 && FIRST_0 < FIRST_2 -> lane = 0
#endif
    fi
#ifdef BARRIER_LOOK_BEFORE_LOCK
    ;
    barrier = FIRST_0
#endif
  };
  if
#ifdef NO_LANE_LOCK
  :: true ->
#else
  :: atomic { !lane_locked[lane] -> lane_locked[lane] = true }; /* for update skip locked */
#endif
    d_step { /* claim_rows.sql, claim_barriers.sql: a statement that begins now, and sees what was settled before */
      one = FIRST_1;
      two = FIRST_2;
#ifndef BARRIER_LOOK_BEFORE_LOCK
      barrier = FIRST_0;
#endif
      if
      :: lane == 0 ->
        id = FIRST_0;
#ifndef NO_BARRIER_WAIT
        if
        :: one < id || two < id -> id = NO_ID
        :: else
        fi
#endif
      :: else ->
        id = (lane == 1 -> one : two);
#ifndef NO_BARRIER
        if
        :: barrier < id -> id = NO_ID
        :: else
        fi
#endif
      fi;
      one = 0;
      two = 0;
      barrier = 0
    };
    if
    :: id == NO_ID -> d_step { id = 0; lane_locked[lane] = false; lane = 0 }
    :: else ->
      if
      :: d_step { check_push() };
        if
        :: d_step { row[id] = SETTLED; pushing[lane] = false; lane_locked[lane] = false; id = 0; lane = 0 }
        :: d_step { crashes > 0 -> die() }
        fi
      :: d_step { crashes > 0 -> die() }
      fi
    fi
  :: lane_locked[lane] -> lane = 0 /* busy */
  fi;
  goto again
}

proctype quiet() {
  timeout -> assert(row[1] == SETTLED && row[2] == SETTLED && row[3] == SETTLED && row[4] == SETTLED &&
                    row[5] == SETTLED)
}

init {
  atomic {
    run writers();
    run replicator();
    run replicator();
    run quiet()
  }
}
