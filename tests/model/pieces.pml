/*
 * A backfill in pieces: rows that were there before a route are queued as snapshots among the changes that are captured
 * meanwhile. Here a table of two rows, a piece for each; writers insert, change and delete them, some with the trigger
 * function as it was before the route. The command may die after each statement, and goes on where it was.
 *
 * The mirror has in the end what the source has, and never an older state of a row after a newer one.
 *
 * What can be left out, to see that it is needed: -DNO_ROW_LOCK (a piece does not lock the rows that it reads),
 * -DIDS_BEFORE_ROWS (their ids are given out before the rows are locked and read), -DNO_WAIT_FOR_WRITERS (it begins though
 * somebody still writes who does not know the route), -DPOSITION_FIRST (the new position is on disk before the piece is).
 */

#define ROWS 2
#define IDS 6
#define GONE 0

/* The source. */
byte version[ROWS + 1]; /* of a row: 1, 2, …; GONE: it was deleted */
byte newest[ROWS + 1];  /* the last version that anybody wrote */
bool locked[ROWS + 1];
byte last_id = 0; /* a sequence */
bool has_route = false;
byte old_writers = 0; /* transactions that write to the table and do not know the route */

/* The queue: for each id what it says, when it is committed. */
#define NOTHING 0
#define UPDATE 1
#define DELETE 2
#define SNAPSHOT 3
byte what[IDS + 1];
byte of_row[IDS + 1];
byte says[IDS + 1];
byte open_ids = 0; /* transactions that have an id and have not ended: no floor passes them */
byte delivered = 0;

byte position = 0; /* rowrelay.backfill.position */
bool is_done = false;

byte mirror[ROWS + 1];
byte seen[ROWS + 1];

byte deaths = 1;

/* Inserts, changes or deletes a row. What it inserts nobody sees, or can lock, before it is committed. */
proctype writer(byte r) {
  byte id = 0;
  bool knows = false, deletes = false;

  atomic { /* the trigger runs while the row is locked, and is the one that was there when its statement began */
    !locked[r] ->
    locked[r] = true;
    knows = has_route;
    old_writers = (knows -> old_writers : old_writers + 1);
    if
    :: deletes = (version[r] != GONE)
    :: deletes = false
    fi
  };
  d_step {
    if
    :: knows -> last_id++; id = last_id; open_ids++
    :: else
    fi
  };
  d_step { /* commit */
    newest[r]++;
    version[r] = (deletes -> GONE : newest[r]);
    if
    :: knows ->
      what[id] = (deletes -> DELETE : UPDATE);
      of_row[id] = r;
      says[id] = newest[r];
      open_ids--
    :: else -> old_writers--
    fi;
    locked[r] = false
  }
}

#define NEXT (position + 1)

proctype backfill() {
  byte id = 0, read = 0;
  bool has_lock = false;

  has_route = true;
#ifndef NO_WAIT_FOR_WRITERS
  old_writers == 0; /* all who held a lock on the table then have ended */
#endif
begin:
  do
  :: position == ROWS -> break
  :: position < ROWS ->
#ifdef POSITION_FIRST
    position++;
    if
    :: atomic { deaths > 0 -> deaths--; goto begin }
    :: skip
    fi;
    position--;
#endif
#ifdef IDS_BEFORE_ROWS
    d_step { last_id++; id = last_id; open_ids++ };
#endif
#ifdef NO_ROW_LOCK
    read = version[NEXT];
    d_step { last_id++; id = last_id; open_ids++ };
#else
    if /* FOR SHARE: waits for who has locked the row, and reads what is then */
    :: atomic { version[NEXT] != GONE && !locked[NEXT] -> locked[NEXT] = true; has_lock = true; read = version[NEXT] }
    :: atomic { version[NEXT] == GONE -> read = GONE }
    fi;
#ifndef IDS_BEFORE_ROWS
    d_step { last_id++; id = last_id; open_ids++ };
#endif
#endif
    if
    :: atomic { /* it dies, and its transaction rolls back */
         deaths > 0 ->
         deaths--;
         open_ids--;
         locked[NEXT] = (has_lock -> false : locked[NEXT]);
         has_lock = false;
         id = 0;
         goto begin
       }
    :: d_step { /* commit: the piece and the position at once */
         what[id] = (read == GONE -> NOTHING : SNAPSHOT);
         of_row[id] = NEXT;
         says[id] = read;
         open_ids--;
         locked[NEXT] = (has_lock -> false : locked[NEXT]);
         has_lock = false;
         position++;
         id = 0;
         read = 0
       }
    fi
  od;
  is_done = true
}

/* In order of ids; none is passed that somebody may still commit. */
proctype replicator() {
  byte id;

  do
  :: d_step {
       delivered < last_id && (what[delivered + 1] != NOTHING || open_ids == 0) ->
       delivered++;
       id = delivered;
       if
       :: what[id] == NOTHING -> skip
       :: else ->
         assert(says[id] >= seen[of_row[id]]);
         seen[of_row[id]] = says[id];
         mirror[of_row[id]] = (what[id] == DELETE -> GONE : says[id])
       fi;
       id = 0
     }
  od
}

proctype quiet() {
  timeout -> assert(is_done && mirror[1] == version[1] && mirror[2] == version[2])
}

init {
  atomic {
    version[1] = 1; /* row 2 is not there yet */
    newest[1] = 1;
    run writer(1);
    run writer(1);
    run writer(2);
    run backfill();
    run replicator();
    run quiet()
  }
}
