/* A batch as it is read from the source's two replies: what was queued, and what the log says of it. */
#include <criterion/criterion.h>
#include <string.h>

#include "queries.h"
#include "source/change.h"

static struct batch batch;
static struct error error;
static struct route known[] = {{.capture = 3, .relation = "public.item"},
                               {.capture = 7, .relation = "public.bare", .keyless = true}};
static const struct routes routes = {.routes = known, .count = 2};

static PGresult *reply(int rows, int columns, const char *const *texts) {
  PGresult *made = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  static PGresAttDesc attributes[LOGGED_COLUMN_COUNT];
  for (int i = 0; i < columns; i++)
    attributes[i] = (PGresAttDesc){.name = "c"};
  cr_assert(PQsetResultAttrs(made, columns, attributes));
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++) {
      const char *text = texts[row * columns + column];
      cr_assert(PQsetvalue(made, row, column, (char *)text, text == NULL ? -1 : (int)strlen(text)));
    }
  return made;
}

static bool read_one(const char *const *queued, const char *const *logged) {
  batch_init(&batch);
  return batch_read(&batch, reply(1, 4, queued), reply(1, LOGGED_COLUMN_COUNT, logged), &routes, &error);
}

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

Test(change, is_read_with_all_that_is_known_of_it) {
  cr_assert(read_one((const char *const[]){"81", "4099", "2026-01-31", "17"},
                     (const char *const[]){"81", "3", "u", "5", NULL, "{\"id\":5}", "[\"j\"]", NULL, "now", "700",
                                           "ann", TRACE, "1/2/3", "12", NULL}));
  cr_assert_eq(batch.count, 1);
  const struct change *change = &batch.changes[0];
  cr_assert(change->id == 81 && change->lane == 4099 && change->bytes == 17 && change->capture == 3);
  cr_assert_str_eq(change->day, "2026-01-31");
  cr_assert_eq(change->operation, OPERATION_UPDATE);
  cr_assert_str_eq(change->key, "5");
  cr_assert_null(change->old_row);
  cr_assert_str_eq(change->new_row, "{\"id\":5}");
  cr_assert_str_eq(change->text_columns, "[\"j\"]");
  cr_assert_str_eq(change->actor, "ann");
  cr_assert_str_eq(change->traceparent, TRACE);
  cr_assert_str_eq(change->path, "1/2/3");
  cr_assert_eq(change->age, 12);
  cr_assert_eq(change->route, &known[0]);
  batch_release(&batch);
}

/* Only triggers write it, but it goes into headers. */
Test(change, what_is_no_traceparent_is_none) {
  cr_assert(read_one((const char *const[]){"1", "4097", "2026-01-31", "0"},
                     (const char *const[]){"1", "3", "i", "5", NULL, "{}", NULL, NULL, NULL, NULL, NULL,
                                           TRACE "\r\nX: y", NULL, NULL, NULL}));
  cr_assert_null(batch.changes[0].traceparent);
  batch_release(&batch);
}

Test(change, whose_age_nobody_asked_for_has_none) {
  cr_assert(read_one(
      (const char *const[]){"1", "4097", "2026-01-31", "0"},
      (const char *const[]){"1", "3", "d", "5", "{}", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}));
  cr_assert_eq(batch.changes[0].age, -1);
  cr_assert_null(batch.changes[0].captured_at);
  batch_release(&batch);
}

Test(change, that_is_not_in_the_log_is_told_of_with_its_day) {
  cr_assert_not(read_one(
      (const char *const[]){"81", "4099", "2026-01-31", "17"},
      (const char *const[]){NULL, NULL, "", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}));
  cr_assert_eq(error.kind, FAILURE_FATAL);
  cr_assert_str_eq(error.message, "change 81 is queued but missing from the log (partition of 2026-01-31)");
  cr_assert_eq(batch.count, 0);
  batch_release(&batch);
}

Test(change, of_a_table_that_is_not_routed_here_is_for_later) {
  cr_assert_not(read_one(
      (const char *const[]){"81", "4099", "2026-01-31", "17"},
      (const char *const[]){"81", "4", "u", "5", NULL, "{}", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}));
  cr_assert_eq(error.kind, FAILURE_RETRY);
  batch_release(&batch);
}

Test(change, a_batch_is_filled_again_after_it_was_cleared) {
  static const char *queued[2000][4];
  static const char *logged[2000][LOGGED_COLUMN_COUNT];
  batch_init(&batch);
  for (int round = 0; round < 3; round++) {
    int count = round == 1 ? 2000 : 10;
    for (int i = 0; i < count; i++) {
      memcpy(queued[i], (const char *[]){"81", "4099", "2026-01-31", "17"}, sizeof queued[i]);
      memcpy(logged[i],
             (const char *[]){"81", "3", "u", "5", NULL, "{}", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
             sizeof logged[i]);
    }
    cr_assert(
        batch_read(&batch, reply(count, 4, queued[0]), reply(count, LOGGED_COLUMN_COUNT, logged[0]), &routes, &error));
    cr_assert_eq(batch.count, (size_t)count);
    batch_clear(&batch);
    cr_assert_eq(batch.count, 0);
  }
  batch_release(&batch);
}

Test(change, is_of_the_same_row_by_table_and_key) {
  struct change a = {.capture = 3, .key = "5"};
  struct change b = {.capture = 3, .key = "5"};
  cr_assert(change_same_row(&a, &b));
  b.key = "6";
  cr_assert_not(change_same_row(&a, &b));
  b = (struct change){.capture = 4, .key = "5"};
  cr_assert_not(change_same_row(&a, &b));
  b = (struct change){.capture = 3};
  cr_assert_not(change_same_row(&a, &b));
  a.key = NULL;
  cr_assert(change_same_row(&a, &b), "rows that no key tells apart stay in order");
}

/* 1.0 and 1.00, or two spellings in citext: their texts differ, and their hashes do not. */
Test(change, is_of_the_same_row_by_its_hash_where_texts_of_equal_keys_differ) {
  struct change a = {.capture = 3, .key = "1.0", .has_hash = true, .hash = 99};
  struct change b = {.capture = 3, .key = "1.00", .has_hash = true, .hash = 99};
  cr_assert(change_same_row(&a, &b));
  b.hash = 98;
  cr_assert_not(change_same_row(&a, &b));
  cr_assert_not(change_is_of_any_row(&a));
  b.hash = 0;
  cr_assert(change_is_of_any_row(&b));
}

Test(change, has_no_key_where_its_table_has_none_or_had_none) {
  struct change change = {.capture = 7, .operation = OPERATION_INSERT, .route = &known[1]};
  cr_assert(change_is_keyless(&change));
  change.route = &known[0];
  cr_assert(change_is_keyless(&change), "it was captured before there was one");
  change.key = "5";
  cr_assert_not(change_is_keyless(&change));
  change = (struct change){.capture = 3, .operation = OPERATION_TRUNCATE, .route = &known[0]};
  cr_assert_not(change_is_keyless(&change), "a truncate is of no row");
}
