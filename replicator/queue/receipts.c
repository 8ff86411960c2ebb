#include "queue/receipts.h"

#include <stdlib.h>
#include <string.h>

#include "postgres/number.h"

#define IDS_LIMIT ((size_t)64 * 1024 * 1024)

struct receipt {
  const struct fate *like; /* of its first change: outcome, attempts and answer are the same for all */
  int64_t first_id;
  int64_t last_id;
  struct buffer ids; /* an array literal without its end */
};

static bool is_alike(const struct fate *a, const struct fate *b) {
  return a->outcome == b->outcome && a->attempts == b->attempts && strcmp(a->answer, b->answer) == 0;
}

/* Usually it is the first group, or the one found last. */
static struct receipt *find_receipt(const struct receipts *receipts, const struct fate *fate, struct receipt *likely) {
  if (likely != NULL && is_alike(likely->like, fate))
    return likely;
  for (size_t i = 0; i < receipts->count; i++)
    if (is_alike(receipts->parts[i].like, fate))
      return &receipts->parts[i];
  return NULL;
}

static struct receipt *add_receipt(struct receipts *receipts, const struct fate *fate, int64_t first_id) {
  struct receipt *grown = realloc(receipts->parts, (receipts->count + 1) * sizeof *grown);
  if (grown == NULL)
    return NULL;
  receipts->parts = grown;
  struct receipt *added = &receipts->parts[receipts->count++];
  *added = (struct receipt){.like = fate, .first_id = first_id};
  buffer_init(&added->ids, IDS_LIMIT);
  return added;
}

bool receipts_collect(struct receipts *receipts, const struct outcomes *outcomes, struct error *error) {
  struct receipt *receipt = NULL;
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    const struct fate *fate = &outcomes->fates[i];
    int64_t id = outcomes->batch->changes[i].id;
    if (fate->outcome != OUTCOME_DELIVERED && fate->outcome != OUTCOME_REFUSED)
      continue;
    receipt = find_receipt(receipts, fate, receipt);
    if (receipt == NULL)
      receipt = add_receipt(receipts, fate, id);
    if (receipt == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    receipt->last_id = id;
    buffer_add_string(&receipt->ids, receipt->ids.length == 0 ? "{" : ",");
    buffer_add_string(&receipt->ids, number(id).text);
  }
  for (size_t i = 0; i < receipts->count; i++)
    if (!buffer_ok(&receipts->parts[i].ids, "a receipt", error))
      return false;
  return true;
}

void receipts_add_json(const struct receipts *receipts, struct buffer *list) {
  for (size_t i = 0; i < receipts->count; i++) {
    const struct receipt *receipt = &receipts->parts[i];
    const char *answer = receipt->like->answer;
    buffer_add_format(list, "%s{\"outcome\":\"%s\",\"attempts\":%d,\"first_id\":%lld,\"last_id\":%lld,\"answer\":",
                      i == 0 ? "[" : ",", receipt->like->outcome == OUTCOME_DELIVERED ? "delivered" : "refused",
                      receipt->like->attempts, (long long)receipt->first_id, (long long)receipt->last_id);
    buffer_add_json_string(list, answer[0] != '\0' ? answer : NULL);
    buffer_add_string(list, ",\"ids\":\"");
    buffer_add(list, receipt->ids.data, receipt->ids.length);
    buffer_add_string(list, "}\"}");
  }
  buffer_add_string(list, receipts->count == 0 ? "[]" : "]");
}

void receipts_release(struct receipts *receipts) {
  for (size_t i = 0; i < receipts->count; i++)
    buffer_release(&receipts->parts[i].ids);
  free(receipts->parts);
  *receipts = (struct receipts){.parts = NULL};
}
