/* hooked: what tests of webhooks have in common: table item goes to target "w", which is a receiver. */
#ifndef ROWRELAY_TESTS_HOOKED_H
#define ROWRELAY_TESTS_HOOKED_H

#include "fixture.h"
#include "receiver.h"

/*
 * Begins the fixture and the receiver; item (id int primary key, name text, more json) is captured with what was
 * before. `options` are the target's ("a=b"; NULL ends them); NULL for none.
 */
struct receiver *hooked_begin(struct fixture *fixture, const char *name, const char *const *options);
void hooked_end(struct fixture *fixture, struct receiver *receiver);

/*
 * Of all requests so far: none was sent before the one of the same key before it had been answered or cut off, and a
 * change came after all older ones of its key, unless it came again. Leaves table request behind; bodies are events, or
 * lists of them.
 */
void hooked_is_in_order(struct fixture *fixture, struct receiver *receiver);

#endif
