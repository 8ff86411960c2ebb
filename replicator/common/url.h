/*
 * url: fills ${NAME} in a URL from the environment, so that secrets are never in the database.
 */
#ifndef ROWRELAY_COMMON_URL_H
#define ROWRELAY_COMMON_URL_H

#include "common/buffer.h"

/* Longest URL or option of a target with its variables filled in: the limit of PostgreSQL's texts. Bytes. */
#define URL_LIMIT ((size_t)1024 * 1024 * 1024)

/*
 * Appends `url` with every ${NAME} replaced. Values before an @ (user or password) or after a ? are percent-encoded.
 * The error names a variable that is not set, and `what` ("URL") uses it.
 */
MUST_CHECK bool url_fill_in(const char *url, const char *what, struct buffer *filled, struct error *error);

/* The same in another text, such as a header, with values as they are. */
MUST_CHECK bool text_fill_in(const char *text, const char *what, struct buffer *filled, struct error *error);

/*
 * Puts ${NAME} back wherever an error shows a value that a URL, or another text, got from the environment, or a word of
 * it that has more than seven characters: as it is or escaped (see echo.h), even if the error's end cuts it off.
 */
void url_hide(const char *text, struct error *error);

#endif
