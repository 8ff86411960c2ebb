/*
 * pgconn: a libpq connection whose every call ends by its deadline, or when interrupted (see interrupt.h); the error
 * tells which.
 *
 * Both sides use it: `source` for the database that is copied from, target/postgres for one that is copied to.
 */
#ifndef ROWRELAY_POSTGRES_PGCONN_H
#define ROWRELAY_POSTGRES_PGCONN_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"

struct pgconn;

/* A statement. With a name it is prepared at its first use on a connection and stays so. */
struct query {
  const char *name; /* NULL: not prepared */
  const char *text;
  const char *const *columns; /* that it gives, ended by NULL: whatever else comes is an error; NULL: not known */
};

/* The same statement for a single use: it is not prepared. */
#define QUERY_ONCE(named) ((struct query){.text = (named).text, .columns = (named).columns})

/* A parameter list: texts, NULL for null. */
struct values {
  int count;
  const char *const *texts;
};

#define VALUES(...)                                                                                                    \
  ((struct values){.count = (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)),                  \
                   .texts = (const char *const[]){__VA_ARGS__}})
#define NO_VALUES ((struct values){.count = 0, .texts = NULL})

/*
 * Connects as psql would: `conninfo` is a URI, key=value pairs or a database's name; PG* variables, service files and
 * ~/.pgpass fill in the rest. On success the caller owns *connection. What is behind a pooler may change with each
 * transaction: see session.h. It fails at `deadline` (clock_now()).
 */
MUST_CHECK bool pgconn_open(struct pgconn **connection, const char *conninfo, int64_t deadline, struct error *error);
/*
 * Passes the server's warnings, and the notices that functions raise, to `reader`, which must outlive the connection;
 * without one they are dropped. A hint that a notice does not have is NULL.
 */
struct notice_reader {
  void (*tell)(bool is_warning, const char *message, const char *hint);
  /* Tell only what succeeded, once it is committed; but at once what a statement waits for. */
  bool waits_for_success;
};
void pgconn_read_notices(struct pgconn *connection, const struct notice_reader *reader);
const struct notice_reader *pgconn_notice_reader(const struct pgconn *connection); /* NULL: none */
/*
 * Makes the texts of an error fit for this database, whatever its encoding: characters that it may lack become question
 * marks. The second does the same for any text.
 */
void pgconn_fit_error(const struct pgconn *connection, struct error *error);
void pgconn_fit_text(const struct pgconn *connection, char *text);
/* Closes it at once; the server rolls back an open transaction. NULL is allowed. */
void pgconn_close(struct pgconn *connection);

/*
 * Asks the server to cancel a running statement, without waiting for the result; takes a second at most. Only closing
 * may follow. NULL is allowed.
 */
void pgconn_cancel(struct pgconn *connection);

/*
 * A server that takes nothing for longer than a minute counts as dead, although its machine answers; here it may be
 * busy for so long. Shorter times change nothing, nor does this where the conninfo has a tcp_user_timeout.
 */
void pgconn_allow_stall(struct pgconn *connection, int64_t milliseconds);

/* From now on calls fail when this many milliseconds are over, counted from here; 0 takes the bound away. */
void pgconn_set_deadline(struct pgconn *connection, int64_t milliseconds);

/* Makes a statement name that is unused on this connection, for `struct query`. */
#define STATEMENT_NAME_SIZE 32
void pgconn_make_name(struct pgconn *connection, char name[STATEMENT_NAME_SIZE]);
/* The statement of a name that was made is not needed any more: the server lets go of it when no transaction is open.
 */
void pgconn_forget(struct pgconn *connection, const char *name);

/* Runs one statement. *result is the caller's to PQclear; `result` may be NULL when nothing is wanted of it. */
MUST_CHECK bool pgconn_run(struct pgconn *connection, const struct query *query, struct values values,
                           PGresult **result, struct error *error);

