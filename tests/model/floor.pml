/*
 * Ids and floors: writers take ids and commit late, or never; processes remember up to which id a lane is empty.
 *
 * Nothing is lost: a floor never passes an id that may still come or waits, and when all is quiet all is settled.
 * Order: per key the target never goes back.
 *
 * What can be left out, to see that it is needed: -DNO_WRITER_LIST, -DLIST_BEFORE_LAST_ID.
 */

#define WRITERS 3 /* all in one lane; the first and the last write the same key */
#define KEYS 2
#define NO_ID 15

#ifndef CRASHES
#define CRASHES 1
#endif

/* A row of the queue: not there (yet, or rolled back), written but not committed, to be seen by all, settled. */
#define ABSENT 0
#define OPEN 1
#define QUEUED 2
#define SETTLED 3

byte last_id = 0; /* the sequence */
byte row[WRITERS + 1];
byte key_of[WRITERS + 1];
bool writing[WRITERS]; /* holds RowExclusiveLock on rowrelay.change */

bool key_locked[KEYS]; /* by who writes the application's row, to its end */
bool lane_locked;      /* a row of rowrelay.lane, FOR UPDATE */
byte pushed[KEYS];     /* the last change of each key that the target has got */
byte crashes = CRASHES;

proctype writer(byte w; byte key) {
  byte id;
  atomic { !key_locked[key] -> key_locked[key] = true };
  writing[w] = true; /* the trigger locks the log before it takes the number */
  d_step { last_id++; id = last_id; row[id] = OPEN; key_of[id] = key };
  atomic {
    if
    :: row[id] = QUEUED
    :: row[id] = ABSENT /* it rolls back, and leaves a gap */
    fi;
    writing[w] = false;
    key_locked[key] = false;
    id = 0
  }
}

/* The first row above the floor that all can see; NO_ID: there is none. */
inline first_of(floor, found) {
  found = NO_ID;
  i = floor + 1;
  do
  :: i <= WRITERS ->
    if
    :: row[i] == QUEUED && found == NO_ID -> found = i
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

/* Nothing at or below the floor may still come, or wait. */
inline raise_floor(to) {
  if
  :: to > floor ->
    floor = to;
    i = 1;
    do
    :: i <= to -> assert(row[i] != OPEN && row[i] != QUEUED); i++
    :: else -> break
    od;
    i = 0
  :: else
  fi
}

inline list_writers(into) {
  into = 0;
  i = 0;
  do
  :: i < WRITERS ->
    if
    :: writing[i] -> into = into | (1 << i)
    :: else
    fi;
    i++
  :: else -> break
  od
}

inline learn() {
  if
  :: now == 0 -> horizon = seen_id; has_list = false
  :: now != 0 && has_list && (now & listed) == 0 -> horizon = candidate; candidate = seen_id; listed = now
  :: now != 0 && !has_list -> candidate = seen_id; listed = now; has_list = true
  :: else /* some of them are left: the older candidate waits for them */
  fi;
#ifdef NO_WRITER_LIST
  horizon = seen_id;
#endif
  seen_id = 0;
  now = 0
}

/* The process is gone, with its connection: its lock is free, its delete is undone, and what it knew is forgotten. */
inline die() {
  crashes--;
  lane_locked = false;
  horizon = 0;
  has_list = false;
  listed = 0;
  candidate = 0;
  floor = 0;
  id = 0
}

proctype replicator() {
  byte floor = 0, first = 0, horizon = 0, candidate = 0, listed = 0, now = 0, seen_id = 0, id = 0, i = 0;
  bool has_list = false;

again:
  if
  :: horizon < last_id -> /* horizon_advance() */
#ifdef LIST_BEFORE_LAST_ID
    d_step { list_writers(now); i = 0 };
    d_step { seen_id = last_id; learn() }
#else
    seen_id = last_id;
    d_step { list_writers(now); learn(); i = 0 }
#endif

  :: (horizon > floor || (floor < 1 && row[1] == QUEUED) || (floor < 2 && row[2] == QUEUED) ||
      (floor < 3 && row[3] == QUEUED)) -> /* else it would find nothing */
    d_step { first_of(floor, first) }; /* claim_lanes.sql */
    d_step { /* read_lanes(): what is empty up to the horizon has been seen */
      if
      :: first <= horizon -> raise_floor(first - 1)
      :: else -> raise_floor(horizon)
      fi
    };
    if
    :: first == NO_ID -> first = 0
    :: else ->
      first = 0;
      if
      :: atomic { !lane_locked -> lane_locked = true }; /* for update skip locked */
        d_step { first_of(floor, id) }; /* claim_rows.sql: a statement that begins now */
        if
        :: id == NO_ID -> d_step { id = 0; lane_locked = false }
        :: else ->
          if
          :: d_step { assert(id >= pushed[key_of[id]]); pushed[key_of[id]] = id };
            if
            :: d_step { row[id] = SETTLED; lane_locked = false; id = 0 }
            :: d_step { crashes > 0 -> die() }
            fi
          :: d_step { crashes > 0 -> die() }
          fi
        fi
      :: lane_locked -> skip /* busy */
      fi
    fi
  fi;
  goto again
}

/* When nobody can do anything any more, all is settled. */
proctype quiet() {
  timeout -> assert((row[1] == ABSENT || row[1] == SETTLED) && (row[2] == ABSENT || row[2] == SETTLED) &&
                    (row[3] == ABSENT || row[3] == SETTLED))
}

init {
  atomic {
    run writer(0, 0);
    run writer(1, 1);
    run writer(2, 0);
    run replicator();
    run quiet()
  }
}
