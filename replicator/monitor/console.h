/*
 * console: the page for people that a process serves where it listens: how targets and processes are doing, what was
 * refused, what happened to the tables. Everybody who can reach it may read what the process itself may read at the
 * source; to act takes the token that the process has in its environment.
 */
#ifndef ROWRELAY_MONITOR_CONSOLE_H
#define ROWRELAY_MONITOR_CONSOLE_H

#include "http/server.h"

/* Environment variables: what allows to act; names, separated by commas, under which people reach the console. */
#define CONSOLE_TOKEN "ROWRELAY_CONSOLE_TOKEN"
#define CONSOLE_HOST "ROWRELAY_CONSOLE_HOST"

/* Handlers for server.h; their context is the monitor. The page itself and its parts: */
void console_page(void *context, const struct server_request *request, struct server_answer *answer);
void console_script(void *context, const struct server_request *request, struct server_answer *answer);
void console_style(void *context, const struct server_request *request, struct server_answer *answer);
/* What it shows, as JSON: */
void console_overview(void *context, const struct server_request *request, struct server_answer *answer);
void console_samples(void *context, const struct server_request *request, struct server_answer *answer);
void console_errors(void *context, const struct server_request *request, struct server_answer *answer);
/* Parameters: table, key, text, before */
void console_history(void *context, const struct server_request *request, struct server_answer *answer);
/*
 * {"action": "pause" or "resume", "target": NAME}, or {"action": "retry" or "skip", "changes": {NAME: [IDS] or null for
 * all}}
 */
void console_act(void *context, const struct server_request *request, struct server_answer *answer);

#endif
