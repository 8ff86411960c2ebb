#include "native.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The language, in this test's database. */
static void add_language(struct fixture *f) {
  const char *library = getenv("ROWRELAY_TEST_NATIVE");
  if (ask_number(f->at_source, "select count(*) from pg_language where lanname = 'rowrelay'") == 1)
    return;
  if (library == NULL || *library == '\0')
    cr_skip_test("the server module was not built");
  sql(f->at_source,
      "create function pg_catalog.rowrelay_call_handler() returns language_handler language c "
      "as '%s', 'rowrelay_call_handler'; create trusted language rowrelay handler pg_catalog.rowrelay_call_handler; "
      "revoke all on language rowrelay from public",
      library);
}

void native_begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  add_language(f);
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
                    "and funcname = 'log_change'");
}
