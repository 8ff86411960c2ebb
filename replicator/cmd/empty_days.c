#include "cmd/empty_days.h"

#include <stdio.h>

#include "cli/call.h"
#include "common/clock.h"
#include "postgres/result.h"
#include "queries.h"

/* Between two attempts to get a lock. Milliseconds. */
#define RETRY_PAUSE 200

bool empty_days_drop(struct source *source, int64_t until, struct error *error) {
  for (;;) {
    PGresult *reply = NULL;
    if (!call_run(source, &QUERY_drop_empty_days, NO_VALUES, &reply, error))
      return false;
    int dropped = result_int(reply, 0, 0);
    PQclear(reply);
    if (dropped == 0)
      return true;
    if (dropped < 0 && clock_now() >= until) {
      fputs("empty partitions remain because another session holds a lock on the log; running processes drop them "
            "later\n",
            stderr);
      return true;
    }
    if (dropped < 0)
      clock_sleep(RETRY_PAUSE);
  }
}
