/*
 * url: fills ${NAME} in a URL from the environment, so that secrets are never in the database.
 */
#ifndef ROWRELAY_URL_H
#define ROWRELAY_URL_H

#include "buffer.h"

/*
 * Appends `url` with every ${NAME} replaced. A value that stands before an @ (user or password) or behind a ? is
 * percent-encoded where it must be. An error names a variable that is not set.
 */
MUST_CHECK bool url_fill_in(const char *url, struct buffer *filled, struct error *error);

/* The same in another text, such as a header, with values as they are; `what` is what errors call it. */
MUST_CHECK bool text_fill_in(const char *text, const char *what, struct buffer *filled, struct error *error);

/* Puts ${NAME} back wherever an error shows what `url` got from the environment. */
void url_hide(const char *url, struct error *error);

#endif
