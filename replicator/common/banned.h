/*
 * banned: functions that nobody calls here, because there is a better one. The build includes this first in every
 * source of replicator/; the headers that declare them are read before, so that only a use is an error.
 */
#ifndef ROWRELAY_COMMON_BANNED_H
#define ROWRELAY_COMMON_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* They write beyond what was given to them, or leave a text without its end: snprintf() or a buffer. */
#pragma GCC poison gets strcpy strcat strncpy strncat stpcpy sprintf vsprintf
/* They say nothing of what is no number: strtol() and its kin. */
#pragma GCC poison atoi atol atoll atof
/* They keep their answer where other threads write theirs: localtime_r(), strtok_r(), nanosecond clocks of clock.h. */
#pragma GCC poison localtime gmtime ctime asctime strtok
/* It waits for a shell and ignores SIGINT meanwhile; the others make names that another process can take first. */
#pragma GCC poison system tmpnam tempnam mktemp

#endif
