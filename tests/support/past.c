#include "past.h"

#include <stdio.h>

#include "fixture.h"

const char *past_move(PGconn *source, int days_ago) {
  static char names[16][16];
  static unsigned int next;
  char *day = names[next++ % 16];
  const char *today = ask(source, "select rowrelay.partition_day()");
  snprintf(day, sizeof names[0], "%s", ask(source, "select (now() at time zone 'UTC')::date - %d", days_ago));
  const char *partition = ask(source, "select 'rowrelay.change_' || to_char('%s'::date, 'YYYYMMDD')", day);
  if (ask_number(source, "select count(*) from pg_class where oid = to_regclass('%s')", partition) == 0)
    sql(source,
        "create table %s (like rowrelay.change including all);"
        "alter table rowrelay.change attach partition %s for values from ('%s') to ('%s'::date + 1)",
        partition, partition, day, day);
  sql(source,
      "update rowrelay.change set day = '%s', captured_at = captured_at - interval '%d days' where day = '%s';"
      "update rowrelay.truncation set day = '%s', captured_at = captured_at - interval '%d days' where day = '%s';"
      "update rowrelay.queue set day = '%s' where day = '%s'; update rowrelay.refusal set day = '%s' where day = '%s'",
      day, days_ago, today, day, days_ago, today, day, today, day, today);
  sql(source,
      "select rowrelay.key_partitions(); update rowrelay.change_key set day = '%s' where day = '%s';"
      "update rowrelay.tick set first_day = '%s', last_day = '%s' where first_day = '%s';"
      "update rowrelay.tick set open_from = least(open_from, '%s')",
      day, today, day, day, today, day);
  return day;
}

void past_close(PGconn *source) {
  sql(source, "update rowrelay.source set open_since = open_since - interval '1 min'; select rowrelay.close_days()");
}
