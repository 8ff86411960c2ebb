/*
 * engine: a real search engine for tests, one that all of them share or a test's own; see opensearch.sh.
 */
#ifndef ROWRELAY_TESTS_ENGINE_H
#define ROWRELAY_TESTS_ENGINE_H

#include "fixture.h"

/* Waits until the shared engine answers. Where there can be none, the test is skipped, with the reason. */
void engine_begin(void);
/* The same with an engine of this test's own, which ends with it and can be ended and started. */
void engine_begin_own(void);
void engine_kill(void);
void engine_start(void);

/* "SCHEME://127.0.0.1:PORT" and `path`; valid until 4 more calls. */
const char *engine_url(const char *scheme, const char *path);

/*
 * A request, with a JSON body (NULL: none); fails the test unless the answer is a success, or 404. Gives the answer,
 * valid until the next call.
 */
const char *engine_ask(const char *method, const char *path, const char *body);

/* Makes temporary table found (id, version, row jsonb) at the source, of all that an index has (at most 10,000). */
void engine_load(struct fixture *fixture, const char *index);
/* Fails the test unless the index has what this query of the source gives: (id text, row jsonb), rows as they are now.
 */
void engine_has(struct fixture *fixture, const char *index, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
