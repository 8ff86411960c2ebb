/*
 * Stands between the program and what it calls that can fail: memory, libpq, libcurl and a few others (the linker's
 * --wrap leads them here, see the Makefile). One call of a run fails, which the environment names:
 *
 *   FAULT=PLACE:TIME:KIND   the TIME-th call (from 1) at PLACE; without it all succeed
 *   FAULT_LOG=FILE          without FAULT gets a line for each place at the end: "PLACE TIMES FUNCTION ADDRESS…";
 *                           with it "failed FUNCTION ADDRESS…" when it failed
 *   FAULT_FRAMES=NUMBER     how many return addresses tell places apart, this file's included (4)
 *
 * A place is the hash of the function and of the program's innermost return addresses, relative to where it is loaded:
 * so it is the same in each run, whatever threads do meanwhile. Kinds: "fail": the call does nothing and says that
 * memory ran out; "cut": the connection to PostgreSQL is cut before the call; "lost": behind it.
 */
#include <curl/curl.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <microhttpd.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_PLACES 65536 /* a power of two */
#define MOST_OWN_FRAMES 8
/* All that is looked through for them. */
#define MOST_FRAMES 48

enum kind { NOTHING, FAIL, CUT, LOST };

struct place {
  uint64_t hash;
  unsigned long times;
  const char *function;
  uintptr_t frames[MOST_OWN_FRAMES];
};

extern char __executable_start;
extern char etext;

static struct place places[MOST_PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t wanted;
static unsigned long wanted_time;
static enum kind wanted_kind;
static const char *log_path;
static int frame_count = 4;
/* A failed call of libpq leaves a message until something else is asked; that of a call that was not made is told here.
 */
static _Thread_local bool libpq_failed;

static void write_line(int fd, const char *begin, const struct place *place) {
  char line[512];
  int length = snprintf(line, sizeof line, "%s %s", begin, place->function);
  for (int i = 0; i < MOST_OWN_FRAMES && place->frames[i] != 0; i++)
    length += snprintf(line + length, sizeof line - (size_t)length, " 0x%lx", (unsigned long)place->frames[i]);
  line[length++] = '\n';
  if (write(fd, line, (size_t)length) != length)
    abort();
}

static int open_log(void) {
  int fd = log_path == NULL ? -1 : open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return fd;
}

static void list_places(void) {
  int fd = open_log();
  for (size_t i = 0; fd >= 0 && i < MOST_PLACES; i++) {
    char begin[64];
    if (places[i].hash == 0)
      continue;
    snprintf(begin, sizeof begin, "%016llx %lu", (unsigned long long)places[i].hash, places[i].times);
    write_line(fd, begin, &places[i]);
  }
  if (fd >= 0)
    close(fd);
}

__attribute__((constructor)) static void read_environment(void) {
  static const char *const KINDS[] = {[FAIL] = "fail", [CUT] = "cut", [LOST] = "lost"};
  const char *fault = getenv("FAULT");
  const char *frames = getenv("FAULT_FRAMES");
  log_path = getenv("FAULT_LOG");
  if (frames != NULL && strtol(frames, NULL, 10) > 0 && strtol(frames, NULL, 10) <= MOST_OWN_FRAMES)
    frame_count = (int)strtol(frames, NULL, 10);
  void *first[1];
  backtrace(first, 1); /* loads its library, which takes memory */
  if (fault == NULL) {
    atexit(list_places);
    return;
  }
  char *end;
  wanted = strtoull(fault, &end, 16);
  wanted_time = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
  for (int i = FAIL; i <= LOST; i++)
    if (*end == ':' && strcmp(end + 1, KINDS[i]) == 0)
      wanted_kind = (enum kind)i;
  if (wanted_kind == NOTHING) {
    fprintf(stderr, "FAULT=%s is not PLACE:TIME:KIND\n", fault);
    _exit(99);
  }
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ byte[i]) * 1099511628211U;
  return hash;
}

