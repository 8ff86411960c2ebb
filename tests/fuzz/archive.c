/* A file that somebody gives to "rowrelay archive --restore", or COPY into a target: gzip, and the digest beside it. */
#include <sys/mman.h>
#include <unistd.h>

#include "common/gzip_file.h"
#include "fuzz.h"

static bool take(void *context, const char *data, size_t length, struct error *error) {
  size_t *taken = context;
  (void)error;
  PROMISE(length > 0 && data != NULL, "a piece is not empty");
  *taken += length;
  return *taken < (size_t)64 * 1024 * 1024;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  char sum[ARCHIVE_SUM_SIZE] = "";
  struct error error;
  size_t taken = 0;
  int fd = memfd_create("archive", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  error_clear(&error);
  if (gzip_file_read(path, take, &taken, sum, &error))
    PROMISE(strlen(sum) == 64, "a file that was read has a digest");
  else
    PROMISE(error.kind != FAILURE_NONE || taken >= (size_t)64 * 1024 * 1024, "a failure says why");
  close(fd);
  return 0;
}