/*
 * What a failed statement means is told by `kind`: FAILURE_RETRY for a lost connection, a deadlock, a timeout and their
 * like, FAILURE_REFUSED where the data is at fault, FAILURE_FATAL for all else, such as a table that is not there.
 */

/* Runs a text that may hold several statements and takes no parameters. */
MUST_CHECK bool pgconn_script(struct pgconn *connection, const char *text, struct error *error);

/*
 * Several statements in one round trip: begin, add each, then run. They run in order until one fails; the rest is then
 * skipped, and the error is that statement's. results[i] is of the i-th one added, the caller's to PQclear, and NULL
 * where none came; `results` may be NULL. No transaction is begun by itself: add BEGIN and COMMIT as statements.
 */
void pgconn_pipeline_begin(struct pgconn *connection);
void pgconn_pipeline_add(struct pgconn *connection, const struct query *query, struct values values);
/*
 * Nothing more is sent, and running it fails, if a text that a value was taken from has overflowed: half a value, or
 * null, would be one, too. `what` names it. Call it before the value is added.
 */
void pgconn_pipeline_needs(struct pgconn *connection, const struct buffer *value, const char *what);
/* The statement added last: *any becomes true when it gives a row. `any` has to outlive the run. */
void pgconn_pipeline_tell_rows(struct pgconn *connection, bool *any);
/*
 * Marks the statements that are added from here on, until the next mark; a new pipeline begins with 0. Once it has run,
 * the second gives the mark of the statement that failed; 0: it had none, or none failed.
 */
void pgconn_pipeline_topic(struct pgconn *connection, int topic);
int pgconn_failed_topic(const struct pgconn *connection);
MUST_CHECK bool pgconn_pipeline_run(struct pgconn *connection, PGresult **results, size_t count, struct error *error);

/*
 * COPY: begins with a statement that says TO STDOUT or FROM STDIN. Rows come one at a time, each the caller's to
 * PQfreemem: *length is 0 when none came within `milliseconds`, and -1 when there are no more. They go in pieces of any
 * size, and are there when pgconn_copy_end() says so. A copy that is left in the middle leaves a connection that is of
 * no use.
 */
MUST_CHECK bool pgconn_copy_begin(struct pgconn *connection, const char *statement, struct error *error);
MUST_CHECK bool pgconn_copy_read(struct pgconn *connection, int64_t milliseconds, char **row, int *length,
                                 struct error *error);
MUST_CHECK bool pgconn_copy_write(struct pgconn *connection, const char *data, size_t length, struct error *error);
MUST_CHECK bool pgconn_copy_end(struct pgconn *connection, struct error *error);

/* What the server named in the last error that named anything; texts are "" where it did not. */
struct pgconn_violation {
  bool by_value; /* of the last error: no word of a statement, and no function that it calls, is at fault */
  char schema[256];
  char table[256];
  char column[256];
  char constraint[256];
};
const struct pgconn_violation *pgconn_last_violation(const struct pgconn *connection);

/* Ends an open transaction. Never fails: if it cannot, the connection is broken, and its next use reports that. */
void pgconn_rollback(struct pgconn *connection);

/* Whether the connection is open, as far as known without a round trip. */
bool pgconn_alive(struct pgconn *connection);

/*
 * Waits up to `milliseconds` for a notification on a channel that was LISTENed to. Returns true when one or more came;
 * false when none did, or the connection is broken (see pgconn_alive). `wake_fd`, unless -1, ends the wait when it is
 * readable.
 */
bool pgconn_wait_notify(struct pgconn *connection, int64_t milliseconds, int wake_fd);

/* "host port database" for messages; no password is in it. Valid as long as the connection. */
const char *pgconn_describe(const struct pgconn *connection);

/* The database's name; valid as long as the connection. */
const char *pgconn_database(const struct pgconn *connection);

/* The server's process id, as reported when connecting. */
int pgconn_told_pid(const struct pgconn *connection);

/* Server version as libpq gives it, such as 150004. */
int pgconn_server_version(const struct pgconn *connection);

#endif