static void find_frames(struct place *place) {
  void *frames[MOST_FRAMES];
  int count = backtrace(frames, MOST_FRAMES);
  uintptr_t begin = (uintptr_t)&__executable_start;
  uintptr_t end = (uintptr_t)&etext;
  for (int i = 0, found = 0; i < count && found < frame_count; i++) {
    uintptr_t address = (uintptr_t)frames[i];
    if (address >= begin && address < end)
      place->frames[found++] = address - begin;
  }
}

/* What becomes of this call. */
static enum kind decide(const char *function) {
  static _Thread_local bool deciding;
  if (deciding)
    return NOTHING;
  deciding = true;
  struct place here = {.function = function};
  find_frames(&here);
  here.hash = mix(14695981039346656037U, function, strlen(function));
  here.hash = mix(here.hash, here.frames, sizeof here.frames) | 1;
  enum kind kind = NOTHING;
  pthread_mutex_lock(&lock);
  size_t i = here.hash & (MOST_PLACES - 1);
  while (places[i].hash != 0 && places[i].hash != here.hash)
    i = (i + 1) & (MOST_PLACES - 1);
  if (places[i].hash == 0)
    places[i] = here;
  if (++places[i].times == wanted_time && here.hash == wanted)
    kind = wanted_kind;
  pthread_mutex_unlock(&lock);
  if (kind != NOTHING) {
    int fd = open_log();
    if (fd >= 0) {
      write_line(fd, "failed", &here);
      close(fd);
    }
  }
  deciding = false;
  return kind;
}

#define WRAPPED(type, name, ...)                                                                                       \
  type __real_##name(__VA_ARGS__);                                                                                     \
  type __wrap_##name(__VA_ARGS__);                                                                                     \
  type __wrap_##name(__VA_ARGS__)

