/*
 * Leases (claim=lease): a claim is committed with a lease of its lane, and pushes outside any transaction, here to a
 * target without fences. A process may hang for longer than its lease, and come back. A person has delivered changes
 * delivered once more (replay), when no batch is in flight.
 *
 * Order: the target never goes back, but by a replay. Nothing is lost: what is settled was pushed since it was queued.
 *
 * What can be left out, to see that it is needed: -DNO_LEASE_CHECK (a lane is claimed though it is leased),
 * -DLOOK_BEFORE_LOCK (what is claimed was seen before the lane was locked), -DNO_HOLDER_CHECK (who settles does not look
 * whether the lease is still its own), -DNO_DEADLINE (a push may arrive when its lease is over), -DNO_REPLAY_LOCK (replay
 * does not wait for what is in flight).
 */

#define IDS 2 /* of one key */
#define NO_ID 15

#define QUEUED 0
#define SETTLED 1

byte row[IDS + 1];
bool due[IDS + 1]; /* queued, and not pushed since */
bool lane_locked;  /* FOR UPDATE, until the claim is committed */

/* rowrelay.lease */
byte holder = 0; /* process_id: each claim has one of its own */
bool live;       /* lease_until is in the future */

#define CLAIMS 8
byte last_claim = 0;
bool over[CLAIMS + 1]; /* its deadline has passed */
byte value = 0; /* at the target; a replay begins anew */
byte expiries = 2;

#define FIRST (row[1] == QUEUED -> 1 : (row[2] == QUEUED -> 2 : NO_ID))

proctype replicator() {
  byte id = 0, mine = 0, first = 0;

  do
  :: atomic { FIRST != NO_ID && !live && last_claim < CLAIMS -> first = FIRST }; /* claim_lanes.sql */
    if
    :: atomic { !lane_locked -> lane_locked = true };
      d_step { /* claim_rows_leased.sql, then claim_lease.sql */
#ifdef LOOK_BEFORE_LOCK
        id = (live -> NO_ID : first);
#else
#ifdef NO_LEASE_CHECK
        id = FIRST;
#else
        id = (live -> NO_ID : FIRST);
#endif
#endif
        if
        :: id != NO_ID -> last_claim++; mine = last_claim; holder = mine; live = true
        :: else
        fi;
        first = 0;
        lane_locked = false /* commit */
      };
      if
      :: id == NO_ID -> id = 0
      :: else ->
        if /* lease_renew.sql, right before the push */
        :: d_step { holder == mine -> live = true; over[mine] = false };
          if
#ifdef NO_DEADLINE
          :: d_step { true ->
#else
          :: d_step { !over[mine] -> /* push_timeout is shorter than the lease */
#endif
               assert(id >= value);
               value = id;
               due[id] = false
             };
            if /* lease_end.sql and the settlement, in one transaction */
#ifdef NO_HOLDER_CHECK
            :: d_step { true ->
#else
            :: d_step { holder == mine ->
#endif
                 assert(!due[id]);
                 row[id] = SETTLED;
                 live = false;
                 holder = 0
               }
            :: holder != mine -> skip /* too late: nothing is settled */
            fi
          :: over[mine] -> skip /* the push was cut off */
          fi
        :: holder != mine -> skip
        fi;
        d_step { id = 0; mine = 0 }
      fi
    :: lane_locked -> first = 0
    fi
  od
}

proctype clock() {
  do
  :: d_step { live && expiries > 0 -> live = false; over[holder] = true; expiries-- }
  od
}

proctype person() {
  atomic { row[1] == SETTLED && !lane_locked -> lane_locked = true };
#ifndef NO_REPLAY_LOCK
  /* rowrelay.lock_lanes(): waits for the lease, then makes it nobody's */
  d_step { !live -> holder = 0 };
#endif
  d_step { row[1] = QUEUED; row[2] = QUEUED; due[1] = true; due[2] = true; value = 0; lane_locked = false }
}

proctype quiet() {
  timeout -> assert(last_claim >= CLAIMS || (row[1] == SETTLED && row[2] == SETTLED && value == 2))
}

init {
  atomic {
    due[1] = true;
    due[2] = true;
    run replicator();
    run replicator();
    run clock();
    run person();
    run quiet()
  }
}
