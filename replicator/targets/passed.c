#include "targets/passed.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "postgres/result.h"
#include "queries.h"

#define NAMES_LIMIT ((size_t)16 * 1024 * 1024)

#define HAS_PASSED "left out: it has been there" /* in receipts */

bool passed_may_be(const struct push *push) {
  for (size_t i = 0; i < push->count; i++)
    if (push->changes[i]->path != NULL)
      return true;
  return false;
}

static bool is_first_of_its_table(const struct push *push, size_t index) {
  for (size_t i = index; i > 0; i--)
    if (push->changes[i - 1]->route == push->changes[index]->route)
      return false;
  return true;
}

/* Those of the tables to which changes with a path go. */
static bool read_identities(struct pgconn *connection, const struct push *push, PGresult **reply, struct error *error) {
  struct buffer names;
  buffer_init(&names, NAMES_LIMIT);
  buffer_add_string(&names, "{");
  for (size_t i = 0; i < push->count; i++) {
    if (!is_first_of_its_table(push, i))
      continue;
    buffer_add_string(&names, names.length > 1 ? "," : "");
    buffer_add_array_string(&names, push->changes[i]->route->into_table);
  }
  buffer_add_string(&names, "}");
  bool ok = buffer_ok(&names, "the list of tables", error) &&
            pgconn_run(connection, &QUERY_passed_identities, VALUES(names.data), reply, error);
  buffer_release(&names);
  return ok;
}

static const char *identities_of(const PGresult *reply, const char *into_table) {
  for (int row = 0; row < PQntuples(reply); row++)
    if (strcmp(PQgetvalue(reply, row, PASSED_INTO_TABLE), into_table) == 0)
      return PQgetvalue(reply, row, PASSED_IDENTITIES);
  return "";
}

/* Whether a word of the path is one of the identities, which have blanks around them. */
static bool has_passed(const char *path, const char *identities) {
  for (const char *word = path; *word != '\0';) {
    size_t length = strcspn(word, " ");
    for (const char *found = identities; length > 0 && (found = strchr(found, ' ')) != NULL; found++)
      if (strncmp(found + 1, word, length) == 0 && found[1 + length] == ' ')
        return true;
    word += length + strspn(word + length, " ");
  }
  return false;
}

bool passed_find(struct passed *passed, struct pgconn *connection, const struct push *push, struct error *error) {
  PGresult *reply = NULL;
  *passed = (struct passed){.rest = *push};
  const struct change **changes = calloc(push->count + 1, sizeof *changes);
  passed->rest.changes = changes;
  passed->rest.verdicts = calloc(push->count + 1, sizeof *passed->rest.verdicts);
  passed->indexes = calloc(push->count + 1, sizeof *passed->indexes);
  passed->rest.count = 0;
  if (changes == NULL || passed->rest.verdicts == NULL || passed->indexes == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  /* A push without these rights fails, too, and says of which table. */
  if (!read_identities(connection, push, &reply, error) && strcmp(error->sqlstate, "42501") != 0)
    return false;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->path != NULL && has_passed(change->path, identities_of(reply, change->route->into_table))) {
      push->verdicts[i].kind = VERDICT_DELIVERED;
      verdict_answer(&push->verdicts[i], HAS_PASSED);
      continue;
    }
    passed->indexes[passed->rest.count] = i;
    changes[passed->rest.count++] = change;
  }
  PQclear(reply);
  return true;
}

void passed_answer(struct passed *passed, const struct push *push) {
  for (size_t i = 0; i < passed->rest.count; i++) {
    push->verdicts[passed->indexes[i]] = passed->rest.verdicts[i];
    passed->rest.verdicts[i].why = NULL;
  }
}

void passed_release(struct passed *passed) {
  for (size_t i = 0; passed->rest.verdicts != NULL && i < passed->rest.count; i++)
    verdict_clear(&passed->rest.verdicts[i]);
  free(passed->rest.verdicts);
  free((void *)passed->rest.changes);
  free(passed->indexes);
}
