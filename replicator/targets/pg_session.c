#include "targets/pg_session.h"

#include "postgres/number.h"
#include "postgres/session.h"
#include "queries.h"
#include "targets/fence.h"

/* Milliseconds; a push has ended by itself before the connection is given up. */
#define STALL_MARGIN 5000

/* What values' texts mean must not depend on the target's defaults. */
static const char TARGET_SETTINGS[] = "set standard_conforming_strings to on;"
                                      "set datestyle to 'ISO, MDY'; set intervalstyle to 'postgres';"
                                      "set timezone to 'UTC'; set lc_monetary to 'C'; set extra_float_digits to 1;"
                                      "set default_transaction_isolation to 'read committed';"
                                      "set default_transaction_read_only to off;"
                                      "set xmloption to content; set jit to off; set lock_timeout to '30s';"
                                      "select set_config(name, '0', false) from pg_settings"
                                      " where name in ('transaction_timeout', 'idle_session_timeout');"
                                      "set tcp_keepalives_idle to 15; set tcp_keepalives_interval to 5;"
                                      "set tcp_keepalives_count to 3; set tcp_user_timeout to '30s';";

bool session_set_origin(struct pgconn *connection, const struct settings *settings, bool in_transaction,
                        struct error *error) {
  return pgconn_run(connection, &QUERY_target_origin, VALUES(settings->source_id, in_transaction ? "true" : "false"),
                    NULL, error);
}

bool session_open(struct pgconn **connection, const struct settings *settings, const char *url, struct error *error) {
  struct pgconn *opened;
  if (!pooler_open(&opened, url, TARGET_SETTINGS, POOLER_OPEN_TIMEOUT, error))
    return false;
  /* A server that is busy with one row does not take the next one, and is well for as long as a push may take. */
  pgconn_allow_stall(opened, settings->push_timeout + STALL_MARGIN);
  pgconn_set_deadline(opened, settings->push_timeout);
  if (pgconn_run(opened, &QUERY_target_session, VALUES(number(settings->push_timeout).text), NULL, error) &&
      fence_create(opened, error) && session_set_origin(opened, settings, false, error)) {
    *connection = opened;
    return true;
  }
  pgconn_close(opened);
  return false;
}
