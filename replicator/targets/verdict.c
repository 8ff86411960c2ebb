#include "targets/verdict.h"

#include <stdlib.h>

#include "common/text.h"

void verdict_refuse(struct verdict *verdict, const struct error *why) {
  verdict->kind = VERDICT_REFUSED;
  if (verdict->why == NULL)
    verdict->why = malloc(sizeof *verdict->why);
  if (verdict->why != NULL)
    *verdict->why = *why;
}

void verdict_clear(struct verdict *verdict) {
  free(verdict->why);
  *verdict = (struct verdict){.kind = VERDICT_NONE};
}

void verdict_answer(struct verdict *verdict, const char *answer) {
  if (verdict->answer[0] == '\0')
    text_print(verdict->answer, sizeof verdict->answer, "%s", answer);
}
