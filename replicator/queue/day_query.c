#include "queue/day_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queries.h"

/* What stands for the days in claim_rows.sql, for psql: a day without changes. */
static const char PLACE[] = "{2000-01-01}";

void day_query_init(struct day_query *days) {
  *days = (struct day_query){.query = QUERY_claim_rows};
}

void day_query_release(struct day_query *days) {
  free(days->text);
  day_query_init(days);
}

/* Rows are nearly in order of days, so the newest are near the end. Each day once, as "2026-11-22,2026-11-23". */
static void write_days(const PGresult *rows, char *list, size_t size) {
  size_t length = 0;
  int count = 0;
  list[0] = '\0';
  for (int row = PQntuples(rows) - 1; row >= 0 && count < DAY_QUERY_DAYS; row--) {
    const char *day = PQgetvalue(rows, row, ROW_DAY);
    if (strstr(list, day) != NULL)
      continue;
    /* A date of the far future is longer, and does without. */
    if (strlen(day) != strlen("2000-01-01") || strspn(day, "0123456789-") != strlen(day))
      continue;
    length += (size_t)snprintf(list + length, size - length, "%s%s", count > 0 ? "," : "", day);
    count++;
  }
}

void day_query_learn(struct day_query *days, struct pgconn *connection, const PGresult *rows) {
  char list[DAY_QUERY_DAYS * sizeof "2000-01-01"];
  write_days(rows, list, sizeof list);
  pgconn_forget(connection, days->query.name);
  day_query_release(days);
  const char *text = QUERY_claim_rows.text;
  const char *place = strstr(text, PLACE);
  size_t size = strlen(text) + sizeof list;
  if (place == NULL || list[0] == '\0' || (days->text = malloc(size)) == NULL)
    return;
  snprintf(days->text, size, "%.*s{%s}%s", (int)(place - text), text, list, place + strlen(PLACE));
  snprintf(days->name, sizeof days->name, "%s_%s", QUERY_claim_rows.name, list);
  days->query.text = days->text;
  days->query.name = days->name;
}
