/*
 * url: fills ${NAME} in a URL from the environment, so that secrets are never in the database.
 */
#ifndef ROWRELAY_COMMON_URL_H
#define ROWRELAY_COMMON_URL_H

#include "common/buffer.h"

/* For a target's URL, or a text among its options, with what the environment filled in: as long as PostgreSQL's texts.
 */
#define URL_LIMIT ((size_t)1024 * 1024 * 1024)

/*
 * Appends `url` with every ${NAME} replaced. A value that stands before an @ (user or password) or behind a ? is
 * percent-encoded where it must be. An error names a variable that is not set, and
 * `what` ("URL") this is.
 */
MUST_CHECK bool url_fill_in(const char *url, const char *what, struct buffer *filled, struct error *error);

/* The same in another text, such as a header, with values as they are. */
MUST_CHECK bool text_fill_in(const char *text, const char *what, struct buffer *filled, struct error *error);

/*
 * Puts ${NAME} back wherever an error shows what a URL, or another text, got from the environment; also where only the
 * beginning of that stands at the error's end, because the rest was cut off.
 */
void url_hide(const char *text, struct error *error);

#endif
