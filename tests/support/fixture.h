/*
 * fixture: what integration tests stand on: databases of their own on two real servers, processes of rowrelay, and
 * questions to both. Everything ends the test with a message when it fails, so tests read as what they show.
 *
 * tests/check.sh starts the servers and exports ROWRELAY_TEST_SOURCE and ROWRELAY_TEST_TARGET (conninfos), with _DIR
 * their directories, and ROWRELAY_BIN.
 */
#ifndef ROWRELAY_TESTS_FIXTURE_H
#define ROWRELAY_TESTS_FIXTURE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Databases of this test, new and empty: source with rowrelay installed, and target. Dropped by fixture_end(). */
struct fixture {
  char name[48];    /* of both databases */
  char source[512]; /* conninfos */
  char target[512];
  char target_url[512]; /* the target as a URL that target add takes */
  PGconn *at_source;    /* for the test's own statements */
  PGconn *at_target;
};

/*
 * From here on this test has a server of its own in the place of the shared one, "source" or "target", so that it can
 * restart it. Before fixture_begin(); settings are as pg.sh takes them, NULL for none. It ends with the test, however
 * that ends.
 */
void own_server(const char *which, const char *settings);

/*
 * A streaming standby of the source, which must be this test's own. Gives its conninfo; it ends with the test. Before
 * fixture_begin(). A second call makes a second one, of the same source.
 */
const char *own_standby(void);
/* Kills the source, and makes the next standby the source: a primary, on which fixture_end() will drop the database. */
void fail_over(void);

/* When this test has ended, however that was, `SCRIPT remove DIR` is run: a server of its own ends with it. */
void guard_directory(const char *dir, const char *script);

/* `name` must be unique among the tests. */
void fixture_begin(struct fixture *fixture, const char *name);
/* Stops processes that fixture_run() started and the test did not, and drops the databases. */
void fixture_end(struct fixture *fixture);

/*
 * Whether element `n` of a family is tried in this run: all are in `make check-all` (THOROUGH=1), otherwise a third is,
 * by the seed that check.sh prints (ROWRELAY_SEED). For families that take minutes and whose elements are much alike.
 */
bool is_tried(int n);
/* The same with one of `share` elements instead of a third. */
bool is_tried_of(int n, int share);
/* What a whole family must reach at least, for the part of it that is tried. */
int least_tried(int of_all);

/* Whether all of these programs, with blanks between them, are here: a test that needs more says that it is skipped. */
bool has_programs(const char *names);

/* Skips the test where pg_dump is older than this server, and would refuse it. */
void needs_pg_dump(PGconn *server);

/* A further connection; close it with PQfinish. `options` are more conninfo words, such as "user=app"; NULL for none.
 */
PGconn *connect_to(const char *conninfo, const char *options);

/* Runs statements; with a format. The test fails with the server's message when one of them fails. */
void sql(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, but it must fail; gives its SQLSTATE (valid until the next call). */
const char *sql_fails(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* First column of the first row, "" for null or no row; valid until 16 more calls. */
const char *ask(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t ask_number(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sends without waiting; finish() waits for it and fails the test if it failed. */
void start(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finish(PGconn *connection);
/* Whether a statement that start() sent is still running. */
bool is_running(PGconn *connection);

/* Asks again until the answer is `expected`; fails the test after `seconds`, showing the last answer. */
void wait_until(PGconn *connection, const char *expected, double seconds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Until this process (pid of its backend) waits for a lock. */
void wait_until_blocked(PGconn *watcher, PGconn *blocked, double seconds);

/* Seconds, monotonic. */
double seconds_now(void);
/*
 * When to give up waiting for what takes up to `seconds` where nobody else is at work. It is later than that, because a
 * machine that is busy shows nothing about rowrelay: all that waits here and fails the test after `seconds` does.
 */
#define BUSY 4
double give_up_at(double seconds);
void sleep_seconds(double seconds);

/*
 * Runs build/rowrelay -d SOURCE with these words (NULL ends them), waits, and gives its exit status. What it said on
 * stdout and stderr is in *output and *errors, each valid until the next call; either may be NULL.
 */
int rowrelay(const struct fixture *fixture, const char **output, const char **errors, const char *word, ...)
    __attribute__((sentinel));
/* The same, and fails the test unless the status is 0. Gives stdout. */
const char *rowrelay_ok(const struct fixture *fixture, const char *word, ...) __attribute__((sentinel));

/*
 * Starts `rowrelay run` with these words and does not wait. It dies with the test. Its log goes to a file that is shown
 * when the test fails (LOG=1 shows it always).
 */
pid_t fixture_run(struct fixture *fixture, const char *word, ...) __attribute__((sentinel));
/* The same for any other command; what it says on stdout is in the log too. */
pid_t fixture_start(struct fixture *fixture, const char *word, ...) __attribute__((sentinel));
/* Sends a signal, waits for the end, and gives the exit status (128 + signal when it was killed). */
int stop_process(pid_t process, int signal);
/* Waits for it to end by itself, and gives its exit status; -1 when it does not within `seconds`. */
int wait_process(pid_t process, double seconds);
/* Whether it is still there after that many seconds, and not more; it is forgotten if it is not. */
bool still_runs(pid_t process, double seconds);
/* What a process that fixture_run() started has said so far; valid until the next call. */
const char *process_log(pid_t process);
/* Waits until it says something that contains `words`; fails the test after `seconds`, showing what it said. */
void wait_until_says(pid_t process, const char *words, double seconds);

/* As if a process worked on all lanes that have queued rows, until the connection is closed. */
PGconn *lock_queued_lanes(struct fixture *fixture);
/* How many lanes somebody works on. */
#define LOCKED_LANES                                                                                                   \
  "select (select count(*) from rowrelay.lane) - "                                                                     \
  "(select count(*) from (select from rowrelay.lane for update skip locked) as l)"

/* Terminates the sessions of all processes at the source, and waits until they hold no lane. */
void cut_off_from_source(struct fixture *fixture);

/* Waits until nothing is queued for any target. */
void wait_until_empty(struct fixture *fixture, double seconds);
/* The same, and until no table is held: asked at once, because what a process has in hand may hold a table again. */
void wait_until_nothing_waits(struct fixture *fixture, double seconds);
/* Fails the test unless both tables have the same rows, compared as text in the order of `key` (any SQL expression). */
void same_rows(struct fixture *fixture, const char *source_table, const char *target_table, const char *key);

/* Restarts a server, "source" or "target"; mode "fast" or "immediate". Only where own_server() made it. */
void restart_server(const char *which, const char *mode);
void stop_server(const char *which, const char *mode);
void start_server(const char *which);
/* Runs a command of the shell in the source's directory, which has its files in data/. Only where it is this test's
 * own. */
void in_source_directory(const char *command);

#endif
