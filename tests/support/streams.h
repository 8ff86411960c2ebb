/*
 * streams: what tests of targets that carry messages have in common: Kafka, NATS, RabbitMQ, Redis. Their target is "w";
 * what its readers find is asked of messages.h. A test begins its server and its fixture itself.
 */
#ifndef ROWRELAY_TESTS_STREAMS_H
#define ROWRELAY_TESTS_STREAMS_H

#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"
#include "served.h"

/* Tables item, which has a key, and plain, which has none, go to `url`; `option` as target set takes it, or NULL. */
void streams_capture(struct fixture *fixture, const char *url, const char *option);
/*
 * Delivers what is queued, and what waits because its topic is not there yet: a busy broker takes some time to create
 * one.
 */
void streams_run(struct fixture *fixture);
/* The same; fails the test when anything is refused. */
void streams_deliver(struct fixture *fixture);

/* ---- order: tables stock and ledger, see writers.h, or table item ---- */

/* Two processes deliver to `url` what four writers write, until all is delivered. */
void streams_with_writers(struct fixture *fixture, const char *url);
/*
 * The same, where something befalls the server after the first batches; no change may be refused. Batches have
 * STREAMS_KILLED_ROWS changes.
 */
void streams_with_a_fault(struct fixture *fixture, const char *url, void (*befall)(struct fixture *fixture));
/* One process does, while the server is killed and started so many times; no change may be refused. */
void streams_with_killed_server(struct fixture *fixture, const char *url, struct served *server, int times);
#define STREAMS_KILLED_ROWS 50 /* of a batch, then */
/*
 * The process and the server are killed together and started again, so many times, while four writers write; no change
 * may be refused. What was in hand at a kill may be there twice: STREAMS_IN_HAND changes.
 */
void streams_with_all_killed(struct fixture *fixture, const char *url, struct served *server, int times);
#define STREAMS_IN_HAND (2 * STREAMS_KILLED_ROWS)
/*
 * Two processes deliver under leases; so many times one of them is stopped for longer than its lease, and continued.
 * As with a kill, STREAMS_IN_HAND changes may be there twice.
 */
void streams_with_stopped_processes(struct fixture *fixture, const char *url, int times);
/* What messages_are_complete() has looked at came again for so often at most; --verbose tells how often. */
void streams_repeat_at_most(struct fixture *fixture, const char *what, int64_t most);
/*
 * Processes are killed while they deliver updates of table item, so many times: the first at once, each other one while
 * the server is frozen, `seconds` later than the one before. All is delivered in the end.
 */
void streams_with_killed_processes(struct fixture *fixture, struct served *server, int times, double seconds);

/*
 * What befalls the server takes away what it had of table item's 100 rows; the process that delivers to it says so,
 * once.
 */
void streams_tell_of_loss(struct fixture *fixture, void (*befall)(struct fixture *fixture));

/* ---- what is refused ---- */

/*
 * Of so many updates of row 1 of table item the `bad`-th has a name of so many bytes, which the target refuses; it
 * blocks the later ones. Then 99 other rows follow.
 */
void streams_block_a_row(struct fixture *fixture, int updates, int bad, int bytes);
/* What has arrived of row 1 is older than what was refused; that is discarded. */
void streams_nothing_is_behind(struct fixture *fixture);

/* Rows of 5 MB are delivered; and whether table message has them. */
void streams_send_large_rows(struct fixture *fixture, int rows);
void streams_has_large_rows(struct fixture *fixture, int rows);

/* How many changes of which tables are not delivered, and why not. */
#define STREAMS_HELD                                                                                                   \
  "select string_agg(concat_ws(' ', relation, state, n), ', ') from (select relation, state, count(*) as n from "      \
  "rowrelay.errors group by 1, 2) as e"
/* 100 rows of table item wait, as a process that runs then says in these words (NULL: any); one of table plain comes.
 */
pid_t streams_hold(struct fixture *fixture, const char *words);
/* They need not wait any more: the process delivers them, and is ended. */
void streams_release(struct fixture *fixture, pid_t process);

/* ---- outages ---- */

/*
 * A server that is frozen, which the process says in these words (NULL: any), or stopped, is an outage; no attempt is
 * counted, and all is delivered later. A second SIGTERM waits for nobody. For option push_timeout=2.
 */
void streams_with_outages(struct fixture *fixture, struct served *server, const char *frozen);
/* 300 rows that come while the server is stopped are delivered later, also where option guarantee is at-most-once. */
void streams_send_later(struct fixture *fixture, struct served *server, const char *push_timeout);

/* ---- connections ---- */

/*
 * Table item, with a row, goes to `url`, which takes the password from an environment variable. The server does not let
 * rowrelay in before it trusts the authority, and, which it says in the words `refused`, before it has the password.
 * From then on it has both.
 */
void streams_capture_secure(struct fixture *fixture, const struct served *server, const char *url, const char *variable,
                            const char *refused);
/*
 * A server that is SECURE=mutual lets rowrelay in when it shows its certificate, and not before; then it takes a row of
 * table item, or refuses it in these words.
 */
void streams_shows_certificate(struct fixture *fixture, const struct served *server, const char *refused);
/* The same as streams_capture_secure() from when the target is there; the variable has the wrong password
 * "something...". */
void streams_let_in(struct fixture *fixture, const struct served *server, const char *variable, const char *refused);
/* Ends a process, which has not said this. */
void streams_never_said(pid_t process, const char *secret);
/* Without the variable, which the target's URL or option uses, no process runs. */
void streams_needs_variable(struct fixture *fixture, const char *variable, const char *user);

/* A target that cannot be added, because of what the message says. */
#define REFUSES(fixture, message, ...)                                                                                 \
  do {                                                                                                                 \
    const char *why_;                                                                                                  \
    int status_ = rowrelay(fixture, NULL, &why_, "target", "add", "t", __VA_ARGS__, NULL);                             \
    cr_expect(status_ == 2 && strstr(why_, message) != NULL, "%d %s", status_, why_);                                  \
  } while (0)
/* Table item goes to `url`, where nobody answers: target test and doctor say so, in these words. */
void streams_cannot_reach(struct fixture *fixture, const char *url, const char *words);

#endif
