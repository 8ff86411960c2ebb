/*
 * log: writes changes into today's partition of rowrelay.change, and into rowrelay.queue, as an INSERT would, without
 * the executor.
 */
#ifndef ROWRELAY_NATIVE_LOG_H
#define ROWRELAY_NATIVE_LOG_H

#include "postgres.h"

#include "plan.h"

/* What is written of one row. 0 stands for null. */
typedef struct change {
  char op;
  Datum key;
  Datum actor;
  Datum db_user;
  Datum old_row;
  Datum new_row;
  Datum caveat;
  int32 hash;  /* chooses the lane */
  int32 bytes; /* size of the images */
} change;

/* Once, when the library is loaded. */
void log_init(void);
/* False, with nothing written, where the tables have something that only the executor can do. */
bool log_write(const plan *plan, const change *change);

#endif
