/* console_action: what may be done by the console: to pause, resume, retry and skip, by whoever has the token. */
#ifndef ROWRELAY_MONITOR_CONSOLE_ACTION_H
#define ROWRELAY_MONITOR_CONSOLE_ACTION_H

#include "http/server.h"

/* Environment variable: the token for actions; without it there are none. */
#define CONSOLE_TOKEN "ROWRELAY_CONSOLE_TOKEN"

/*
 * Handler for server.h; its context is the monitor. The body is one of
 *   {"action": "pause" or "resume", "target": NAME}
 *   {"action": "retry" or "skip", "changes": {NAME: [IDS] or null for all, which cannot be skipped}}
 *   {"action": "retry" or "skip", "filter": {"until": TIME, "target", "table", "find", "state", "message"}, "after":
 * ID} The last acts on the next of the changes that are found, refused up to that time, and answers {"count": "N",
 * "next": "ID"}: after which change to go on; null: these were the last.
 */
void console_act(void *context, const struct server_request *request, struct server_answer *answer);

#endif
