/*
 * messages: what a reader finds at a target that carries messages, in table `message` at the source: n (order of
 * arrival in its partition), partition, key, value, headers as a JSON object.
 */
#ifndef ROWRELAY_TESTS_MESSAGES_H
#define ROWRELAY_TESTS_MESSAGES_H

#include "fixture.h"

/* Fills table `line (line json)` with lines of JSON: begin, add bytes, end. */
void messages_begin(struct fixture *fixture);
void messages_add(struct fixture *fixture, const char *bytes, size_t length);
void messages_end(struct fixture *fixture);
/* The same with what a command prints; the test fails where that fails. */
void messages_read(struct fixture *fixture, const char *command);

/* Makes table `message` of a query on table `line`. */
void messages_make(struct fixture *fixture, const char *query);

/* Puts table message aside; and puts what was put aside behind what is in it now. */
void messages_put_aside(struct fixture *fixture);
void messages_append(struct fixture *fixture);

/*
 * What is in table message is complete and in order: each change of `relation` is there, and of each key none comes
 * after a younger one, but for what comes again. The value must have "change_id" in its "data".
 */
void messages_are_complete(struct fixture *fixture, const char *relation);
/* The same, but the oldest changes of each key may be missing: the target has lost what it had of them. */
void messages_are_complete_from_somewhere(struct fixture *fixture, const char *relation);
/* How many of those came again. */
int64_t messages_repeated(struct fixture *fixture);

#endif
