/* A change as JSON lines and CloudEvents have it: lines with operation, key, actor, the old row, the new row. */
#include "targets/change_json.h"

#include <jansson.h>

#include "fuzz.h"
#include "targets/cloudevent.h"

static const char *object_or_null(const char *text) {
  json_t *row = json_loads(text, JSON_ALLOW_NUL, NULL);
  bool ok = json_is_object(row);
  json_decref(row);
  return ok ? text : NULL;
}

static void check(const struct buffer *made, const char *const *path, const struct change *change, bool is_plain) {
  json_t *line = json_loadb(made->data, made->length, JSON_ALLOW_NUL, NULL);
  PROMISE(json_is_object(line), "a change is an object");
  PROMISE(strpbrk(made->data, "\r\n") == NULL, "a change is one line");
  const json_t *holder = path[0] != NULL ? json_object_get(line, path[0]) : line;
  json_t *row = change->new_row != NULL ? json_loads(change->new_row, JSON_ALLOW_NUL, NULL) : json_null();
  PROMISE(!is_plain || json_equal(json_object_get(holder, path[1]), row), "the row is as it was");
  const json_t *key = json_object_get(holder, "key");
  PROMISE(change->key == NULL ? json_is_null(key) : strcmp(json_string_value(key), change->key) == 0,
          "the key is as it was");
  json_decref(row);
  json_decref(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const OF_LINE[] = {NULL, "new_row"};
  static const char *const OF_EVENT[] = {"data", "after"};
  static const char OPERATIONS[] = "iudtsrb";
  char *text = text_of(data, size);
  char *rest = text;
  const char *operation = cut_line(&rest);
  const char *key = cut_line(&rest);
  const char *actor = cut_line(&rest);
  /* Of texts from the database: valid UTF-8. */
  json_t *is_text = json_string(key);
  json_t *is_text_too = json_string(actor);
  if (is_text != NULL && is_text_too != NULL) {
    struct route route = {.relation = "shop.\"Odd Ones\""};
    struct change change = {.id = 42,
                            .operation = (enum operation)OPERATIONS[(unsigned char)operation[0] % 7],
                            .key = key[0] != '-' ? key : NULL,
                            .actor = actor,
                            .txid = "7",
                            .captured_at = "2026-01-01T00:00:00+00:00",
                            .old_row = object_or_null(cut_line(&rest)),
                            .new_row = object_or_null(rest),
                            .route = &route};
    struct buffer made;
    buffer_init(&made, 1 << 22);
    change_add_json(&made, &change, "a4d478e7-5b45-4ff1-b040-f510d1e0b946");
    check(&made, OF_LINE, &change, true);
    buffer_clear(&made);
    cloudevent_add_json(&made, &change, "a4d478e7-5b45-4ff1-b040-f510d1e0b946");
    check(&made, OF_EVENT, &change, true);
    buffer_release(&made);
  }
  json_decref(is_text);
  json_decref(is_text_too);
  free(text);
  return 0;
}
