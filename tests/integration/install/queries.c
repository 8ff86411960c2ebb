/* The program reads columns by the names that its queries say they give: here they do, and what else comes is no value.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"
#include "queries.h"
#include "source/source.h"

static struct fixture f;

/* Whether PostgreSQL says of the query that it gives these columns and no others. */
static void gives_its_columns(const struct query *query) {
  PGresult *prepared = PQprepare(f.at_source, "", query->text, 0, NULL);
  cr_assert_eq(PQresultStatus(prepared), PGRES_COMMAND_OK, "%s: %s", query->name, PQresultErrorMessage(prepared));
  PGresult *described = PQdescribePrepared(f.at_source, "");
  int column = 0;
  for (; query->columns[column] != NULL; column++) {
    const char *name = PQfname(described, column);
    cr_assert_not_null(name, "%s lacks %s", query->name, query->columns[column]);
    cr_assert_str_eq(name, query->columns[column], "%s", query->name);
  }
  cr_assert_eq(PQnfields(described), column, "%s", query->name);
  PQclear(prepared);
  PQclear(described);
}

Test(queries, give_the_columns_that_they_say) {
  int count = 0;
  fixture_begin(&f, "queries_columns");
  for (size_t i = 0; i < QUERY_COUNT; i++) {
    if (QUERIES[i]->columns == NULL)
      continue;
    gives_its_columns(QUERIES[i]);
    count++;
  }
  cr_assert_gt(count, 40);
  fixture_end(&f);
}

static void assert_refused(struct source *source, const char *text, const char *message) {
  static const char *const COLUMNS[] = {"a", "b", NULL};
  const struct query query = {.text = text, .columns = COLUMNS};
  PGresult *reply = NULL;
  struct error error;
  cr_assert_not(source_run(source, &query, NO_VALUES, &reply, &error), "%s", text);
  cr_assert_str_eq(error.message, message);
  cr_assert_null(reply);
}

Test(queries, other_columns_than_expected_are_an_error) {
  struct source *source;
  struct error error;
  fixture_begin(&f, "queries_renamed");
  cr_assert(source_open(&source, f.source, &error), "%s", error.message);
  assert_refused(source, "select 1 as a, 2 as c", "a query gives column c where b belongs");
  assert_refused(source, "select 2 as b, 1 as a", "a query gives column b where a belongs");
  assert_refused(source, "select 1 as a", "a query gives column (none) where b belongs");
  assert_refused(source, "select 1 as a, 2 as b, 3 as c", "a query gives column c, which nobody reads");
  /* The connection is as good as before. */
  static const char *const COLUMNS[] = {"a", "b", NULL};
  const struct query query = {.text = "select 1 as a, 2 as b", .columns = COLUMNS};
  cr_assert(source_run(source, &query, NO_VALUES, NULL, &error), "%s", error.message);
  source_close(source);
  fixture_end(&f);
}

/* A recursive query multiplies what PostgreSQL expects of a function that returns a set: a thousand rows, if that is
 * not stated. Then it takes gigabytes for a handful. */
Test(queries, set_functions_in_recursive_queries_state_how_many_rows_they_give) {
  fixture_begin(&f, "queries_estimates");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(p.proname, ' ') from pg_proc p "
                                    "where p.pronamespace = 'rowrelay'::regnamespace and p.prorows > 1000"),
                   "");
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(distinct r.proname || ': ' || s.proname, ' ') "
                       "from pg_proc r, lateral regexp_matches(r.prosrc, 'with recursive.*', 'i') as q(text), "
                       "pg_proc s where r.pronamespace = 'rowrelay'::regnamespace and s.pronamespace = r.pronamespace "
                       "and s.proretset and s.prorows = 1000 and s.oid <> r.oid "
                       "and q.text[1] ~ ('rowrelay\\.' || s.proname || '\\(')"),
                   "");
  fixture_end(&f);
}

/* Each statement is looked at, also those that run only when something goes wrong. */
Test(queries, functions_name_no_column_that_is_not_there_or_could_be_a_variable) {
  fixture_begin(&f, "queries_functions");
  PGresult *created = PQexec(f.at_source, "create extension plpgsql_check");
  bool is_there = PQresultStatus(created) == PGRES_COMMAND_OK;
  PQclear(created);
  if (is_there) {
    sql(f.at_source, "create temp table makes_its_schema ()");
    const char *functions = "from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql' ";
    const char *ours = "where p.pronamespace = 'rowrelay'::regnamespace and p.prorettype <> 'trigger'::regtype";
    cr_assert_gt(ask_number(f.at_source, "select count(*) %s %s", functions, ours), 200);
    cr_expect_str_eq(ask(f.at_source,
                         "select string_agg(format('%%s, line %%s: %%s', p.proname, c.lineno, c.message), '; ') "
                         "%s cross join plpgsql_check_function_tb(p.oid, fatal_errors => false) as c %s "
                         "and c.level = 'error' and c.sqlstate like '42%%' and c.message !~ 'pg_temp'",
                         functions, ours),
                     "");
  }
  fixture_end(&f);
  if (!is_there)
    cr_skip_test("extension plpgsql_check is not available");
}
