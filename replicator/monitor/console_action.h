/* console_action: what may be done by the console: pause, resume, retry, skip, replay and verify, by those who may. */
#ifndef ROWRELAY_MONITOR_CONSOLE_ACTION_H
#define ROWRELAY_MONITOR_CONSOLE_ACTION_H

#include "http/server.h"

/*
 * Handler for server.h; its context is the monitor. The body is one of
 *   {"action": "pause" or "resume", "target": NAME}
 *   {"action": "retry" or "skip", "changes": {NAME: [IDS] or null for all, which cannot be skipped}}
 *   {"action": "retry" or "skip", "filter": {"until": TIME, "target", "table", "find", "state", "message"}, "after":
 * ID}
 *   {"action": "replay", "target": NAME, "since": TIME, "until": TIME, "table"}
 *   {"action": "verify", "target": NAME, "table", "repair": true or false}, or "stop verify" of that target
 * The filter acts on the next of the changes that are found, refused up to that time, and answers {"count": "N",
 * "next": "ID"}: after which change to go on; null: these were the last. Who has a name is written into what they did,
 * as the setting rowrelay.actor.
 */
void console_act(void *context, const struct server_request *request, struct server_answer *answer);

#endif
