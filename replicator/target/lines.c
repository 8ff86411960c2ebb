/*
 * JSON lines: `stdout:` for people and pipes, `file:PATH` for whatever reads files. One line for each change.
 *
 * Any number of processes may add to one file. Each locks it while it writes, so that lines never mix and the order of
 * a key's changes is kept; the lines are on the disk before the batch is settled. A line that a killed process left
 * unfinished is cut off by the next one: its batch was not settled, so the change comes again.
 *
 * Nobody can take back what has been written to a pipe, so there a push has no deadline: it waits for the reader, until
 * the process is told to leave at once. A reader that has gone away wants no more: then the process leaves by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "change_json.h"
#include "interrupt.h"
#include "target.h"

#define LINES_LIMIT ((size_t)1024 * 1024 * 1024)
/* Where an unfinished line is looked for at a time. Bytes. */
#define TAIL 4096
/* How often a wait for the reader looks whether the process is told to leave. Milliseconds. */
#define INTERRUPT_INTERVAL 100

struct lines {
  const struct settings *settings;
  int fd;
  bool is_file;
  struct buffer text;
};

static bool lines_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

static bool lines_keeps_state(const struct settings *settings) {
  (void)settings;
  return false;
}

static bool lines_new(void **handle, const struct settings *settings, int fd, bool is_file, struct error *error) {
  struct lines *lines = calloc(1, sizeof *lines);
  if (lines == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  lines->settings = settings;
  lines->fd = fd;
  lines->is_file = is_file;
  buffer_init(&lines->text, LINES_LIMIT);
  *handle = lines;
  return true;
}

static bool stdout_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                        struct error *error) {
  (void)url;
  (void)source;
  return lines_new(handle, settings, STDOUT_FILENO, false, error);
}

static bool file_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                      struct error *error) {
  (void)source;
  const char *path = url + strlen("file:");
  if (strncmp(path, "//", 2) == 0)
    path += 2;
  int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0)
    return error_set(error, FAILURE_FATAL, "cannot open file %s: %s", path, strerror(errno));
  if (lines_new(handle, settings, fd, true, error))
    return true;
  close(fd);
  return false;
}

static void lines_close(void *handle) {
  struct lines *lines = handle;
  if (lines == NULL)
    return;
  if (lines->is_file)
    close(lines->fd);
  buffer_release(&lines->text);
  free(lines);
}

static bool failed(const char *what, struct error *error) {
  return error_set(error, FAILURE_RETRY, "cannot %s: %s", what, strerror(errno));
}

/* Cuts what stands behind the last line's end. */
static bool cut_unfinished_line(int fd, struct error *error) {
  struct stat status;
  if (fstat(fd, &status) != 0)
    return failed("look at the file", error);
  if (!S_ISREG(status.st_mode))
    return true;
  off_t end = status.st_size;
  while (end > 0) {
    char tail[TAIL];
    size_t length = end < (off_t)sizeof tail ? (size_t)end : sizeof tail;
    ssize_t got = pread(fd, tail, length, end - (off_t)length);
    if (got != (ssize_t)length)
      return failed("read the file", error);
    const char *newline = memrchr(tail, '\n', length);
    if (newline != NULL) {
      end -= (off_t)length - (newline + 1 - tail);
      break;
    }
    end -= (off_t)length;
  }
  if (end < status.st_size && ftruncate(fd, end) != 0)
    return failed("cut an unfinished line", error);
  return true;
}

static bool write_all(int fd, const char *bytes, size_t length, struct error *error) {
  while (length > 0) {
    ssize_t written = write(fd, bytes, length);
    if (written >= 0) {
      bytes += written;
      length -= (size_t)written;
    } else if (errno != EINTR) {
      return failed("write", error);
    }
  }
  return true;
}

/* As much as a pipe takes without making us wait is written at a time. */
static bool write_to_reader(int fd, const char *bytes, size_t length, struct error *error) {
  while (length > 0) {
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int ready = poll(&polled, 1, INTERRUPT_INTERVAL);
    if (interrupted())
      return error_set(error, FAILURE_STOP, "told to leave");
    if (ready <= 0)
      continue;
    ssize_t written = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
    if (written >= 0) {
      bytes += written;
      length -= (size_t)written;
    } else if (errno == EPIPE) {
      return error_set(error, FAILURE_STOP, "nobody reads standard output any more");
    } else if (errno != EINTR && errno != EAGAIN) {
      return failed("write", error);
    }
  }
  return true;
}

/* All workers share standard output: what they write must not mix. */
static bool write_to_stdout(const char *bytes, size_t length, struct error *error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool reader_is_gone = false;
  pthread_mutex_lock(&lock);
  bool ok = write_to_reader(STDOUT_FILENO, bytes, length, error);
  if (!ok && error->kind == FAILURE_STOP && !interrupted() && !reader_is_gone) {
    reader_is_gone = true;
    kill(getpid(), SIGTERM); /* the other workers are to leave, too */
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

static bool lines_push(void *handle, const struct push *push, struct error *error) {
  struct lines *lines = handle;
  buffer_clear(&lines->text);
  for (size_t i = 0; i < push->count; i++) {
    change_add_json(&lines->text, push->changes[i], lines->settings->source_id);
    buffer_add(&lines->text, "\n", 1);
  }
  if (!buffer_ok(&lines->text, "a batch", error))
    return false;
  if (!lines->is_file)
    return write_to_stdout(lines->text.data, lines->text.length, error);
  if (flock(lines->fd, LOCK_EX) != 0)
    return failed("lock the file", error);
  bool ok = cut_unfinished_line(lines->fd, error) &&
            write_all(lines->fd, lines->text.data, lines->text.length, error) &&
            (fdatasync(lines->fd) == 0 || errno == EINVAL || failed("write to the disk", error));
  flock(lines->fd, LOCK_UN);
  return ok;
}

const struct target_kind TARGET_FILE = {.scheme = "file",
                                        .wants_details = lines_wants_details,
                                        .keeps_state = lines_keeps_state,
                                        .open = file_open,
                                        .push = lines_push,
                                        .close = lines_close};

const struct target_kind TARGET_STDOUT = {.scheme = "stdout",
                                          .wants_details = lines_wants_details,
                                          .keeps_state = lines_keeps_state,
                                          .open = stdout_open,
                                          .push = lines_push,
                                          .close = lines_close};
