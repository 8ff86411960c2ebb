/*
 * stage: what a run happens on: a directory with two servers (tests/support/pg.sh), the processes of the run, and words
 * to speak to both. Everything that a run leaves behind is a text file in its directory, for the checker.
 */
#ifndef ROWRELAY_CHAOS_STAGE_H
#define ROWRELAY_CHAOS_STAGE_H

#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define RELAYS 4     /* processes of `rowrelay run`; */
#define RELAY_OF_X 3 /* this one delivers to targets x and w, and nothing else does; */

#define DISK_BYTES (4ULL << 30) /* of a server, where it has a disk of its own; chaos.sh mounts it */

/* Shared by all processes of a run. */
struct shared {
  atomic_bool writing;       /* writers are to write */
  atomic_bool over;          /* pollers are to end */
  atomic_int relays[RELAYS]; /* pids; 0: it does not run */
  atomic_int restarting;     /* a server is down on purpose: so many faults are at it */
  atomic_int webhook_port;
  atomic_bool healthy;   /* the webhook's receiver fails no more */
  atomic_bool drifting;  /* somebody changes what target w receives */
  atomic_bool renewing;  /* somebody makes target x anew */
  atomic_bool half_made; /* and nobody has come to the end of that */
  atomic_int lulls;      /* nobody writes for a moment: so many faults want that */
  atomic_bool resting;   /* nobody writes or delivers: somebody restores the source from a dump */
};

struct stage {
  const char *dir;     /* of this run */
  const char *root;    /* of the checkout */
  const char *program; /* rowrelay */
  uint64_t seed;
  double seconds;
  long source_offset; /* where the source has a clock of its own: seconds by which it is ahead until there is peace */
  bool has_all;       /* those faults too that happen on request only */
  const char *stream; /* URL of the stream at a Redis server in DIR/redis; NULL: there is none */
  struct shared *shared;
};

/* Says something with the time, on stdout; the lines tell what was done to whom. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and ends the run. Something is wrong with the run itself. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

double now(void);
void pause_for(double seconds);

/* A child that ends with its parent; 0 in the child. */
pid_t split(void);
/* Runs a program of tests/support or of rowrelay, and gives its status; its output goes to DIR/NAME.log. */
int run_program(const struct stage *stage, const char *log, const char *const words[]);

/* A connection to database `name` of "source" or "target"; NULL when there is none now. */
PGconn *stage_try(const struct stage *stage, const char *server, const char *database);
/* The same; tries until there is one. */
PGconn *stage_connect(const struct stage *stage, const char *server, const char *database);

/* Runs statements; false when one fails: with `say`, says why. */
bool try_sql(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, and gives up when one fails. */
void sql(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The first column of the first row as a number; -1 when there is none, or the statement fails. */
int64_t ask(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens DIR/NAME to write to. */
FILE *stage_file(const struct stage *stage, const char *name, const char *mode);

#endif
