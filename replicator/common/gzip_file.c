#include "common/gzip_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PATH_SIZE 4096 /* as PATH_MAX: the system takes no longer ones */
#define PIECE ((size_t)64 * 1024)
/* zlib writes and reads gzip's header with this. */
#define GZIP_WINDOW (15 + 16)
#define MOST_NAMES 1000

static const char PART[] = ".part";
static const char SUM[] = ".sha256";

struct gzip_file {
  char dir[PATH_SIZE];
  char path[PATH_SIZE];               /* how it will be called */
  char part[PATH_SIZE + sizeof PART]; /* how it is called until then */
  char sum_part[PATH_SIZE + 2 * sizeof SUM];
  char sum_path[PATH_SIZE + sizeof SUM];
  int fd;            /* -1: closed */
  bool is_deflating; /* the stream must be ended */
  z_stream stream;
  EVP_MD_CTX *packed; /* digest of the file */
  EVP_MD_CTX *plain;  /* and of what was added */
};

static bool failed(const char *what, const char *path, struct error *error) {
  return error_set(error, FAILURE_FATAL, "cannot %s file %s: %s", what, path, strerror(errno));
}

/* ---- digests --------------------------------------------------------------------------------------------------- */

static EVP_MD_CTX *digest_new(void) {
  EVP_MD_CTX *digest = EVP_MD_CTX_new();
  if (digest != NULL && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1)
    return digest;
  EVP_MD_CTX_free(digest);
  return NULL;
}

static void digest_end(EVP_MD_CTX *digest, char sum[ARCHIVE_SUM_SIZE]) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(digest, bytes, &length) != 1)
    length = 0;
  sum[0] = '\0';
  for (unsigned int i = 0; i < length && 2 * i + 2 < ARCHIVE_SUM_SIZE; i++)
    snprintf(sum + (size_t)2 * i, 3, "%02x", bytes[i]);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* The first name that is free. */
static bool choose_name(struct gzip_file *archive, const char *dir, const char *name, struct error *error) {
  size_t stem = strcspn(name, ".");
  if (strlen(dir) + strlen(name) + 32 > PATH_SIZE)
    return error_set(error, FAILURE_USAGE, "the path of directory %s is too long", dir);
  snprintf(archive->dir, sizeof archive->dir, "%s", dir);
  for (int n = 1; n <= MOST_NAMES; n++) {
    char suffix[16] = "";
    if (n > 1)
      snprintf(suffix, sizeof suffix, "-%d", n);
    snprintf(archive->path, sizeof archive->path, "%s/%.*s%s%s", dir, (int)stem, name, suffix, name + stem);
    if (access(archive->path, F_OK) != 0 && errno == ENOENT) {
      snprintf(archive->part, sizeof archive->part, "%s%s", archive->path, PART);
      snprintf(archive->sum_path, sizeof archive->sum_path, "%s%s", archive->path, SUM);
      snprintf(archive->sum_part, sizeof archive->sum_part, "%s%s", archive->sum_path, PART);
      return true;
    }
  }
  return error_set(error, FAILURE_FATAL, "directory %s already has too many files named like %s", dir, name);
}

