/*
 * Held tables: three changes of one table, in two lanes; the target cannot take the table until somebody mends it. What
 * was claimed of it waits (rowrelay.hold), and is released one change at a time, then all.
 *
 * Order: each lane's changes arrive in order. Nothing is lost, and no time: when nothing but a minute's waiting could go
 * on, all is settled, unless a process has died.
 *
 * What can be left out, to see that it is needed: -DROWS_BEFORE_HOLDS (a claim reads its rows first, then what is held),
 * -DNO_NEW_VERSION (a failed push does not tell others), -DUNTRIED_WAIT (changes that were released after a claim had
 * read what is held, and are set aside untried, wait as if they were under way).
 */

#define IDS 3
#define NO_ID 15

#define ABSENT 0
#define QUEUED 1
#define WAITING 2 /* in rowrelay.refusal */
#define SETTLED 3

#define NOW 0 /* retry_at */
#define SOON 1
#define IN_A_MINUTE 2

/* A minute passes where a process has died. Before the table is mended, it is tried a few times only. */
#define IS_DUE (held && (retry_at != IN_A_MINUTE || crashes == 0) && (is_mended || tries > 0))
#define NEW_VERSION is_outdated[0] = true; is_outdated[1] = true

byte row[IDS + 1];
bool lane_locked[2];
bool target_locked;
bool is_outdated[2]; /* the version of the target that a replicator has read; each new one makes both so */
bool is_mended = false;
byte tries = 2; /* of the table before it is mended */
byte pushed[2];
byte crashes = 1;

bool held; /* the row of rowrelay.hold, as committed */
byte released_to;
byte released;
byte retry_at;
bool all_at_once; /* piece */

#define FIRST(l)                                                                                                       \
  (row[2 - l] == QUEUED -> 2 - l : (l == 1 && row[3] == QUEUED -> 3 : NO_ID))
#define FIRST_WAITING                                                                                                  \
  (row[1] == WAITING -> 1 : (row[2] == WAITING -> 2 : (row[3] == WAITING -> 3 : NO_ID)))

/* Lane 1 has the odd ids, lane 0 the even one. Ids of a lane are committed in order. */
proctype writers() {
  row[1] = QUEUED;
  row[2] = QUEUED;
  row[3] = QUEUED
}

proctype mender() {
  is_mended = true
}

/* rowrelay.release_held() */
inline release_held() {
  atomic { !target_locked -> target_locked = true };
  d_step {
    if
    :: !IS_DUE
    :: IS_DUE ->
      id = FIRST_WAITING;
      if
      :: id == NO_ID -> held = false
      :: else ->
        released_to = id;
        released = 1;
        row[id] = QUEUED;
        if
        :: all_at_once ->
          do
          :: FIRST_WAITING != NO_ID -> released_to = FIRST_WAITING; released++; row[FIRST_WAITING] = QUEUED
          :: else -> break
          od
        :: else
        fi;
        retry_at = IN_A_MINUTE
      fi;
      NEW_VERSION
    fi;
    id = 0;
    target_locked = false
  }
}

/* A change that this claim saw as held, or that the target has not taken. */
inline set_aside(i) {
  row[i] = WAITING;
  first = (first == NO_ID -> i : first)
}

/* settle_held.sql: the change `first` and what follows it is set aside. */
inline hold() {
  if
  :: tried || !held || first - 1 < released_to ->
    released_to = (tried -> 0 : (held && released_to < first - 1 -> released_to : first - 1));
    released = 0;
#ifdef UNTRIED_WAIT
    retry_at = (tried || !held -> SOON : retry_at);
#else
    retry_at = SOON;
#endif
    all_at_once = (tried || !held -> false : all_at_once)
  :: else
  fi;
#ifndef NO_NEW_VERSION
  if
  :: tried || !held -> NEW_VERSION
  :: else
  fi;
#endif
  held = true
}

