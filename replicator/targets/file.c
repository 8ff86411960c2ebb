/*
 * JSON lines, one for each change: `stdout:` for people and pipes, `file:PATH` for readers of files.
 *
 * Any number of processes may append to one file. Each locks it while it writes, so that lines never mix and a key's
 * changes stay in order; the lines are on disk before the batch is settled. A process that had to wait for the lock, or
 * for standard output, may have lost its claim meanwhile, so it asks again before it writes. A write that
 * fails, as on a full disk, is taken back. A line that a killed process left unfinished is cut off by the next one: its
 * batch was not settled, so the change comes again. If somebody else's last line is unfinished, it is ended. The file
 * may be renamed or removed at any time, as logrotate does: each push opens what the path names then.
 *
 * What has been written to a pipe cannot be taken back, so there a push has no deadline: it waits for the reader, until
 * the process is told to stop at once. When the reader has gone, the process stops.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/portable.h"
#include "targets/change_json.h"
#include "targets/target.h"

#define LINES_LIMIT ((size_t)1024 * 1024 * 1024)
/* Size of the blocks in which the last line is searched for. Bytes. */
#define TAIL 4096
/* The smallest block in which files are written. Bytes. */
#define BLOCK 512
/* How often a wait for the reader checks for an interrupt. Milliseconds. */
#define INTERRUPT_INTERVAL 100
/* Longest pause before trying for a lock again. Milliseconds. */
#define LOCK_INTERVAL 16

struct lines {
  const struct settings *settings;
  char *path; /* owned; NULL: standard output */
  int fd;     /* of the file; -1: it is not open */
  struct buffer text;
};

static bool lines_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

/* NULL when there is no memory. */
static struct lines *lines_new(const struct settings *settings, struct error *error) {
  struct lines *lines = calloc(1, sizeof *lines);
  if (lines == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    return NULL;
  }
  lines->settings = settings;
  lines->fd = -1;
  buffer_init(&lines->text, LINES_LIMIT);
  return lines;
}

static bool stdout_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                        struct error *error) {
  (void)url;
  (void)source;
  *handle = lines_new(settings, error);
  return *handle != NULL;
}

static void close_file(struct lines *lines) {
  if (lines->fd >= 0)
    close(lines->fd);
  lines->fd = -1;
}

static void lines_close(void *handle) {
  struct lines *lines = handle;
  if (lines == NULL)
    return;
  close_file(lines);
  free(lines->path);
  buffer_release(&lines->text);
  free(lines);
}

static bool failed(const char *what, struct error *error) {
  return error_set(error, FAILURE_RETRY, "cannot %s: %s", what, strerror(errno));
}