static bool fails(const char *function) {
  if (decide(function) == NOTHING)
    return false;
  errno = ENOMEM;
  return true;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

WRAPPED(void *, malloc, size_t size) {
  return fails("malloc") ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, size_t count, size_t size) {
  return fails("calloc") ? NULL : __real_calloc(count, size);
}

WRAPPED(void *, realloc, void *memory, size_t size) {
  return fails("realloc") ? NULL : __real_realloc(memory, size);
}

WRAPPED(char *, strdup, const char *text) {
  return fails("strdup") ? NULL : __real_strdup(text);
}

WRAPPED(char *, strndup, const char *text, size_t length) {
  return fails("strndup") ? NULL : __real_strndup(text, length);
}

WRAPPED(FILE *, open_memstream, char **text, size_t *length) {
  return fails("open_memstream") ? NULL : __real_open_memstream(text, length);
}

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
        void *argument) {
  return decide("pthread_create") != NOTHING ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

WRAPPED(EVP_MD_CTX *, EVP_MD_CTX_new, void) {
  return fails("EVP_MD_CTX_new") ? NULL : __real_EVP_MD_CTX_new();
}

WRAPPED(EVP_PKEY *, EVP_PKEY_new_raw_private_key, int type, ENGINE *engine, const unsigned char *key, size_t length) {
  return fails("EVP_PKEY_new_raw_private_key") ? NULL : __real_EVP_PKEY_new_raw_private_key(type, engine, key, length);
}

WRAPPED(struct MHD_Response *, MHD_create_response_from_buffer, size_t size, void *bytes,
        enum MHD_ResponseMemoryMode mode) {
  return fails("MHD_create_response_from_buffer") ? NULL : __real_MHD_create_response_from_buffer(size, bytes, mode);
}

/* ---- libpq ----------------------------------------------------------------------------------------------------- */

static void cut(PGconn *connection) {
  int fd = PQsocket(connection);
  if (fd >= 0)
    shutdown(fd, SHUT_RDWR);
}

/* A call on a connection, which may fail, or be made with the connection cut before or behind it. */
#define ON_CONNECTION(type, failure, name, connection, call)                                                           \
  enum kind kind = decide(#name);                                                                                      \
  libpq_failed = kind == FAIL || (libpq_failed && strncmp(#name, "PQsend", 6) != 0);                                   \
  if (kind == FAIL)                                                                                                    \
    return failure;                                                                                                    \
  if (kind == CUT)                                                                                                     \
    cut(connection);                                                                                                   \
  type given = __real_##name call;                                                                                     \
  if (kind == LOST)                                                                                                    \
    cut(connection);                                                                                                   \
  return given

WRAPPED(char *, PQerrorMessage, const PGconn *connection) {
  static char text[] = "out of memory\n";
  return libpq_failed ? text : __real_PQerrorMessage(connection);
}

WRAPPED(PGconn *, PQconnectStartParams, const char *const *keywords, const char *const *values, int expand) {
  return fails("PQconnectStartParams") ? NULL : __real_PQconnectStartParams(keywords, values, expand);
}

WRAPPED(PostgresPollingStatusType, PQconnectPoll, PGconn *pg) {
  ON_CONNECTION(PostgresPollingStatusType, PGRES_POLLING_FAILED, PQconnectPoll, pg, (pg));
}

WRAPPED(int, PQsetnonblocking, PGconn *pg, int on) {
  ON_CONNECTION(int, -1, PQsetnonblocking, pg, (pg, on));
}

WRAPPED(int, PQsendQuery, PGconn *pg, const char *text) {
  ON_CONNECTION(int, 0, PQsendQuery, pg, (pg, text));
}

WRAPPED(int, PQsendPrepare, PGconn *pg, const char *name, const char *text, int count, const Oid *types) {
  ON_CONNECTION(int, 0, PQsendPrepare, pg, (pg, name, text, count, types));
}

WRAPPED(int, PQsendQueryParams, PGconn *pg, const char *text, int count, const Oid *types, const char *const *values,
        const int *lengths, const int *formats, int format) {
  ON_CONNECTION(int, 0, PQsendQueryParams, pg, (pg, text, count, types, values, lengths, formats, format));
}

WRAPPED(int, PQsendQueryPrepared, PGconn *pg, const char *name, int count, const char *const *values,
        const int *lengths, const int *formats, int format) {
  ON_CONNECTION(int, 0, PQsendQueryPrepared, pg, (pg, name, count, values, lengths, formats, format));
}

WRAPPED(int, PQenterPipelineMode, PGconn *pg) {
  ON_CONNECTION(int, 0, PQenterPipelineMode, pg, (pg));
}

WRAPPED(int, PQpipelineSync, PGconn *pg) {
  ON_CONNECTION(int, 0, PQpipelineSync, pg, (pg));
}

WRAPPED(int, PQexitPipelineMode, PGconn *pg) {
  ON_CONNECTION(int, 0, PQexitPipelineMode, pg, (pg));
}

WRAPPED(int, PQflush, PGconn *pg) {
  ON_CONNECTION(int, -1, PQflush, pg, (pg));
}

WRAPPED(int, PQconsumeInput, PGconn *pg) {
  ON_CONNECTION(int, 0, PQconsumeInput, pg, (pg));
}

/* libpq lets go of what has come and gives an error without a code instead; that all has come can be told at any time.
 */
WRAPPED(PGresult *, PQgetResult, PGconn *pg) {
  enum kind kind = decide("PQgetResult");
  if (kind == CUT)
    cut(pg);
  PGresult *given = __real_PQgetResult(pg);
  if (kind == FAIL && given != NULL) {
    libpq_failed = true;
    PQclear(given);
    given = PQmakeEmptyPGresult(pg, PGRES_FATAL_ERROR);
  }
  if (kind == LOST)
    cut(pg);
  return given;
}

WRAPPED(int, PQputCopyData, PGconn *pg, const char *bytes, int length) {
  ON_CONNECTION(int, -1, PQputCopyData, pg, (pg, bytes, length));
}

WRAPPED(int, PQputCopyEnd, PGconn *pg, const char *message) {
  ON_CONNECTION(int, -1, PQputCopyEnd, pg, (pg, message));
}

WRAPPED(int, PQgetCopyData, PGconn *pg, char **row, int is_asynchronous) {
  ON_CONNECTION(int, -2, PQgetCopyData, pg, (pg, row, is_asynchronous));
}

WRAPPED(PQconninfoOption *, PQconninfo, PGconn *pg) {
  return fails("PQconninfo") ? NULL : __real_PQconninfo(pg);
}

WRAPPED(PQconninfoOption *, PQconninfoParse, const char *conninfo, char **message) {
  if (!fails("PQconninfoParse"))
    return __real_PQconninfoParse(conninfo, message);
  *message = NULL;
  return NULL;
}

WRAPPED(PGcancel *, PQgetCancel, PGconn *pg) {
  return fails("PQgetCancel") ? NULL : __real_PQgetCancel(pg);
}

WRAPPED(int, PQcancel, PGcancel *cancel, char *message, int size) {
  return decide("PQcancel") != NOTHING ? 0 : __real_PQcancel(cancel, message, size);
}

/* ---- libcurl --------------------------------------------------------------------------------------------------- */

WRAPPED(CURLcode, curl_global_init, long flags) {
  return decide("curl_global_init") != NOTHING ? CURLE_FAILED_INIT : __real_curl_global_init(flags);
}

WRAPPED(CURL *, curl_easy_init, void) {
  return fails("curl_easy_init") ? NULL : __real_curl_easy_init();
}

CURLcode __real_curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...) {
  if (decide("curl_easy_setopt") != NOTHING)
    return CURLE_OUT_OF_MEMORY;
  va_list arguments;
  va_start(arguments, option);
  CURLcode code;
  if ((int)option >= CURLOPTTYPE_OFF_T)
    code = (__real_curl_easy_setopt)(easy, option, va_arg(arguments, curl_off_t));
  else if ((int)option >= CURLOPTTYPE_OBJECTPOINT)
    code = (__real_curl_easy_setopt)(easy, option, va_arg(arguments, void *));
  else
    code = (__real_curl_easy_setopt)(easy, option, va_arg(arguments, long));
  va_end(arguments);
  return code;
}

CURLMcode __real_curl_multi_setopt(CURLM *multi, CURLMoption option, ...);
CURLMcode __wrap_curl_multi_setopt(CURLM *multi, CURLMoption option, ...);
CURLMcode __wrap_curl_multi_setopt(CURLM *multi, CURLMoption option, ...) {
  if (decide("curl_multi_setopt") != NOTHING)
    return CURLM_OUT_OF_MEMORY;
  va_list arguments;
  va_start(arguments, option);
  CURLMcode code = (__real_curl_multi_setopt)(multi, option, va_arg(arguments, long));
  va_end(arguments);
  return code;
}

WRAPPED(CURLM *, curl_multi_init, void) {
  return fails("curl_multi_init") ? NULL : __real_curl_multi_init();
}

WRAPPED(CURLMcode, curl_multi_add_handle, CURLM *multi, CURL *easy) {
  return decide("curl_multi_add_handle") != NOTHING ? CURLM_OUT_OF_MEMORY : __real_curl_multi_add_handle(multi, easy);
}

WRAPPED(CURLMcode, curl_multi_perform, CURLM *multi, int *running) {
  return decide("curl_multi_perform") != NOTHING ? CURLM_OUT_OF_MEMORY : __real_curl_multi_perform(multi, running);
}

WRAPPED(CURLMcode, curl_multi_poll, CURLM *multi, struct curl_waitfd *others, unsigned count, int timeout, int *ready) {
  return decide("curl_multi_poll") != NOTHING ? CURLM_OUT_OF_MEMORY
                                              : __real_curl_multi_poll(multi, others, count, timeout, ready);
}

WRAPPED(struct curl_slist *, curl_slist_append, struct curl_slist *list, const char *line) {
  return fails("curl_slist_append") ? NULL : __real_curl_slist_append(list, line);
}

WRAPPED(char *, curl_easy_escape, CURL *easy, const char *text, int length) {
  return fails("curl_easy_escape") ? NULL : __real_curl_easy_escape(easy, text, length);
}
