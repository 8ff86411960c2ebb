/*
 * flood: a server that answers whatever it is asked with some bytes and then with many more, as one that is broken or
 * hostile may do. A thread of the test, on loopback.
 */
#ifndef ROWRELAY_TESTS_FLOOD_H
#define ROWRELAY_TESTS_FLOOD_H

#include <stddef.h>
#include <sys/types.h>

struct flood;

/* Each connection is sent `head`, then `megabytes` of 'x', and is closed. `head` is borrowed until flood_end(). */
struct flood *flood_begin(const char *head, size_t megabytes);
void flood_end(struct flood *flood);
int flood_port(const struct flood *flood);
/* Fails the test unless a client took or refused a whole answer within `seconds`. */
void flood_wait(struct flood *flood, double seconds);

/* The most that a process has held so far, in MiB. */
long peak_of(pid_t process);

#endif
