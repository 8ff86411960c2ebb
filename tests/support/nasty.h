/*
 * nasty: schemas and statements as nobody would write them on purpose, out of a number: tables of every kind, triggers
 * and functions and rules that write to them while others write, and statements that set them off. All of it is in
 * schema "nasty". What fails is meant to fail: it stands between statements that do not.
 */
#ifndef ROWRELAY_TESTS_NASTY_H
#define ROWRELAY_TESTS_NASTY_H

#include <stdbool.h>
#include <stddef.h>

#define NASTY_MOST 160    /* statements of a story */
#define NASTY_LENGTH 2400 /* of a statement, bytes */

/* Not statements, but what is to be done and looked at here, where no transaction is open. */
#define NASTY_DELIVER "-- deliver what is queued"
#define NASTY_UNDO "-- undo the last transaction"

/* What the other session does: it waits for the first one where it must, while the story goes on. */
#define NASTY_OTHER "/* the other session */ "

struct story {
  char statements[NASTY_MOST][NASTY_LENGTH];
  bool left_out[NASTY_MOST];
  size_t count;
  bool is_shared;        /* by two sessions */
  bool has_roles;        /* nasty_owner has the tables, nasty_writer writes to them, and policies hide rows of both */
  bool has_plain_keeper; /* who owns schema rowrelay is no superuser */
};

/* The story that `seed` tells; always the same on servers of one version, whose number (150000) decides what they know.
 */
void nasty_write(struct story *story, unsigned int seed, int version);

#endif
