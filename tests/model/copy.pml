/*
 * A whole-table copy: changes of one row go into a waiting room while the table is copied, and join afterwards what the
 * copy's snapshot does not show. A replicator that delivers may have lost its source (a zombie), and the copying process
 * may die at any moment, and another begins again where the source and the target say it stands.
 *
 * Order: a copy is never overwritten by something older, nor twice by the same (a table without a key would have it
 * twice). Nothing is lost: when all is quiet the target has what the source has.
 *
 * What can be left out, to see that it is needed: -DNO_SWITCH_LOCK (it does not keep writers out while they are switched),
 * -DNO_HOLD (what was queued before stays in the lanes), -DNO_FENCE_RAISE, -DNO_SNAPSHOT_CHECK (all of the waiting room is
 * delivered), -DNO_MARK (who finds the note of a snapshot at the source does not ask the target whether it has it).
 */

#define IDS 3
#define NO_ID 15

/* Where a change is queued. */
#define ABSENT 0
#define OPEN_LANE 1 /* not committed */
#define OPEN_ROOM 2
#define LANE 3
#define ROOM 4
#define SETTLED 5

byte row[IDS + 1];
byte last_id = 0;
byte source_value = 0; /* committed; 0 is the row that was there before */
bool writing;          /* ROW EXCLUSIVE on the table, by who writes the row */
bool trigger_has_room; /* what the trigger function does: rowrelay.waiting_room() */

bool lane_locked;
byte losses = 1;

/* The target: the row there, which is not there at first. */
#define NOTHING 14
byte value = NOTHING;
bool table_locked;   /* by who copies, from looking whether it is empty to its end */
bool is_copied;      /* it came with the copy */
byte mark = NOTHING; /* snapshot that it has */
byte last_token = 0;
byte fence = 0;

#define WAITING 0
#define COPYING 1
#define JOINING 2
#define DONE 3
byte state = WAITING; /* of the backfill, at the source */
byte note = NOTHING;  /* the snapshot that is being copied: the newest change that it shows */
byte deaths = 1;

proctype writers() {
  byte id;
  do
  :: last_id < IDS ->
    writing = true;
    d_step {
      last_id++;
      id = last_id;
      row[id] = (trigger_has_room -> OPEN_ROOM : OPEN_LANE)
    };
    d_step { row[id] = (row[id] == OPEN_ROOM -> ROOM : LANE); source_value = id; writing = false; id = 0 }
  :: else -> break
  od
}

#define FIRST (row[1] == LANE -> 1 : (row[2] == LANE -> 2 : (row[3] == LANE -> 3 : NO_ID)))

inline apply(id) {
  /* it has noted what was pushed to it, see zombie.pml, and leaves that out; but not what was copied */
  assert(value == NOTHING || id > value || (id == value && !is_copied));
  value = id;
  is_copied = false
}

proctype replicator() {
  byte id = 0, token = 0;
  bool zombie = false;
  do
  :: atomic { !lane_locked && FIRST != NO_ID -> lane_locked = true };
    d_step { last_token++; token = last_token; id = FIRST };
    if
    :: id == NO_ID -> lane_locked = false
    :: else ->
      if
      :: true
      :: d_step { losses > 0 -> losses--; lane_locked = false; zombie = true }
      fi;
      if
      :: d_step { token >= fence && !table_locked -> fence = token; apply(id) };
        if
        :: d_step { !zombie -> row[id] = SETTLED; lane_locked = false }
        :: zombie -> skip
        fi
      :: fence > token -> /* fenced: it gives back what it has claimed */
        d_step {
          if
          :: !zombie -> lane_locked = false
          :: else
          fi
        }
      fi
    fi;
    d_step { id = 0; token = 0; zombie = false } /* it connects again */
  od
}

/* Rows of the lanes, to the waiting room. */
inline move_to_room() {
  row[1] = (row[1] == LANE -> ROOM : row[1]);
  row[2] = (row[2] == LANE -> ROOM : row[2]);
  row[3] = (row[3] == LANE -> ROOM : row[3])
}

#ifdef NO_SNAPSHOT_CHECK
#define LEAVES(id) LANE
#else
#define LEAVES(id) (note != NOTHING && id <= note -> SETTLED : LANE)
#endif

/* rowrelay.copy_join(), in order; with copy_finish() under the same lock as the switch. */
inline move_to_lanes() {
  row[1] = (row[1] == ROOM -> LEAVES(1) : row[1]);
  row[2] = (row[2] == ROOM -> LEAVES(2) : row[2]);
  row[3] = (row[3] == ROOM -> LEAVES(3) : row[3])
}

inline may_die() {
  if
  :: true
  :: d_step { deaths > 0 -> deaths--; table_locked = false; snapshot = NOTHING }; goto again
  fi
}

proctype copier() {
  byte snapshot = NOTHING;

again:
  do
  :: state == WAITING -> /* copy_switch() */
#ifdef NO_SWITCH_LOCK
    d_step { trigger_has_room = true; state = COPYING }
#else
    d_step { !writing -> trigger_has_room = true; state = COPYING }
#endif

  :: state == COPYING && note != NOTHING -> /* another process has begun: does the target have it? */
    if
#ifndef NO_MARK
    :: mark == note -> state = JOINING
#endif
    :: mark != note -> note = NOTHING
#ifdef NO_MARK
    :: mark == note -> note = NOTHING
#endif
    fi

  :: state == COPYING && note == NOTHING ->
#ifndef NO_HOLD
    d_step { !lane_locked -> move_to_room() }; /* copy_hold(): again and again, until nothing is in flight */
#endif
#ifndef NO_FENCE_RAISE
    d_step { last_token++; fence = last_token };
#endif
    may_die();
    /* a transaction at the target: it locks the table, and sees whether it is empty */
    table_locked = true;
    if
    :: value != NOTHING ->
      table_locked = false; /* copy_abandon(): changes return as they were; pieces copy the rest, locked row by row */
      d_step { !writing -> state = JOINING; note = NOTHING }
    :: value == NOTHING ->
      snapshot = source_value;
      note = snapshot; /* copy_accept.sql reads it again */
      may_die();
      d_step { /* COPY and the mark, committed at once */
        assert(value == NOTHING);
        value = snapshot;
        is_copied = true;
        mark = snapshot;
        table_locked = false
      };
      may_die();
      state = JOINING
    fi;
    snapshot = NOTHING

  :: state == JOINING ->
    d_step { move_to_lanes() }; /* copy_join() */
    may_die();
    d_step { !writing -> move_to_lanes(); trigger_has_room = false; state = DONE } /* copy_finish() */

  :: state == DONE -> break
  od
}

#define AT_REST(id) (row[id] == SETTLED)

/* Where the copy was given up, the rest is copied otherwise: then only the changes must have arrived. */
proctype quiet() {
  timeout -> assert(state == DONE && AT_REST(1) && AT_REST(2) && AT_REST(3) && value == source_value)
}

init {
  atomic {
    run writers();
    run replicator();
    run replicator();
    run copier();
    run quiet()
  }
}
