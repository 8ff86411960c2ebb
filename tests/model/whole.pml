/*
 * Whole transactions: a target with one lane gets them undivided, in an order in which every key is. Ids of concurrent
 * transactions interleave: A changes x, then k; B changes k, then y; k is locked until the end of who changed it first. C
 * is a barrier of somebody else (a truncate of another table), whose id may be between two of one of them. A process may
 * lose its claim after its push; what comes again is known to the target (see zombie.pml).
 *
 * A reader of the target never sees a part of A or of B, and k never goes back.
 *
 * What can be left out, to see that it is needed: -DBY_ID (the lowest ids are taken, as many as fit), -DBY_FIRST
 * (transactions are taken in the order of their first changes), -DBARRIER_CUTS (what is queued before a barrier is taken
 * before it, whoever goes on behind it).
 */

#define IDS 5
#define MOST 3 /* rows of a batch */

#define A 0
#define B 1
#define C 2
#define TRANSACTIONS 3
#define NOBODY 15

#define NOTHING 0
#define OPEN 1 /* its transaction has not ended */
#define QUEUED 2
#define SETTLED 3

byte state[IDS + 1];
byte maker[IDS + 1];
bool on_k[IDS + 1];
byte last_id = 0; /* a sequence */
bool k_locked;
byte size[TRANSACTIONS];

bool lane_locked;
byte losses = 1;

/* The target. */
bool applied[IDS + 1];
byte arrived[TRANSACTIONS];
byte k = 0;

inline change(is_k) {
  d_step {
    last_id++;
    state[last_id] = OPEN;
    maker[last_id] = me;
    on_k[last_id] = is_k;
    size[me]++
  }
}

inline commit() {
  d_step {
    i = 1;
    do
    :: i > IDS -> break
    :: else ->
      if
      :: state[i] == OPEN && maker[i] == me -> state[i] = QUEUED
      :: else
      fi;
      i++
    od;
    i = 0
  }
}

proctype writer(byte me) {
  byte i = 0;

  if
  :: me == A ->
    change(false);
    atomic { !k_locked -> k_locked = true };
    change(true)
  :: me == B ->
    atomic { !k_locked -> k_locked = true };
    change(true);
    change(false)
  :: me == C -> change(false)
  fi;
  atomic {
    commit();
    if
    :: me != C -> k_locked = false
    :: else
    fi
  }
}

#ifdef BARRIER_CUTS
#define GOES(i) (best == C || first[C] == 0 || i < first[C])
#else
#define GOES(i) (true)
#endif

/* Chooses what is taken: taken[id]. */
inline choose() {
  d_step {
    rows = 0;
    i = 1;
    do /* where each transaction that is queued begins and ends */
    :: i > IDS -> break
    :: else ->
      taken[i] = false;
      if
#ifdef BARRIER_CUTS
      :: first[C] != 0 -> skip
#endif
      :: state[i] == QUEUED && first[maker[i]] == 0 -> first[maker[i]] = i; last[maker[i]] = i
      :: state[i] == QUEUED && first[maker[i]] != 0 -> last[maker[i]] = i
      :: else
      fi;
      i++
    od;
#ifdef BY_ID
    i = 1;
    do
    :: i > IDS -> break
    :: else ->
      if
      :: state[i] == QUEUED && rows < MOST && (maker[i] != C || rows == 0) && !(rows > 0 && taken[first[C]]) ->
        taken[i] = true;
        rows++
      :: else
      fi;
      i++
    od;
#else
    do
    :: best = NOBODY;
      t = 0;
      do
      :: t == TRANSACTIONS -> break
      :: else ->
        if
        :: first[t] == 0 -> skip
#ifdef BY_FIRST
        :: first[t] != 0 && (best == NOBODY || first[t] < first[best]) -> best = t
#else
        :: first[t] != 0 && (best == NOBODY || last[t] < last[best]) -> best = t
#endif
        :: else
        fi;
        t++
      od;
      if
      :: best == NOBODY -> break
      :: best == C && rows > 0 -> break /* it comes alone */
      :: best != NOBODY && !(best == C && rows > 0) ->
        need = 0;
        i = 1;
        do
        :: i > IDS -> break
        :: else -> need = need + (state[i] == QUEUED && maker[i] == best); i++
        od;
        if
        :: rows + need > MOST -> break
        :: else ->
          i = 1;
          do
          :: i > IDS -> break
          :: else ->
            if
            :: state[i] == QUEUED && maker[i] == best && GOES(i) -> taken[i] = true; rows++
            :: else
            fi;
            i++
          od;
          first[best] = 0;
          if
          :: best == C -> break
          :: else
          fi
        fi
      fi
    od;
#endif
    i = 1;
    do
    :: i > IDS -> break
    :: else -> first[maker[i]] = 0; last[maker[i]] = 0; i++
    od;
    i = 0; t = 0; best = 0; need = 0
  }
}

proctype replicator() {
  byte i = 0, t = 0, best = 0, need = 0, rows = 0;
  byte first[TRANSACTIONS], last[TRANSACTIONS];
  bool taken[IDS + 1];

  do
  :: atomic { !lane_locked -> lane_locked = true };
    choose();
    if
    :: rows == 0 -> skip
    :: rows > 0 ->
      d_step { /* a push is one transaction of the target */
        i = 1;
        do
        :: i > IDS -> break
        :: else ->
          if
          :: taken[i] && !applied[i] ->
            applied[i] = true;
            arrived[maker[i]]++;
            if
            :: on_k[i] -> assert(i > k); k = i
            :: else
            fi
          :: else
          fi;
          i++
        od;
        i = 0;
        assert(arrived[A] == 0 || arrived[A] == 2);
        assert(arrived[B] == 0 || arrived[B] == 2)
      };
      if
      :: atomic { losses > 0 -> losses-- }
      :: d_step {
           i = 1;
           do
           :: i > IDS -> break
           :: else ->
             if
             :: taken[i] -> state[i] = SETTLED
             :: else
             fi;
             i++
           od;
           i = 0
         }
      fi
    fi;
    d_step {
      rows = 0;
      i = 1;
      do
      :: i > IDS -> break
      :: else -> taken[i] = false; i++
      od;
      i = 0;
      lane_locked = false
    }
  od
}

init {
  atomic {
    run writer(A);
    run writer(B);
    run writer(C);
    run replicator();
    run replicator()
  }
}
