/*
 * Refused changes and retry: three changes of one key; the target refuses one once, later ones of the key wait behind
 * it (on_error=block), and a person retries it, at any moment.
 *
 * Order: the target gets the key's changes in order. Nothing is lost: when all is quiet, all is settled, though
 * processes remember up to which id the lane is empty.
 *
 * What can be left out, to see that it is needed: -DLOOK_BEFORE_LOCK (the claim takes what it saw before it had the lane),
 * -DNO_RETRY_LOCK (retry does not lock the lane), -DNO_REWIND (it does not tell processes to look from there again),
 * -DNO_VERSION_CHECK (a claim does not look whether that happened since).
 */

#define IDS 3
#define NO_ID 15

#define ABSENT 0
#define QUEUED 1
#define SETTLED 2
#define REFUSED 3 /* in rowrelay.refusal: by the target, or because it waits behind one that is */

byte row[IDS + 1];
bool taken[IDS + 1]; /* a claim has deleted it, and not committed: others wait for it, or leave it out */
bool lane_locked;
byte version = 1; /* of the target */
byte pushed = 0;
bool may_refuse = true;
byte crashes = 1;

#define FIRST(floor)                                                                                                   \
  (row[1] == QUEUED && floor < 1 -> 1 : (row[2] == QUEUED && floor < 2 -> 2 : (row[3] == QUEUED && floor < 3 -> 3 : NO_ID)))
#define ANY_REFUSED (row[1] == REFUSED || row[2] == REFUSED || row[3] == REFUSED)

/* One row, so that they commit in order. */
proctype writers() {
  row[1] = QUEUED;
  row[2] = QUEUED;
  row[3] = QUEUED
}

inline put_back() {
  row[1] = (row[1] == REFUSED -> QUEUED : row[1]);
  row[2] = (row[2] == REFUSED -> QUEUED : row[2]);
  row[3] = (row[3] == REFUSED -> QUEUED : row[3]);
#ifndef NO_REWIND
  version++
#endif
}

proctype person() {
  do
  :: ANY_REFUSED && version < 4 ->
#ifdef NO_RETRY_LOCK
    d_step { ANY_REFUSED -> put_back() }
#else
    atomic { !lane_locked -> lane_locked = true }; /* rowrelay.lock_lanes() */
    d_step { put_back() };
    lane_locked = false /* commit */
#endif
  od
}

/* Some older change of the key is refused: blocked_keys.sql. */
#define HAS_TO_WAIT                                                                                                    \
  ((id > 1 && row[1] == REFUSED) || (id > 2 && row[2] == REFUSED))

inline release() {
  taken[id] = false;
  lane_locked = false;
  id = 0
}

proctype replicator() {
  byte floor = 0, known = 1, first = 0, id = 0;

again:
  atomic {
    known != version || FIRST(floor) != NO_ID;
    if
    :: known != version -> known = version; floor = 0 /* the floor that is stored at the source */
    :: else
    fi;
    first = FIRST(floor); /* claim_lanes.sql */
    if /* read_lanes(): the horizon is beyond what is committed here */
    :: first == NO_ID && row[3] != ABSENT -> floor = 3
    :: first == 2 || first == 3 -> floor = first - 1
    :: else
    fi
  };
  if
  :: first == NO_ID -> first = 0
  :: else ->
    if
    :: atomic { !lane_locked -> lane_locked = true }; /* for update skip locked */
      d_step { /* claim_rows.sql */
#ifdef LOOK_BEFORE_LOCK
        id = (row[first] == QUEUED && !taken[first] -> first : NO_ID); /* FOR UPDATE leaves out what is gone */
#else
        id = FIRST(floor);
#ifndef NO_VERSION_CHECK
        id = (known != version -> NO_ID : id);
#endif
#endif
        first = 0
      };
      if
      :: id == NO_ID -> d_step { id = 0; lane_locked = false }
      :: HAS_TO_WAIT && id != NO_ID -> d_step { row[id] = REFUSED; release() }
      :: !HAS_TO_WAIT && id != NO_ID ->
        taken[id] = true;
        if
        :: d_step { assert(id == pushed || id == pushed + 1); pushed = id };
          if
          :: d_step { row[id] = SETTLED; release() }
          :: d_step { crashes > 0 -> crashes--; floor = 0; release() }
          fi
        :: d_step { may_refuse -> may_refuse = false; row[id] = REFUSED; release() }
        :: d_step { crashes > 0 -> crashes--; floor = 0; release() }
        fi
      fi
    :: lane_locked -> first = 0
    fi
  fi;
  goto again
}

proctype quiet() {
  timeout -> assert(row[1] == SETTLED && row[2] == SETTLED && row[3] == SETTLED)
}

init {
  atomic {
    run writers();
    run person();
    run replicator();
    run replicator();
    run quiet()
  }
}
