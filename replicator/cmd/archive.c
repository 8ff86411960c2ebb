/* rowrelay archive: writes days of the log to files before they are dropped, and restores them. */
#include "common/gzip_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cmd/empty_days.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"

/* Between two attempts to get a lock. Milliseconds. */
#define RETRY_PAUSE 200
/* A server that sends nothing for this long is taken for lost. Milliseconds. */
#define COPY_TIMEOUT 60000
/* The header names all captured tables. Bytes. */
#define HEADER_LIMIT ((size_t)64 * 1024 * 1024)
#define NAME_SIZE 128 /* of a file that is named by a day; and a day */

/* ---- writing --------------------------------------------------------------------------------------------------- */

static bool copy_out(struct source *source, const char *statement, struct gzip_file *archive, struct error *error) {
  struct pgconn *connection = source_connection(source);
  if (!pgconn_copy_begin(connection, statement, error))
    return false;
  int64_t heard_at = clock_now();
  for (;;) {
    char *row;
    int length;
    if (!pgconn_copy_read(connection, COPY_TIMEOUT, &row, &length, error))
      return false;
    if (length < 0)
      return true;
    if (length == 0 && clock_now() - heard_at >= COPY_TIMEOUT)
      return error_set(error, FAILURE_RETRY, "the source sent nothing for %d s", COPY_TIMEOUT / 1000);
    if (length == 0)
      continue;
    heard_at = clock_now();
    bool ok = gzip_file_add(archive, row, (size_t)length, error);
    PQfreemem(row);
    if (!ok)
      return false;
  }
}

static bool write_file(struct source *source, const PGresult *begun, struct gzip_file *archive,
                       char sum[ARCHIVE_SUM_SIZE], struct error *error) {
  const char *header = PQgetvalue(begun, 0, BEGUN_HEADER);
  return gzip_file_add(archive, header, strlen(header), error) && gzip_file_add(archive, "\n", 1, error) &&
         copy_out(source, PQgetvalue(begun, 0, BEGUN_STATEMENT), archive, error) &&
         gzip_file_finish(archive, sum, error);
}

/* A day that is being archived. */
struct leaving_day {
  const char *day;
  const char *dir; /* where its file goes */
  char name[NAME_SIZE];
  int64_t until; /* when to stop trying to drop it; clock_now() */
};

/* The changes are in the file; a session that reads them here may still hold a lock. */
static bool drop_day(struct source *source, const struct leaving_day *leaving, const char *path, struct error *error) {
  for (;;) {
    PGresult *reply = NULL;
    if (!call_run(source, &QUERY_archive_drop, VALUES(leaving->day), &reply, error))
      return false;
    bool dropped = strcmp(PQgetvalue(reply, 0, 0), "dropped") == 0;
    bool over = dropped || clock_now() >= leaving->until;
    if (over)
      printf("%s: written to %s%s%s\n", leaving->day, path,
             dropped ? "" : "; still in the log: ", dropped ? "" : PQgetvalue(reply, 0, 1));
    PQclear(reply);
    if (over)
      return true;
    clock_sleep(RETRY_PAUSE);
  }
}

static bool write_day(struct source *source, const struct leaving_day *leaving, const PGresult *begun,
                      struct error *error) {
  char sum[ARCHIVE_SUM_SIZE];
  struct gzip_file *archive;
  if (!gzip_file_create(&archive, leaving->dir, leaving->name, error))
    return false;
  bool ok = write_file(source, begun, archive, sum, error);
  if (ok) {
    const char *path = gzip_file_path(archive);
    ok = call_run(source, &QUERY_archive_note, VALUES(leaving->day, strrchr(path, '/') + 1, sum), NULL, error) &&
         drop_day(source, leaving, path, error);
  }
  gzip_file_free(archive);
  return ok;
}

/* In one transaction, which keeps others from altering the day. */
static bool archive_day(struct source *source, const struct leaving_day *leaving, struct error *error) {
  PGresult *begun = NULL;
  if (!source_script(source, "begin isolation level read committed", error) ||
      !call_run(source, &QUERY_archive_begin, VALUES(leaving->day), &begun, error))
    return false;
  const char *note = result_text(begun, 0, BEGUN_NOTE);
  bool ok = true;
  if (note != NULL)
    printf("%s: kept: %s\n", leaving->day, note);
  else
    ok = write_day(source, leaving, begun, error);
  PQclear(begun);
  fflush(stdout);
  return ok && source_script(source, "commit", error);
}

static bool archive_days(struct source *source, const char *older_than, const char *dir, int64_t seconds,
                         struct error *error) {
  PGresult *days = NULL;
  if (!call_run(source, &QUERY_archive_age, VALUES(older_than), NULL, error) ||
      !call_run(source, &QUERY_close_days, NO_VALUES, NULL, error) ||
      !call_run(source, &QUERY_archive_days, VALUES(older_than), &days, error))
    return false;
  bool ok = true;
  if (PQntuples(days) == 0)
    puts("nothing is old enough to be archived");
  for (int row = 0; ok && row < PQntuples(days); row++) {
    struct leaving_day leaving = {.day = PQgetvalue(days, row, 0), .dir = dir, .until = clock_now() + seconds * 1000};
    /* Several sources may write into one directory. */
    snprintf(leaving.name, sizeof leaving.name, "changes-%s-%.8s.jsonl.gz", leaving.day, PQgetvalue(days, row, 1));
    ok = archive_day(source, &leaving, error);
  }
  PQclear(days);
  return ok && empty_days_drop(source, clock_now() + seconds * 1000, error);
}

