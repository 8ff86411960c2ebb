/* console_answer: what the handlers of the console have in common: whom they answer, and how. */
#ifndef ROWRELAY_MONITOR_CONSOLE_ANSWER_H
#define ROWRELAY_MONITOR_CONSOLE_ANSWER_H

#include "http/server.h"
#include "monitor/monitor.h"

/* Environment variable: further host names of the console, separated by commas. */
#define CONSOLE_HOST "ROWRELAY_CONSOLE_HOST"

#define CONSOLE_JSON "application/json"

/* {"error": MESSAGE, "hint": HINT}, in place of what was written before; `hint` may be NULL. */
void console_error(struct server_answer *answer, unsigned status, const char *message, const char *hint);
/* The same of an error, with "next_cursor" where a reader of the log may go on; NULL: nowhere. */
void console_error_at(struct server_answer *answer, unsigned status, const struct error *error,
                      const char *next_cursor);
/* The same of an error of the source. */
void console_failed(struct server_answer *answer, const struct error *error);

/* Whether a browser asked by a name of this console; else the answer says so. */
bool console_may_read(const struct server_request *request, struct server_answer *answer);

/* A parameter of the request; NULL where it is empty or missing. Borrowed. */
const char *console_given(const struct server_request *request, const char *name);

/* Answers with the one value of a query's result, which is JSON or a number; null: there is none. */
bool console_value(struct monitor *monitor, const struct query *query, struct values values,
                   struct server_answer *answer);
/* The same of what may take long, such as a search in the log. */
bool console_found(struct monitor *monitor, const struct query *query, struct values values,
                   struct server_answer *answer);

#endif
