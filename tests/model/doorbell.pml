/*
 * The doorbell: processes that have nothing to do sleep, and writers notify only while the bell is armed, for a number
 * of changes.
 *
 * Nothing is lost: nobody sleeps for good while a committed change waits. A periodic look at the bell alone, no poll of
 * the queue, is all that a sleeping process does.
 *
 * What can be left out, to see that it is needed: -DNO_LOOK_AFTER_ARMING, -DNO_WAIT_FOR_WRITERS (it sleeps after that
 * look, though who read the flag before may commit later), -DNO_BELL_CHECK (it does not look whether the bell is still
 * armed: it is not after some changes, also of transactions that rolled back).
 */

#define WRITERS 3
#define PROCESSES 2
#define RINGS 1 /* for how many changes after arming writers ring */

byte last_id = 0;
byte bell = 0; /* the sequence rowrelay.doorbell: rings for ids up to here */
bool writing[WRITERS];
bit waiting = 0; /* whether a committed change is not delivered */
bool notified[PROCESSES];

proctype writer(byte me) {
  bool rings;
  writing[me] = true;                             /* locks the log, */
  d_step { last_id++; rings = (last_id <= bell) } /* takes the id and reads the flag, */
  atomic { /* and commits: NOTIFY goes to all that listen. Or it rolls back. */
    if
    :: waiting = 1;
      if
      :: rings -> notified[0] = true; notified[1] = true
      :: else
      fi
    :: skip
    fi;
    writing[me] = false;
    rings = false
  }
}

#define POLL waiting = 0

inline list_writers() {
  listed = (writing[0] -> 1 : 0) | (writing[1] -> 2 : 0) | (writing[2] -> 4 : 0);
  now = 0
}

#define LISTED_STILL_WRITE                                                                                             \
  (((listed & 1) && writing[0]) || ((listed & 2) && writing[1]) || ((listed & 4) && writing[2]))

proctype process(byte me) {
  byte value = 0, listed = 0, now = 0;

awake:
  POLL;
  /* doorbell_arm.sql, then horizon_mark(): sees the sequence at once, whoever is in a transaction */
  d_step { bell = last_id + RINGS; value = bell };
  d_step { list_writers() };
#ifndef NO_LOOK_AFTER_ARMING
  POLL;
#endif

armed: /* polls in short steps until these writers have ended */
  if
  :: notified[me] -> notified[me] = false; goto rung
#ifdef NO_WAIT_FOR_WRITERS
  :: true
#else
  :: !LISTED_STILL_WRITE -> /* horizon_passed(), and then a last look */
    listed = 0;
#ifndef NO_LOOK_AFTER_ARMING
    POLL
#endif
#endif
  fi;

  /* asleep */
  listed = 0;
  if
  :: notified[me] -> notified[me] = false
#ifndef NO_BELL_CHECK
  :: bell <= last_id -> goto awake /* once a second */
#endif
  fi;

rung: /* doorbell_disarm.sql: unless another process has armed it since */
  listed = 0;
  d_step {
    if
    :: bell == value -> bell = 0
    :: else
    fi;
    value = 0
  };
  goto awake
}

proctype quiet() {
  timeout -> assert(waiting == 0)
}

init {
  atomic {
    run writer(0);
    run writer(1);
    run writer(2);
    run process(0);
    run process(1);
    run quiet()
  }
}