static bool check_directory(const struct options *given, struct error *error) {
  struct stat status;
  if (!option_given(given, "older-than")) {
    error_set(error, FAILURE_USAGE, "option --older-than is missing");
    return error_hint(error, "add the age at which days are archived, such as --older-than '90 days'");
  }
  if (given->argument_count != 1)
    return error_set(error, FAILURE_USAGE, "name one directory, not %zu", given->argument_count);
  if (stat(given->arguments[0], &status) != 0 || !S_ISDIR(status.st_mode))
    return error_set(error, FAILURE_USAGE, "%s is not a directory", given->arguments[0]);
  return true;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* A file that is being restored. */
struct restore {
  struct source *source;
  const char *path;
  struct buffer header; /* the first line */
  bool begun;           /* the header has been read */
  char day[NAME_SIZE];
  char known_sum[ARCHIVE_SUM_SIZE]; /* as the log recorded it; "": not recorded */
};

/* Runs a query about the file, and names the file in its errors. */
static bool ask(const struct restore *restore, const struct query *query, PGresult **reply, struct error *error) {
  if (call_run(restore->source, query, VALUES(restore->header.data), reply, error))
    return true;
  struct error said = *error;
  error_set(error, said.kind, "%s: %s", restore->path, said.message);
  error_detail(error, "%s", said.detail);
  return error_hint(error, "%s", said.hint);
}

static bool begin_restore(struct restore *restore, struct error *error) {
  PGresult *reply = NULL;
  if (!buffer_ok(&restore->header, "the first line of the file", error) ||
      !ask(restore, &QUERY_restore_begin, &reply, error))
    return false;
  const char *sum = result_text(reply, 0, 1);
  snprintf(restore->day, sizeof restore->day, "%s", PQgetvalue(reply, 0, 0));
  snprintf(restore->known_sum, sizeof restore->known_sum, "%s", sum != NULL ? sum : "");
  PQclear(reply);
  restore->begun = true;
  return pgconn_copy_begin(source_connection(restore->source), QUERY_restore_copy.text, error);
}

static bool take_piece(void *context, const char *data, size_t length, struct error *error) {
  struct restore *restore = context;
  if (!restore->begun) {
    const char *end = memchr(data, '\n', length);
    size_t part = end != NULL ? (size_t)(end - data) : length;
    buffer_add(&restore->header, data, part);
    if (end == NULL)
      return buffer_ok(&restore->header, "the first line of the file", error);
    if (!begin_restore(restore, error))
      return false;
    data += part + 1;
    length -= part + 1;
  }
  return length == 0 || pgconn_copy_write(source_connection(restore->source), data, length, error);
}

static bool check_sum(const char *path, const char *sum, const char *expected, const char *whose, struct error *error) {
  if (expected[0] == '\0' || strcmp(sum, expected) == 0)
    return true;
  error_set(error, FAILURE_FATAL, "file %s was altered or damaged", path);
  return error_detail(error, "Its SHA-256 is %s; %s says %s.", sum, whose, expected);
}

static bool copy_in(struct restore *restore, struct error *error) {
  const char *path = restore->path;
  char sum[ARCHIVE_SUM_SIZE];
  char expected[ARCHIVE_SUM_SIZE];
  if (!gzip_file_expected_sum(path, expected, error) || !gzip_file_read(path, take_piece, restore, sum, error))
    return false;
  if (!restore->begun)
    return error_set(error, FAILURE_FATAL, "file %s was not written by rowrelay archive", path);
  return pgconn_copy_end(source_connection(restore->source), error) &&
         check_sum(path, sum, expected, "the file beside it", error) &&
         check_sum(path, sum, restore->known_sum, "the log", error);
}

static bool restore_file(struct source *source, const char *path, struct error *error) {
  struct restore restore = {.source = source, .path = path};
  PGresult *reply = NULL;
  buffer_init(&restore.header, HEADER_LIMIT);
  bool ok = source_script(source, "begin isolation level read committed", error) && copy_in(&restore, error) &&
            ask(&restore, &QUERY_restore_end, &reply, error) && source_script(source, "commit", error);
  if (ok)
    printf("%s: %s change%s restored to the log\n", restore.day, PQgetvalue(reply, 0, 0),
           text_plural(result_bigint(reply, 0, 0)));
  PQclear(reply);
  buffer_release(&restore.header);
  return ok;
}

static bool restore_files(struct source *source, size_t count, const char *const *paths, struct error *error) {
  if (count == 0)
    return error_set(error, FAILURE_USAGE, "name at least one file to restore");
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++)
    ok = restore_file(source, paths[i], error);
  return ok;
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

static bool run(const struct options *given, struct error *error) {
  int64_t seconds;
  struct source *source;
  bool restore = option_given(given, "restore");
  if (!option_integer(given, "lock-wait", (struct bounds){0, 86400}, &seconds, error) ||
      (!restore && !check_directory(given, error)) || !call_open(&source, given, error))
    return false;
  bool ok = restore ? restore_files(source, given->argument_count, given->arguments, error)
                    : archive_days(source, option_text(given, "older-than"), given->arguments[0], seconds, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "older-than", .value = "INTERVAL", .help = "archive days that are older than this"},
    {.name = "restore", .help = "restore days from files"},
    {.name = "lock-wait", .value = "SECONDS", .initial = "10", .help = "try for this long to get locks"},
    OPTION_END,
};

const struct command COMMAND_archive = {
    .name = "archive",
    .summary = "write old changes to files and drop them, or restore them",
    .arguments = "DIR | --restore FILE...",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "Each day becomes a file in DIR, on this machine: a line of JSON for each change, compressed, with a checksum\n"
        "in a file beside it. The day is dropped once the file is on disk and was read back successfully. A restored\n"
        "day stays until \"rowrelay prune --restored\".\n",
    .examples = "rowrelay archive --older-than '80 days' /archive\n"
                "rowrelay archive --restore /archive/*.gz\n",
    .run = run,
};
