/*
 * portable: what Linux and macOS have under different names, or one of them lacks. All that differs stands here; `make
 * check-macos` compiles the program for macOS as far as that can be told without one.
 */
#ifndef ROWRELAY_COMMON_PORTABLE_H
#define ROWRELAY_COMMON_PORTABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __APPLE__
extern char **environ;
#define POLLRDHUP 0 /* there POLLHUP tells of a peer that sends no more */
#endif

/* As pipe() and socket(); what they give is closed in programs that this one starts. */
bool portable_pipe(int ends[2]);
int portable_socket(int family, int type);
/* A connection is lost when what was sent stays unanswered for so many milliseconds. */
void portable_set_user_timeout(int socket, unsigned int milliseconds);
/* What was written to the file is on disk; false: errno says why. */
bool portable_sync(int fd);
/* A condition for portable_wait(), whose time is that of a clock that nobody sets. */
void portable_init_condition(pthread_cond_t *condition);
/* `until` is CLOCK_MONOTONIC in milliseconds. */
void portable_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until);
/* Waits for a thread's end for so many seconds, if that can be done; else it ends by itself. */
void portable_join(pthread_t thread, int seconds);
/* Path of this program, to start it again; NULL: it is not known. */
const char *portable_program(char *path, size_t size);
/* Bytes of this process in memory; 0: not known. */
int64_t portable_resident_bytes(void);

#endif
