/*
 * mirrored: what tests of capturing have in common: tables of a source that are mirrored into target "w", which makes
 * its tables itself.
 */
#ifndef ROWRELAY_TESTS_MIRRORED_H
#define ROWRELAY_TESTS_MIRRORED_H

#include "fixture.h"

/* Begins the fixture, runs `script` at the source, and adds target "w". */
void mirrored_begin(struct fixture *fixture, const char *name, const char *script);
/* Captures the tables that `pattern` names and routes them to "w", to be made there. */
void mirrored_capture(struct fixture *fixture, const char *pattern);
/* Delivers what is queued; fails the test when anything is refused. */
void mirrored_deliver(struct fixture *fixture);
/* Delivers, and fails the test unless `table` has the same rows on both sides, compared as text. */
void mirrored_same(struct fixture *fixture, const char *table);
/* Does once, now, what a running process does every half minute. */
void mirrored_maintain(struct fixture *fixture);
/* The changes captured of `table` so far, in order: "i:1 u:1 d:1", operation and key of each ("-" for none). */
const char *captured_changes(struct fixture *fixture, const char *table);

/* Makes a role that may log in and has no right to anything. It is the server's, so its name must be unique. */
void role_begin(const char *role);
/* Drops it; nothing of any database may be its own any more. */
void role_end(const char *role);

#endif
