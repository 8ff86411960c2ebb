/*
 * Guarantee at-most-once: what is claimed leaves the queue before it is pushed, and counts as refused until its fate is
 * known. A process may die at any moment, hang for longer than its lease and come back, and get no answer; the source may
 * crash and forget what was not yet on disk.
 *
 * Once: no change arrives twice. Order: the target never goes back. Nothing is lost silently: what did not arrive is
 * listed, or waits in the queue.
 *
 * What can be left out, to see that it is needed: -DNO_TAKE_OUT (it leaves the queue when it is settled), -DNO_LISTING (it
 * is not recorded as refused meanwhile), -DNO_DURABLE_CLAIM (the claim is not on disk before the push), -DUNKNOWN_RETURNS
 * (a push without an answer is given back), -DNO_HOLDER_CHECK (who settles does not look whether the lease is still its
 * own), -DNO_DEADLINE (a push may arrive when its lease is over).
 */

#define IDS 2 /* of one key */
#define NO_ID 15

#define QUEUED 0
#define LISTED 1 /* rowrelay.refusal: it was sent, and nobody knows whether it arrived */
#define ARRIVED 2
#define GONE 3 /* nobody knows of it any more */

#define UNSENT 0 /* surely: there was no connection */
#define UNKNOWN 1
#define ANSWERED 2

byte state[IDS + 1];
bool lane_locked; /* FOR UPDATE, until the claim is committed */

/* rowrelay.lease */
byte holder = 0; /* process_id: each claim has one of its own */
bool live;       /* lease_until is in the future */
byte claimed = 0; /* by the last claim, which is not on disk yet */

#define CLAIMS 6
byte last_claim = 0;
bool over[CLAIMS + 1]; /* its deadline has passed */
byte arrived[IDS + 1];
byte value = 0; /* at the target */
byte expiries = 2;
byte crashes = 1;
byte deaths = 1;

#define FIRST (state[1] == QUEUED -> 1 : (state[2] == QUEUED -> 2 : NO_ID))

inline arrive() {
  arrived[id]++;
  assert(arrived[id] == 1);
  assert(id >= value);
  value = id
}

proctype replicator() {
  byte id = 0, mine = 0, fate = UNSENT;

  do
  :: atomic { FIRST != NO_ID && !live && !lane_locked && last_claim < CLAIMS -> lane_locked = true };
    d_step { /* claim_rows_leased.sql, lease_at_most_once.sql, claim_lease.sql, commit */
      id = (live -> NO_ID : FIRST);
      if
      :: id != NO_ID ->
        last_claim++;
        mine = last_claim;
        holder = mine;
        live = true;
#ifndef NO_TAKE_OUT
#ifdef NO_LISTING
        state[id] = GONE;
#else
        state[id] = LISTED;
#endif
#endif
#ifdef NO_DURABLE_CLAIM
        claimed = id
#endif
      :: else
      fi;
      lane_locked = false
    };
    if
    :: id == NO_ID -> id = 0
    :: else ->
      if
      :: atomic { deaths > 0 -> deaths-- } /* it dies; another one begins here, and knows nothing of the claim */
      :: d_step { holder == mine -> live = true; over[mine] = false }; /* lease_renew.sql, right before the push */
        if
        :: fate = UNSENT
#ifdef NO_DEADLINE
        :: d_step { true ->
#else
        :: d_step { !over[mine] -> /* push_timeout is shorter than the lease */
#endif
             arrive();
             fate = ANSWERED
           }
#ifdef NO_DEADLINE
        :: d_step { true ->
#else
        :: d_step { !over[mine] ->
#endif
             arrive();
             fate = UNKNOWN
           }
        :: fate = UNKNOWN /* it was lost on its way */
        fi;
        if
        :: atomic { deaths > 0 -> deaths-- }
#ifdef NO_HOLDER_CHECK
        :: d_step { true ->
#else
        :: d_step { holder == mine -> /* lease_end.sql and the settlement, in one transaction */
#endif
             if
             :: fate == ANSWERED -> state[id] = ARRIVED
             :: fate == UNSENT -> state[id] = QUEUED
#ifdef UNKNOWN_RETURNS
             :: fate == UNKNOWN -> state[id] = QUEUED
#else
             :: fate == UNKNOWN -> skip /* it stays listed */
#endif
             fi;
             claimed = 0;
             live = false;
             holder = 0
           }
        :: holder != mine -> skip /* too late: nothing is settled */
        fi
      :: holder != mine -> skip
      fi;
      d_step { id = 0; mine = 0; fate = UNSENT }
    fi
  od
}

proctype clock() {
  do
  :: d_step { live && expiries > 0 -> live = false; over[holder] = true; expiries-- }
  od
}

/* Its crash undoes a claim that is not on disk; the process does not know yet. */
proctype source() {
  d_step { crashes > 0 && claimed != 0 -> crashes--; state[claimed] = QUEUED; claimed = 0; live = false; holder = 0 }
}

#define KNOWN(id) (state[id] == LISTED || (arrived[id] == 1 && state[id] == ARRIVED))

proctype quiet() {
  timeout -> assert(last_claim >= CLAIMS || live || (KNOWN(1) && KNOWN(2)));
  assert(state[1] != GONE && state[2] != GONE || live)
}

init {
  atomic {
    run replicator();
    run replicator();
    run clock();
    run source();
    run quiet()
  }
}
