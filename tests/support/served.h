/*
 * served: a real server that a script in tests/support starts: those that source server.sh, and nginx.sh. Each takes
 * "start DIR", which prints "HOST:PORT" or exits with 77 where the server cannot be had, and "remove DIR".
 */
#ifndef ROWRELAY_TESTS_SERVED_H
#define ROWRELAY_TESTS_SERVED_H

#include <stdbool.h>

struct served {
  char script[64];
  char directory[128];
  char address[64]; /* "127.0.0.1:PORT" */
};

/*
 * Starts one of this test's own, which ends with it, or, `shared`, one that all tests of the run use, whoever is first.
 * Where it cannot be had the test is skipped, with the reason.
 */
void served_begin(struct served *served, const char *script, bool shared);
/* Runs the script with this command: start, stop, kill, freeze, thaw. */
void served_control(struct served *served, const char *command);
/*
 * Kills it; another one, which is empty, takes its place at the same address. What it had is put aside: the next call
 * puts the other one's aside, and brings it back.
 */
void served_exchange(struct served *served);

/* A file in its directory, and what the first line of one says; each valid until the next call. */
const char *served_path(const struct served *served, const char *name);
const char *served_says(const struct served *served, const char *name);

/* "SCHEME://127.0.0.1:PORT" and `path`; valid until 4 more calls. */
const char *served_url(const struct served *served, const char *scheme, const char *path);

/*
 * A request, with a body (NULL: none); fails the test unless the answer is a success, or 404. Gives the answer, valid
 * until the next call.
 */
const char *served_ask(const struct served *served, const char *method, const char *path, const char *body);

#endif
