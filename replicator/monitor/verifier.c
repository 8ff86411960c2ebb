#include "monitor/verifier.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json_tree.h"
#include "common/log.h"
#include "common/portable.h"

#define LARGEST_RESULT ((size_t)1024 * 1024)
#define LARGEST_MESSAGE ((size_t)16 * 1024)
#define DIFFERENCES "100" /* of each table that are shown */
#define LARGEST_NAME ((size_t)1024)

struct verifier {
  const char *conninfo;
  pthread_mutex_t lock;
  /* Of the last comparison; target "": there was none. */
  char target[LARGEST_NAME];
  char table[LARGEST_NAME];
  char by[LARGEST_NAME];
  bool repair;
  bool running;
  bool joinable; /* its thread */
  pid_t process;
  pthread_t thread;
  int output;
  int errors;
  int64_t began_at; /* clock_now() */
  int64_t ended_at;
  int status;
  struct buffer result;
  struct buffer progress; /* the last line of it */
  struct buffer message;
};

struct verifier *verifier_new(const char *conninfo) {
  struct verifier *made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  made->conninfo = conninfo;
  pthread_mutex_init(&made->lock, NULL);
  buffer_init(&made->result, LARGEST_RESULT);
  buffer_init(&made->progress, LARGEST_MESSAGE);
  buffer_init(&made->message, LARGEST_MESSAGE);
  return made;
}

/* ---- what it says ---------------------------------------------------------------------------------------------- */

/* A line of stderr: how far it is, which is JSON, or why it failed. */
static void take_line(struct verifier *verifier, const char *line, size_t length) {
  struct buffer *into = length > 0 && line[0] == '{' ? &verifier->progress : &verifier->message;
  if (into == &verifier->progress)
    buffer_clear(into);
  else if (!buffer_is_empty(into))
    buffer_add_string(into, "\n");
  buffer_add(into, line, length);
}

static void take_lines(struct verifier *verifier, struct buffer *unread, bool at_end) {
  char *end;
  while (unread->length > 0 && ((end = memchr(unread->data, '\n', unread->length)) != NULL || at_end)) {
    size_t length = end != NULL ? (size_t)(end - unread->data) : unread->length;
    take_line(verifier, unread->data, length);
    buffer_drop(unread, end != NULL ? length + 1 : length);
  }
}

/* Adds what is there to read; false: there will be no more. */
static bool read_some(int from, struct buffer *into) {
  char some[4096];
  ssize_t length = read(from, some, sizeof some);
  if (length > 0)
    buffer_add(into, some, (size_t)length);
  return length > 0 || (length < 0 && errno == EINTR);
}

static void read_all(struct verifier *verifier) {
  struct buffer unread;
  struct pollfd from[] = {{.fd = verifier->output, .events = POLLIN}, {.fd = verifier->errors, .events = POLLIN}};
  buffer_init(&unread, LARGEST_MESSAGE);
  while (from[0].fd >= 0 || from[1].fd >= 0) {
    if (poll(from, 2, -1) < 0)
      continue;
    pthread_mutex_lock(&verifier->lock);
    if (from[0].revents != 0 && !read_some(from[0].fd, &verifier->result))
      from[0].fd = -1;
    if (from[1].revents != 0 && !read_some(from[1].fd, &unread))
      from[1].fd = -1;
    take_lines(verifier, &unread, from[1].fd < 0);
    pthread_mutex_unlock(&verifier->lock);
  }
  buffer_release(&unread);
}