/* settle_passed.sql: so many changes of a held table have arrived. */
inline count_passed() {
  if
  :: released <= passed -> released = 0; retry_at = NOW; all_at_once = true
  :: else -> released = released - passed
  fi
}

#define CAUGHT(i) (saw_held && i > saw_to)

proctype replicator(bit me) {
  byte lane = 0, id = 0, first = NO_ID, passed = 0, saw_to = 0, one = 0, two = 0;
  bool knows = false, saw_held = false, tried = false;

again:
  atomic {
    is_outdated[me] || FIRST(0) != NO_ID || FIRST(1) != NO_ID || (knows && IS_DUE);
    if
    :: is_outdated[me] -> is_outdated[me] = false; knows = held /* target_settings.sql */
    :: else
    fi
  };
  if
  :: knows && IS_DUE -> release_held()
  :: true
  fi;
  if
  :: FIRST(0) != NO_ID -> lane = 0
  :: FIRST(1) != NO_ID -> lane = 1
  :: else -> goto again
  fi;
  if
  :: atomic { !lane_locked[lane] -> lane_locked[lane] = true } /* claim_lanes.sql */
  :: lane_locked[lane] -> goto again
  fi;
#ifndef ROWS_BEFORE_HOLDS
  atomic { saw_held = held; saw_to = released_to }; /* claim_holds.sql */
#endif
  d_step { /* claim_rows.sql */
    one = FIRST(lane);
    one = (is_outdated[me] -> NO_ID : one);
    two = (one == 1 && row[3] == QUEUED -> 3 : NO_ID)
  };
#ifdef ROWS_BEFORE_HOLDS
  atomic { saw_held = held; saw_to = released_to };
#endif
  if
  :: one == NO_ID -> goto leave
  :: else
  fi;
  d_step { /* the push: all of it, or nothing */
    if
    :: CAUGHT(one) || (!is_mended && tries == 0)
    :: !CAUGHT(one) && !is_mended && tries > 0 -> tried = true; tries--
    :: !CAUGHT(one) && is_mended ->
      assert(one != 3 || pushed[1] > 0);
      passed = (two != NO_ID && !CAUGHT(two) -> 2 : 1);
      pushed[lane] = (passed == 2 || pushed[lane] > one -> 3 : one) /* what comes again is known: zombie.pml */
    fi
  };
  if
  :: d_step { crashes > 0 -> crashes-- }; goto leave
  :: passed == 0 && !tried && !CAUGHT(one) -> goto leave /* a push that fails once more shows nothing new */
  :: passed > 0 && !saw_held -> /* nothing of holds is touched */
    d_step {
      row[one] = SETTLED;
      if
      :: two != NO_ID -> row[two] = SETTLED
      :: else
      fi
    };
    goto leave
  :: tried || CAUGHT(one) || (passed > 0 && saw_held)
  fi;
  atomic { !target_locked -> target_locked = true }; /* hold_lock.sql */
  d_step { /* the settlement, when it commits */
    if
    :: passed > 0 -> row[one] = SETTLED
    :: else -> set_aside(one)
    fi;
    if
    :: two == NO_ID
    :: two != NO_ID && passed == 2 -> row[two] = SETTLED
    :: else -> set_aside(two)
    fi;
    if
    :: first != NO_ID -> hold()
    :: else
    fi;
    if
    :: passed > 0 && saw_held && held -> count_passed()
    :: else
    fi;
    target_locked = false
  };
leave:
  skip;
  d_step {
    lane_locked[lane] = false;
    lane = 0;
    one = 0;
    two = 0;
    first = NO_ID;
    passed = 0;
    tried = false;
    saw_held = false;
    saw_to = 0
  };
  goto again
}

proctype quiet() {
  timeout -> assert(row[1] == SETTLED && row[2] == SETTLED && row[3] == SETTLED)
}

init {
  atomic {
    run writers();
    run mender();
    run replicator(0);
    run replicator(1);
    run quiet()
  }
}