/* A file's name is durable when its directory is. Skipped if the directory is unreadable or cannot be synced. */
static bool sync_directory(const char *path, struct error *error) {
  char *copy = strdup(path); /* dirname() writes into it */
  if (copy == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  int directory = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(copy);
  if (directory < 0)
    return errno == EACCES || failed("open the file's directory", error);
  bool ok = fsync(directory) == 0 || errno == EINVAL || failed("sync the file's directory", error);
  close(directory);
  return ok;
}

/* Syncs the directory even for an existing file: its name may not be on disk yet. */
static bool open_file(struct lines *lines, struct error *error) {
  lines->fd = open(lines->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (lines->fd < 0)
    return error_set(error, FAILURE_FATAL, "cannot open file %s: %s", lines->path, strerror(errno));
  if (sync_directory(lines->path, error))
    return true;
  close_file(lines); /* else the next push would find it open, and skip syncing the directory */
  return false;
}

static bool is_where_the_path_leads(const struct lines *lines) {
  struct stat ours;
  struct stat there;
  return fstat(lines->fd, &ours) == 0 && stat(lines->path, &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

/* Another process holds the lock for as long as its push takes; longer than push_timeout is not waited. */
static bool wait_for_lock(struct lines *lines, int64_t deadline, struct error *error) {
  for (int pause = 1; flock(lines->fd, LOCK_EX | LOCK_NB) != 0; pause = pause < LOCK_INTERVAL ? 2 * pause : pause) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return failed("lock the file", error);
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (clock_now() >= deadline) {
      error_set(error, FAILURE_RETRY, "another process has held a lock on file %s for longer than push_timeout (%d s)",
                lines->path, (int)(lines->settings->push_timeout / 1000));
      return error_hint(error, "run: fuser -v %s", lines->path);
    }
    const struct timespec moment = {.tv_nsec = pause * 1000000L};
    nanosleep(&moment, NULL);
  }
  return true;
}

/* Locks the file of that path: the open one may have been renamed or removed, even during the wait for the lock. */
static bool lock_file(struct lines *lines, struct error *error) {
  int64_t deadline = clock_now() + lines->settings->push_timeout;
  for (;;) {
    if (lines->fd < 0 && !open_file(lines, error))
      return false;
    if (!wait_for_lock(lines, deadline, error))
      return false;
    if (is_where_the_path_leads(lines))
      return true;
    close_file(lines);
  }
}

static bool file_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                      struct error *error) {
  (void)source;
  const char *path = url + strlen("file:");
  if (strncmp(path, "//", 2) == 0)
    path += 2;
  struct lines *lines = lines_new(settings, error);
  if (lines == NULL)
    return false;
  lines->path = strdup(path);
  if (lines->path == NULL)
    error_set(error, FAILURE_RETRY, "out of memory");
  if (lines->path == NULL || !open_file(lines, error)) {
    lines_close(lines);
    return false;
  }
  *handle = lines;
  return true;
}

/* Finds where the last line begins, if it is unfinished; else that is the end of the file. */
static bool find_unfinished_line(int fd, off_t size, off_t *begin, struct error *error) {
  for (*begin = size; *begin > 0;) {
    char tail[TAIL];
    size_t length = *begin < (off_t)sizeof tail ? (size_t)*begin : sizeof tail;
    ssize_t got = pread(fd, tail, length, *begin - (off_t)length);
    if (got != (ssize_t)length)
      return failed("read the file", error);
    size_t rest = length;
    while (rest > 0 && tail[rest - 1] != '\n')
      rest--;
    *begin -= (off_t)(length - rest);
    if (rest > 0)
      break;
  }
  return true;
}

/*
 * Whether an unfinished line of that length may be ours: it begins as all of them do. If it is too short to tell, such
 * as "{", that is little; but a write that was cut short ended where a block of the file does.
 */
static bool is_ours(int fd, off_t begin, off_t length, bool *ours, struct error *error) {
  char text[sizeof CHANGE_JSON_BEGIN];
  size_t known = strlen(CHANGE_JSON_BEGIN);
  bool is_cut = length == 0 || length >= (off_t)known || (begin + length) % BLOCK == 0;
  known = length < (off_t)known ? (size_t)length : known;
  ssize_t got = pread(fd, text, known, begin);
  *ours = got == (ssize_t)known && memcmp(text, CHANGE_JSON_BEGIN, known) == 0 && is_cut;
  return got == (ssize_t)known || failed("read the file", error);
}

/* Cuts off an unfinished last line if it is ours. *lacks_end: there is one of somebody else's. */
static bool cut_unfinished_line(int fd, bool *lacks_end, struct error *error) {
  struct stat status;
  *lacks_end = false;
  if (fstat(fd, &status) != 0)
    return failed("examine the file", error);
  off_t begin;
  bool ours;
  if (!S_ISREG(status.st_mode))
    return true;
  if (!find_unfinished_line(fd, status.st_size, &begin, error) ||
      !is_ours(fd, begin, status.st_size - begin, &ours, error))
    return false;
  *lacks_end = !ours;
  if (ours && begin < status.st_size && ftruncate(fd, begin) != 0)
    return failed("cut an unfinished line", error);
  return true;
}

static bool write_all(int fd, const char *bytes, size_t length, size_t *done, struct error *error) {
  for (*done = 0; *done < length;) {
    ssize_t written = write(fd, bytes + *done, length - *done);
    if (written >= 0)
      *done += (size_t)written;
    else if (errno != EINTR)
      return failed("write", error);
  }
  return true;
}

/* Appends to the file, or leaves it as it was, unless somebody who does not lock it has appended meanwhile. */
static bool append(int fd, const char *bytes, size_t length, struct error *error) {
  struct stat before;
  struct stat after;
  size_t done = 0;
  if (fstat(fd, &before) != 0)
    return failed("examine the file", error);
  if (write_all(fd, bytes, length, &done, error) &&
      (portable_sync(fd) || errno == EINVAL || failed("sync the file", error)))
    return true;
  bool is_last = S_ISREG(before.st_mode) && fstat(fd, &after) == 0 && after.st_size == before.st_size + (off_t)done;
  if (is_last && done > 0 && ftruncate(fd, before.st_size) != 0)
    return error_detail(error, "What was written could not be taken back: %s", strerror(errno));
  return false;
}

/* Writes as much at a time as the pipe takes without blocking. */
static bool write_to_reader(int fd, const char *bytes, size_t length, struct error *error) {
  while (length > 0) {
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int ready = poll(&polled, 1, INTERRUPT_INTERVAL);
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (ready <= 0)
      continue;
    ssize_t written = write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
    if (written >= 0) {
      bytes += written;
      length -= (size_t)written;
    } else if (errno == EPIPE) {
      return error_set(error, FAILURE_STOP, "the reader of standard output has gone");
    } else if (errno != EINTR && errno != EAGAIN) {
      return failed("write", error);
    }
  }
  return true;
}

/* All workers share standard output; their lines must not mix. */
static bool write_to_stdout(const struct push *push, const struct buffer *text, struct error *error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool reader_is_gone = false;
  pthread_mutex_lock(&lock);
  bool ok = push_is_still_ours(push, error) && write_to_reader(STDOUT_FILENO, text->data, text->length, error);
  if (!ok && error->kind == FAILURE_STOP && !interrupted() && !reader_is_gone) {
    reader_is_gone = true;
    kill(getpid(), SIGTERM); /* stops the other workers, too */
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

static bool push_to_file(struct lines *lines, const struct push *push, struct error *error) {
  bool lacks_end;
  if (!lock_file(lines, error))
    return false;
  bool ok = cut_unfinished_line(lines->fd, &lacks_end, error) && push_is_still_ours(push, error) &&
            append(lines->fd, lines->text.data + !lacks_end, lines->text.length - !lacks_end, error);
  flock(lines->fd, LOCK_UN);
  return ok;
}

static bool lines_push(void *handle, const struct push *push, struct error *error) {
  struct lines *lines = handle;
  buffer_clear(&lines->text);
  /* To end a line that may be there. */
  if (lines->path != NULL)
    buffer_add(&lines->text, "\n", 1);
  for (size_t i = 0; i < push->count; i++) {
    change_add_json(&lines->text, push->changes[i], lines->settings->source_id);
    buffer_add(&lines->text, "\n", 1);
  }
  if (!buffer_ok(&lines->text, "a batch", error))
    return false;
  return lines->path == NULL ? write_to_stdout(push, &lines->text, error) : push_to_file(lines, push, error);
}

static const struct target_url FILE_URLS[] = {
    {"file", "file:PATH", "JSON lines, appended to a file"},
    {NULL, NULL, NULL},
};

static const struct target_url_rule FILE_RULES[] = {
    {.pattern = "^file:.", .problem = "names no file", .hint = "Write file:PATH, such as file:/var/log/changes.jsonl."},
    {.pattern = NULL},
};

static const struct target_url STDOUT_URLS[] = {
    {"stdout", "stdout:", "JSON lines, to standard output of \"rowrelay run\""},
    {NULL, NULL, NULL},
};

static const struct target_option *const NO_OPTIONS[] = {NULL};

const struct target_kind TARGET_FILE = {.name = "file",
                                        .urls = FILE_URLS,
                                        .url_rules = FILE_RULES,
                                        .options = NO_OPTIONS,
                                        .is_path = true,
                                        .wants_details = lines_wants_details,
                                        .open = file_open,
                                        .push = lines_push,
                                        .close = lines_close};

const struct target_kind TARGET_STDOUT = {.name = "stdout",
                                          .urls = STDOUT_URLS,
                                          .options = NO_OPTIONS,
                                          .is_path = true,
                                          .wants_details = lines_wants_details,
                                          .open = stdout_open,
                                          .push = lines_push,
                                          .close = lines_close};
