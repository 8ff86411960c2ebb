/*
 * echo: finds a text in what another side has said, which may repeat it as it is, or as it escapes texts: as JSON, as
 * HTML, percent-encoded, or any of them mixed.
 */
#ifndef ROWRELAY_COMMON_ECHO_H
#define ROWRELAY_COMMON_ECHO_H

#include <stddef.h>

/*
 * How many bytes of `said` repeat `text`, from its first byte on; 0: it does not begin with it. Where `said` ends
 * within the repetition, `least` bytes of the text are enough.
 */
size_t echo_at(const char *said, const char *text, size_t least);

#endif
