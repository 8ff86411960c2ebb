#include "postgres/sqlstate.h"

#include <stddef.h>
#include <string.h>

static bool has_class(const char *sqlstate, const char *const classes[]) {
  for (; *classes != NULL; classes++)
    if (strncmp(sqlstate, *classes, strlen(*classes)) == 0)
      return true;
  return false;
}

enum failure sqlstate_failure(const char *sqlstate) {
  static const char *const transient[] = {
      "08",    /* connection exception */
      "25006", /* read-only transaction: a standby that is about to be promoted, or just was not */
      "40",    /* transaction rollback: deadlock, serialization failure */
      "53",    /* insufficient resources */
      "55006", /* object in use */
      "55P03", /* lock not available */
      "57",    /* operator intervention: shutdown, crash, cancelled, starting up */
      "58",    /* system error */
      NULL};
  /* The target is not as it should be, whatever the row: no such table, no right to it, not supported there, … */
  static const char *const fatal[] = {
      "0A", "0B", "0L", "0P", "25", "26", "28", "2B",    "2D",    "34", "3B",
      "3D", "3F", "42", "55", "72", "F0", "HV", "XX001", "XX002", /* corrupted; XX000 is such as a value that is too
                                                                     large */
      NULL};
  if (has_class(sqlstate, transient))
    return FAILURE_RETRY;
  /* All else is of the data: constraints, values, and any code that a trigger raises. */
  return has_class(sqlstate, fatal) ? FAILURE_FATAL : FAILURE_REFUSED;
}

bool sqlstate_is_of_a_table(const char *sqlstate) {
  /* A server that has no room on its disk or no connection left takes nothing. But a file that cannot be read, or
   * memory that is too little for one statement, need not concern other tables. */
  static const char *const of_tables[] = {"0A", "3F", "42", "53200", "53400", "55", "58", "HV", "XX001", "XX002", NULL};
  return has_class(sqlstate, of_tables);
}

bool sqlstate_is_of_a_name(const char *sqlstate) {
  static const char *const of_names[] = {"3F000", "42601", "42602", "42704", "42725", "42883", "42P01", NULL};
  return has_class(sqlstate, of_names);
}

bool sqlstate_is_lock_wait(const char *sqlstate) {
  return strcmp(sqlstate, "55P03") == 0;
}
