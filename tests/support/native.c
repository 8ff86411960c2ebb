#include "native.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: it was not built. */
static const char *built_library(void) {
  const char *library = getenv("ROWRELAY_TEST_NATIVE");
  return library == NULL || *library == '\0' ? NULL : library;
}

static void make_language(struct fixture *f, const char *library) {
  sql(f->at_source,
      "create function pg_catalog.rowrelay_call_handler() returns language_handler language c "
      "as '%s', 'rowrelay_call_handler'; create function pg_catalog.rowrelay_validator(oid) returns void language c "
      "as '%s', 'rowrelay_validator'; create trusted language rowrelay handler pg_catalog.rowrelay_call_handler "
      "validator pg_catalog.rowrelay_validator; revoke all on language rowrelay from public",
      library, library);
}

bool native_add_language(struct fixture *f) {
  if (ask_number(f->at_source, "select count(*) from pg_language where lanname = 'rowrelay'") == 1)
    return true;
  if (built_library() == NULL)
    return false;
  make_language(f, built_library());
  return true;
}

const char *native_own_library(struct fixture *f) {
  static char path[256];
  char command[640];
  const char *library = built_library();
  if (library == NULL)
    cr_skip_test("the server module was not built");
  snprintf(path, sizeof path, "%.*s/%s.so", (int)(strrchr(library, '/') - library), library, f->name);
  snprintf(command, sizeof command, "cp %s %s", library, path);
  cr_assert_eq(system(command), 0);
  sql(f->at_source, "drop language if exists rowrelay; "
                    "drop function if exists pg_catalog.rowrelay_call_handler(), pg_catalog.rowrelay_validator(oid)");
  make_language(f, path);
  return path;
}

void native_begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  if (!native_add_language(f))
    cr_skip_test("the server module was not built");
  sql(f->at_source, "update rowrelay.source set native = true");
  rowrelay_ok(f, "target", "add", "w", "file:/dev/null", NULL);
  rowrelay_ok(f, "target", "add", "few", "file:/dev/null", "--option", "lanes=8", NULL);
}

PGconn *native_item_begin(struct fixture *f, const char *name) {
  native_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, v int)");
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
  return connect_to(f->source, NULL);
}

int64_t native_written_slowly(PGconn *writer) {
  sql(writer, "set track_functions = 'all'");
  return ask_number(writer,
                    "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where schemaname = 'rowrelay' "
                    "and funcname in ('log_change', 'log_row')");
}