bool gzip_file_create(struct gzip_file **archive, const char *dir, const char *name, struct error *error) {
  *archive = NULL;
  struct gzip_file *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->fd = -1;
  made->packed = digest_new();
  made->plain = digest_new();
  made->is_deflating =
      deflateInit2(&made->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  if (made->packed == NULL || made->plain == NULL || !made->is_deflating) {
    gzip_file_free(made);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (choose_name(made, dir, name, error)) {
    made->fd = open(made->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (made->fd >= 0) {
      *archive = made;
      return true;
    }
    failed("create", made->part, error);
  }
  gzip_file_free(made);
  return false;
}

static bool write_all(int fd, const char *path, const void *data, size_t length, struct error *error) {
  const char *bytes = data;
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed("write", path, error);
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* Writes what the compressor gives for what it was given. */
static bool drain(struct gzip_file *archive, int flush, struct error *error) {
  unsigned char piece[PIECE];
  do {
    archive->stream.next_out = piece;
    archive->stream.avail_out = sizeof piece;
    (void)deflate(&archive->stream, flush);
    size_t length = sizeof piece - archive->stream.avail_out;
    EVP_DigestUpdate(archive->packed, piece, length);
    if (!write_all(archive->fd, archive->part, piece, length, error))
      return false;
  } while (archive->stream.avail_out == 0);
  return true;
}

bool gzip_file_add(struct gzip_file *archive, const char *data, size_t length, struct error *error) {
  EVP_DigestUpdate(archive->plain, data, length);
  archive->stream.next_in = (z_const Bytef *)data;
  archive->stream.avail_in = (uInt)length; /* a line has less than 1 GB */
  return drain(archive, Z_NO_FLUSH, error);
}

static bool close_synced(int *fd, const char *path, struct error *error) {
  bool ok = fsync(*fd) == 0 || failed("write", path, error);
  ok = (close(*fd) == 0 || !ok || failed("write", path, error)) && ok;
  *fd = -1;
  return ok;
}

static bool digest_piece(void *digest, const char *data, size_t length, struct error *error) {
  (void)error;
  return EVP_DigestUpdate(digest, data, length) == 1;
}

/* What is on the disk must be what was given. */
static bool read_back(struct gzip_file *archive, const char *sum, struct error *error) {
  char given[ARCHIVE_SUM_SIZE];
  char found[ARCHIVE_SUM_SIZE];
  char found_sum[ARCHIVE_SUM_SIZE];
  EVP_MD_CTX *digest = digest_new();
  digest_end(archive->plain, given);
  bool ok = digest != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  ok = ok && gzip_file_read(archive->part, digest_piece, digest, found_sum, error);
  if (ok) {
    digest_end(digest, found);
    ok = (strcmp(given, found) == 0 && strcmp(sum, found_sum) == 0) ||
         error_set(error, FAILURE_FATAL, "file %s does not contain what was written to it", archive->part);
  }
  EVP_MD_CTX_free(digest);
  return ok;
}

static bool write_sum(struct gzip_file *archive, const char *sum, struct error *error) {
  const char *name = strrchr(archive->path, '/') + 1;
  int fd = open(archive->sum_part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (fd < 0)
    return failed("create", archive->sum_part, error);
  bool ok =
      write_all(fd, archive->sum_part, sum, strlen(sum), error) && write_all(fd, archive->sum_part, "  ", 2, error) &&
      write_all(fd, archive->sum_part, name, strlen(name), error) && write_all(fd, archive->sum_part, "\n", 1, error);
  return close_synced(&fd, archive->sum_part, ok ? error : NULL) && ok;
}

static bool sync_dir(const char *dir, struct error *error) {
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool ok = fd >= 0 && fsync(fd) == 0;
  if (!ok)
    failed("write", dir, error);
  if (fd >= 0)
    close(fd);
  return ok;
}

bool gzip_file_finish(struct gzip_file *archive, char sum[ARCHIVE_SUM_SIZE], struct error *error) {
  archive->stream.avail_in = 0;
  if (!drain(archive, Z_FINISH, error) || !close_synced(&archive->fd, archive->part, error))
    return false;
  digest_end(archive->packed, sum);
  if (!read_back(archive, sum, error) || !write_sum(archive, sum, error))
    return false;
  if (rename(archive->sum_part, archive->sum_path) != 0 || rename(archive->part, archive->path) != 0)
    return failed("rename", archive->part, error);
  archive->part[0] = '\0';
  return sync_dir(archive->dir, error);
}

const char *gzip_file_path(const struct gzip_file *archive) {
  return archive->path;
}

void gzip_file_free(struct gzip_file *archive) {
  if (archive == NULL)
    return;
  if (archive->fd >= 0)
    close(archive->fd);
  if (archive->part[0] != '\0') {
    unlink(archive->part);
    unlink(archive->sum_part);
  }
  if (archive->is_deflating)
    deflateEnd(&archive->stream);
  EVP_MD_CTX_free(archive->packed);
  EVP_MD_CTX_free(archive->plain);
  free(archive);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

struct reading {
  const char *path;
  int fd;
  z_stream stream;
  EVP_MD_CTX *packed;
  gzip_file_taker *take;
  void *context;
  bool ended; /* gzip's trailer was read, and its checksum is right */
  unsigned char piece[PIECE];
  char plain[PIECE];
};

static bool inflate_piece(struct reading *reading, size_t length, struct error *error) {
  reading->stream.next_in = reading->piece;
  reading->stream.avail_in = (uInt)length;
  bool damaged = reading->ended;
  do {
    reading->stream.next_out = (Bytef *)reading->plain;
    reading->stream.avail_out = sizeof reading->plain;
    int status = damaged ? Z_DATA_ERROR : inflate(&reading->stream, Z_NO_FLUSH);
    damaged = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR;
    reading->ended = status == Z_STREAM_END;
    size_t got = sizeof reading->plain - reading->stream.avail_out;
    if (!damaged && got > 0 && !reading->take(reading->context, reading->plain, got, error))
      return false;
  } while (!damaged && !reading->ended && (reading->stream.avail_in > 0 || reading->stream.avail_out == 0));
  if (!damaged && reading->stream.avail_in == 0)
    return true;
  return error_set(error, FAILURE_FATAL, "file %s is damaged, or was not written by rowrelay archive", reading->path);
}

static bool read_all(struct reading *reading, struct error *error) {
  for (;;) {
    ssize_t got = read(reading->fd, reading->piece, sizeof reading->piece);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return failed("read", reading->path, error);
    if (got == 0)
      return reading->ended || error_set(error, FAILURE_FATAL, "file %s is truncated", reading->path);
    EVP_DigestUpdate(reading->packed, reading->piece, (size_t)got);
    if (!inflate_piece(reading, (size_t)got, error))
      return false;
  }
}

bool gzip_file_read(const char *path, gzip_file_taker *take, void *context, char sum[ARCHIVE_SUM_SIZE],
                    struct error *error) {
  struct reading reading = {.path = path, .take = take, .context = context};
  reading.fd = open(path, O_RDONLY | O_CLOEXEC);
  if (reading.fd < 0)
    return failed("read", path, error);
  bool ok = false;
  reading.packed = digest_new();
  if (reading.packed == NULL || inflateInit2(&reading.stream, GZIP_WINDOW) != Z_OK) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = read_all(&reading, error);
  inflateEnd(&reading.stream);
  digest_end(reading.packed, sum);
done:
  EVP_MD_CTX_free(reading.packed);
  close(reading.fd);
  return ok;
}

bool gzip_file_expected_sum(const char *path, char sum[ARCHIVE_SUM_SIZE], struct error *error) {
  char name[PATH_SIZE + sizeof SUM];
  sum[0] = '\0';
  snprintf(name, sizeof name, "%s%s", path, SUM);
  FILE *file = fopen(name, "re");
  if (file == NULL)
    return errno == ENOENT || failed("read", name, error);
  size_t got = fread(sum, 1, ARCHIVE_SUM_SIZE - 1, file);
  sum[got] = '\0';
  sum[strcspn(sum, " \n")] = '\0';
  fclose(file);
  return true;
}
