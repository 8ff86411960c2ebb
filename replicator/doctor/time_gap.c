#include "doctor/time_gap.h"

#include <sys/time.h>

#include "postgres/result.h"
#include "queries.h"

static int64_t machine_time(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

bool time_gap(struct pgconn *connection, int64_t *gap, struct error *error) {
  const struct query query = QUERY_ONCE(QUERY_doctor_clock);
  PGresult *reply = NULL;
  int64_t before = machine_time();
  if (!pgconn_run(connection, &query, NO_VALUES, &reply, error))
    return false;
  int64_t after = machine_time();
  int64_t there = result_bigint(reply, 0, 0);
  PQclear(reply);
  *gap = there < before ? before - there : there > after ? there - after : 0;
  return true;
}
