/*
 * native: a source that captures by the server module. tests/check.sh names the file that was built.
 */
#ifndef ROWRELAY_TESTS_NATIVE_H
#define ROWRELAY_TESTS_NATIVE_H

#include "fixture.h"

/* Makes the language in this test's database, unless it is there; false: the module was not built. */
bool native_add_language(struct fixture *fixture);
/* Begins the fixture, where the module is there, and adds targets "w" and "few". Otherwise the test is skipped. */
void native_begin(struct fixture *fixture, const char *name);
/* The same, and captures table item (id, v) for "w". Gives a session to write with. */
PGconn *native_item_begin(struct fixture *fixture, const char *name);
/* Has the language, in which nothing is made yet, run by a copy of the library that is this test's own. Gives its path.
 */
const char *native_own_library(struct fixture *fixture);
/* How many changes were written by PL/pgSQL in this transaction, or in those since the server was last told of them. */
int64_t native_written_slowly(PGconn *writer);

#endif
