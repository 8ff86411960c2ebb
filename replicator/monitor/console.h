/*
 * console: the web page that a process serves where it listens: targets, processes, refused changes and the history of
 * tables. Everyone who can reach it can read what the process can read at the source; actions need the token that is
 * set in the environment of the process.
 */
#ifndef ROWRELAY_MONITOR_CONSOLE_H
#define ROWRELAY_MONITOR_CONSOLE_H

#include "http/server.h"

/* Environment variables: the token for actions; further host names of the console, separated by commas. */
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
