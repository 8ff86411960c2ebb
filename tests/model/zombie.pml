/*
 * Fences: a process may lose its source while it pushes, and go on: the server rolls its claim back, another process
 * claims the same rows, and both push. The source itself may crash, and forget what was not yet on disk.
 *
 * Order: the target never goes back. Once: no change is applied twice, which a table without a key would show.
 *
 * What can be left out, to see that it is needed: -DNO_FENCE, -DFENCE_APART (it is passed in a transaction of its own, not
 * in that of the data), -DNO_APPLIED (the target does not note what it has applied), -DNO_DURABLE_SETTLEMENT (the
 * settlement is not on disk before the next push).
 */

#define IDS 2 /* of one key */
#define REPLICATORS 2
#define NO_ID 15

#define QUEUED 0
#define SETTLED 1

byte row[IDS + 1];
bool on_disk[IDS + 1]; /* its settlement */
byte lane_locked = 0;  /* by whom */
byte last_token = 0;   /* a sequence */
byte losses = 2;

/* The target. */
byte fence = 0;
bool fence_locked; /* its row, by an open transaction */
bool applied[IDS + 1];
byte value = 0;

#define FIRST (row[1] == QUEUED -> 1 : (row[2] == QUEUED -> 2 : NO_ID))

proctype replicator(byte me) {
  byte id = 0, token = 0;
  bool again;

  do
  :: atomic { lane_locked == 0 && FIRST != NO_ID -> lane_locked = me };
    d_step { last_token++; token = last_token }; /* when the lane is locked, before the rows are read */
    if
    :: lane_locked == me -> id = FIRST
    :: else -> id = NO_ID /* the source is lost already */
    fi;
    if
    :: id == NO_ID -> skip
    :: else ->
      /* fence_pass.sql, at the target: waits for who has passed and not committed */
      atomic { !fence_locked -> fence_locked = true };
      if
#ifndef NO_FENCE
      :: fence > token -> fence_locked = false /* fenced */
#endif
      :: atomic {
#ifndef NO_FENCE
           fence <= token ->
#endif
           again = applied[id]
         };
#ifdef FENCE_APART
        fence = token;
        fence_locked = false;
        atomic { !fence_locked -> fence_locked = true };
#endif
        d_step { /* the data, the fence and fence_note.sql become visible at once */
          fence = token;
          if
          :: !again ->
            assert(id >= value);
#ifndef NO_APPLIED
            assert(!applied[id]);
#endif
            value = id
          :: else
          fi;
#ifdef NO_APPLIED
          assert(!applied[id]);
          again = false;
#endif
          applied[id] = true;
          applied[1] = (id == 2 -> false : applied[1]); /* everything below the claim's first id is settled */
          fence_locked = false;
          again = false
        };
        /* settle: only who still has the source can */
        if
        :: atomic {
             lane_locked == me ->
             row[id] = SETTLED;
#ifndef NO_DURABLE_SETTLEMENT
             on_disk[id] = true;
#endif
             lane_locked = 0
           }
        :: lane_locked != me -> skip
        fi
      fi
    fi;
    atomic {
      if
      :: lane_locked == me -> lane_locked = 0
      :: else
      fi;
      id = 0;
      token = 0;
      again = false
    }
  od
}

/* A connection breaks, or the server restarts: claims roll back, and their processes do not know yet. */
proctype source() {
  do
  :: atomic { losses > 0 && lane_locked != 0 -> losses--; lane_locked = 0 }
  :: atomic {
       losses > 0 -> losses--;
       lane_locked = 0;
       row[1] = (on_disk[1] -> row[1] : QUEUED);
       row[2] = (on_disk[2] -> row[2] : QUEUED)
     }
  :: atomic { row[1] == SETTLED && !on_disk[1] -> on_disk[1] = true } /* the server writes it some time */
  od
}

proctype quiet() {
  timeout -> assert(row[1] == SETTLED && row[2] == SETTLED && value == 2)
}

init {
  atomic {
    run replicator(1);
    run replicator(2);
    run source();
    run quiet()
  }
}
