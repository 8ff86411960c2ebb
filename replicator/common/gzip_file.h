/*
 * gzip_file: a gzip file that exists completely or not at all, with its SHA-256 in a file beside it (as sha256sum reads
 * it).
 *
 * It is written under a temporary name, synced, read back and compared with what was given, and only then renamed.
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
 * Begins a file `name` in directory `dir`; if that exists, -2, -3, … is added before the first dot.
 * On success the caller owns *archive.
 */
MUST_CHECK bool gzip_file_create(struct gzip_file **archive, const char *dir, const char *name, struct error *error);
/* Adds bytes. */
MUST_CHECK bool gzip_file_add(struct gzip_file *archive, const char *data, size_t length, struct error *error);
/* Completes the file. `sum` is its SHA-256. */
MUST_CHECK bool gzip_file_finish(struct gzip_file *archive, char sum[ARCHIVE_SUM_SIZE], struct error *error);
/* Its path; valid until it is freed. */
const char *gzip_file_path(const struct gzip_file *archive);
/* Removes an unfinished file. NULL is allowed. */
void gzip_file_free(struct gzip_file *archive);

/*
 * Reads a file, and calls `take` with pieces of its contents. `sum` is the SHA-256 of the file. Fails if it is not a
 * gzip file, or truncated.
 */
typedef bool gzip_file_taker(void *context, const char *data, size_t length, struct error *error);
MUST_CHECK bool gzip_file_read(const char *path, gzip_file_taker *take, void *context, char sum[ARCHIVE_SUM_SIZE],
                               struct error *error);
/* The SHA-256 in the file beside it; "": there is none. */
MUST_CHECK bool gzip_file_expected_sum(const char *path, char sum[ARCHIVE_SUM_SIZE], struct error *error);

#endif