static void *watch(void *context) {
  struct verifier *verifier = context;
  int status = 0;
  read_all(verifier);
  close(verifier->output);
  close(verifier->errors);
  /* Its number must not be another's while somebody may send it a signal. */
  siginfo_t ended;
  while (waitid(P_PID, (id_t)verifier->process, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR)
    ;
  pthread_mutex_lock(&verifier->lock);
  while (waitpid(verifier->process, &status, 0) < 0 && errno == EINTR)
    ;
  verifier->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  verifier->ended_at = clock_now();
  verifier->running = false;
  pthread_mutex_unlock(&verifier->lock);
  return NULL;
}

/* ---- to begin and to stop -------------------------------------------------------------------------------------- */

static bool spawn(struct verifier *verifier, int output, int errors, struct error *error) {
  const char *words[16] = {"rowrelay"};
  size_t count = 1;
  if (verifier->conninfo != NULL) {
    words[count++] = "-d";
    words[count++] = verifier->conninfo;
  }
  words[count++] = "verify";
  words[count++] = "--json";
  words[count++] = "--progress";
  words[count++] = "--limit";
  words[count++] = DIFFERENCES;
  if (verifier->repair)
    words[count++] = "--repair";
  words[count++] = "--";
  words[count++] = verifier->target;
  if (verifier->table[0] != '\0')
    words[count++] = verifier->table;
  sigset_t none;
  sigset_t all;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  char path[PATH_MAX];
  const char *program = portable_program(path, sizeof path);
  int failed = program == NULL
                   ? ENOENT
                   : posix_spawn(&verifier->process, program, &actions, &attributes, (char *const *)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot run rowrelay verify: %s", strerror(failed));
}

static void close_pair(const int pair[2]) {
  close(pair[0]);
  close(pair[1]);
}

/* Its thread reads what it says. */
static bool launch(struct verifier *verifier, struct error *error) {
  int output[2];
  int errors[2];
  if (!portable_pipe(output))
    return error_set(error, FAILURE_RETRY, "cannot make a pipe: %s", strerror(errno));
  if (!portable_pipe(errors)) {
    close_pair(output);
    return error_set(error, FAILURE_RETRY, "cannot make a pipe: %s", strerror(errno));
  }
  if (!spawn(verifier, output[1], errors[1], error)) {
    close_pair(output);
    close_pair(errors);
    return false;
  }
  close(output[1]);
  close(errors[1]);
  verifier->output = output[0];
  verifier->errors = errors[0];
  if (pthread_create(&verifier->thread, NULL, watch, verifier) == 0)
    return true;
  kill(verifier->process, SIGKILL);
  waitpid(verifier->process, NULL, 0);
  close(output[0]);
  close(errors[0]);
  return error_set(error, FAILURE_FATAL, "cannot start a thread");
}

static bool keep_name(char name[LARGEST_NAME], const char *given, struct error *error) {
  size_t length = given != NULL ? strlen(given) : 0;
  if (length >= LARGEST_NAME)
    return error_set(error, FAILURE_USAGE, "a name is longer than %zu bytes", LARGEST_NAME - 1);
  memcpy(name, given != NULL ? given : "", length + 1);
  return true;
}

static bool begin(struct verifier *verifier, const struct verifier_task *task, struct error *error) {
  if (verifier->running)
    return error_set(error, FAILURE_USAGE, "target \"%s\" is being compared; one is compared at a time",
                     verifier->target);
  if (verifier->joinable)
    pthread_join(verifier->thread, NULL);
  verifier->joinable = false;
  buffer_clear(&verifier->result);
  buffer_clear(&verifier->progress);
  buffer_clear(&verifier->message);
  verifier->repair = task->repair;
  verifier->began_at = clock_now();
  if (!keep_name(verifier->target, task->target, error) || !keep_name(verifier->table, task->table, error) ||
      !keep_name(verifier->by, task->by, error) || !launch(verifier, error)) {
    verifier->target[0] = '\0';
    return false;
  }
  verifier->joinable = true;
  verifier->running = true;
  return true;
}

bool verifier_begin(struct verifier *verifier, const struct verifier_task *task, struct error *error) {
  pthread_mutex_lock(&verifier->lock);
  bool ok = begin(verifier, task, error);
  pthread_mutex_unlock(&verifier->lock);
  return ok;
}

void verifier_stop(struct verifier *verifier, const char *target) {
  pthread_mutex_lock(&verifier->lock);
  if (verifier->running && strcmp(verifier->target, target) == 0)
    kill(verifier->process, SIGTERM);
  pthread_mutex_unlock(&verifier->lock);
}

void verifier_free(struct verifier *verifier) {
  if (verifier == NULL)
    return;
  pthread_mutex_lock(&verifier->lock);
  if (verifier->running) /* its sessions end with it; nothing of it is half done */
    kill(verifier->process, SIGKILL);
  pthread_mutex_unlock(&verifier->lock);
  if (verifier->joinable)
    pthread_join(verifier->thread, NULL);
  buffer_release(&verifier->result);
  buffer_release(&verifier->progress);
  buffer_release(&verifier->message);
  pthread_mutex_destroy(&verifier->lock);
  free(verifier);
}

/* ---- for the page ---------------------------------------------------------------------------------------------- */

/* What is JSON as it is; what is cut off, or was too large, is none. */
static void write_tree(struct buffer *json, const char *name, const struct buffer *text) {
  bool no_memory;
  json_t *tree =
      buffer_is_empty(text) || text->overflow ? NULL : json_tree_parse(text->data, text->length, 0, &no_memory);
  buffer_add_format(json, ",\"%s\":", name);
  buffer_add_string(json, tree != NULL ? text->data : "null");
  json_decref(tree);
}

static void write_last(const struct verifier *verifier, struct buffer *json) {
  int64_t until = verifier->running ? clock_now() : verifier->ended_at;
  buffer_add_string(json, "{\"target\":");
  buffer_add_json_string(json, verifier->target);
  buffer_add_string(json, ",\"table\":");
  buffer_add_json_string(json, verifier->table[0] != '\0' ? verifier->table : NULL);
  buffer_add_string(json, ",\"by\":");
  buffer_add_json_string(json, verifier->by[0] != '\0' ? verifier->by : NULL);
  buffer_add_format(json, ",\"repair\":%s,\"running\":%s,\"seconds\":%.1f", verifier->repair ? "true" : "false",
                    verifier->running ? "true" : "false", (double)(until - verifier->began_at) / 1000);
  write_tree(json, "progress", &verifier->progress);
  write_tree(json, "result", &verifier->result);
  buffer_add_format(json, ",\"status\":%d,\"error\":", verifier->running ? 0 : verifier->status);
  buffer_add_json_string(
      json, buffer_is_empty(&verifier->message) || verifier->message.overflow ? NULL : verifier->message.data);
  buffer_add_string(json, "}");
}

void verifier_write(struct verifier *verifier, const char *target, struct buffer *json) {
  pthread_mutex_lock(&verifier->lock);
  if (verifier->target[0] != '\0' && strcmp(verifier->target, target) == 0)
    write_last(verifier, json);
  else
    buffer_add_string(json, "null");
  pthread_mutex_unlock(&verifier->lock);
}
