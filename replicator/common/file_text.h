/* file_text: reads a file of text that a command line names. */
#ifndef ROWRELAY_COMMON_FILE_TEXT_H
#define ROWRELAY_COMMON_FILE_TEXT_H

#include "common/buffer.h"

/* Appends all of the file; "-" is standard input. One that cannot be opened, or contains a zero byte, is wrong use. */
MUST_CHECK bool file_text_read(struct buffer *text, const char *path, struct error *error);

#endif
