#include "monitor/console_names.h"

#include <microhttpd.h>

#include "common/text.h"
#include "monitor/console_answer.h"
#include "postgres/result.h"
#include "queries.h"

static void say_missing(const char *what, const char *name, struct server_answer *answer) {
  char message[320];
  text_print(message, sizeof message, "there is no %s \"%s\"", what, name);
  console_error(answer, MHD_HTTP_NOT_FOUND, message, NULL);
}

bool console_names_are_known(struct monitor *monitor, const char *target, const char *table,
                             struct relation_id *relation, struct server_answer *answer) {
  struct error error;
  PGresult *reply = NULL;
  if (relation != NULL)
    relation->text[0] = '\0';
  if (target == NULL && table == NULL)
    return true;
  if (!monitor_ask(monitor, &QUERY_console_names, VALUES(target, table), &reply, &error)) {
    console_failed(answer, &error);
    return false;
  }
  const char *found = result_text(reply, 0, NAMED_RELATION);
  bool is_target = result_bool(reply, 0, NAMED_IS_TARGET);
  bool ok = is_target && (table == NULL || found != NULL);
  if (!is_target)
    say_missing("target", target, answer);
  else if (!ok)
    say_missing("captured table", table, answer);
  else if (relation != NULL && found != NULL)
    text_print(relation->text, sizeof relation->text, "%s", found);
  PQclear(reply);
  return ok;
}
