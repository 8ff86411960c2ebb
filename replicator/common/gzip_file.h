/*
 * gzip_file: a file of lines, compressed by gzip, that is there as a whole or not at all, with its SHA-256 in a file
 * beside it (as sha256sum reads it). Nothing is known here of what the lines are.
 *
 * It is written under another name, brought to the disk, read back and compared with what was given, and only then
 * renamed.
 */
#ifndef ROWRELAY_COMMON_GZIP_FILE_H
#define ROWRELAY_COMMON_GZIP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* In hexadecimal, with a NUL. */
#define ARCHIVE_SUM_SIZE 65

struct gzip_file;

/*
 * Begins a file `name` in directory `dir`; where there is one of that name, -2, -3, … is added before the first dot.
 * On success the caller owns *archive.
 */
MUST_CHECK bool gzip_file_create(struct gzip_file **archive, const char *dir, const char *name, struct error *error);
/* Adds bytes. */
MUST_CHECK bool gzip_file_add(struct gzip_file *archive, const char *data, size_t length, struct error *error);
/* Makes it a file that will stay. `sum` is its SHA-256. */
MUST_CHECK bool gzip_file_finish(struct gzip_file *archive, char sum[ARCHIVE_SUM_SIZE], struct error *error);
/* Where it is, with its directory; valid until it is freed. */
const char *gzip_file_path(const struct gzip_file *archive);
/* What was not finished is removed. NULL is allowed. */
void gzip_file_free(struct gzip_file *archive);

/*
 * Reads one through, and calls `take` with pieces of what was added. `sum` is the SHA-256 of the file as it is. An
 * error when it is no such file, or cut off.
 */
typedef bool gzip_file_taker(void *context, const char *data, size_t length, struct error *error);
MUST_CHECK bool gzip_file_read(const char *path, gzip_file_taker *take, void *context, char sum[ARCHIVE_SUM_SIZE],
                               struct error *error);
/* What the file beside it says that the SHA-256 is; "" when there is none. */
MUST_CHECK bool gzip_file_expected_sum(const char *path, char sum[ARCHIVE_SUM_SIZE], struct error *error);

#endif
