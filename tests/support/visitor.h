/* visitor: asks a process that listens (rowrelay run --listen) over HTTP, as a browser, a scraper or a probe would. */
#ifndef ROWRELAY_TESTS_VISITOR_H
#define ROWRELAY_TESTS_VISITOR_H

#include <stddef.h>
#include <sys/types.h>

struct visit {
  long status;         /* 0: no answer came */
  const char *headers; /* all of them, as they came; */
  const char *body;    /* these are valid until the next visit */
};

/* Waits until a process says on which port of this machine it listens. */
int visitor_port(pid_t process);

/* A request; `header` ("Name: value") and `body` may be NULL. */
struct visit visit(int port, const char *method, const char *path, const char *header, const char *body);

/* Sends these bytes, and gives the status of what comes; 0: no answer. */
long visitor_status(int port, const char *request, size_t length);

/* Asks with GET until the answer has this status; fails the test after `seconds`. */
struct visit visit_until(int port, const char *path, long status, double seconds);

#endif
