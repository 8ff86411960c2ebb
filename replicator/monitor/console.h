/*
 * console: the web page that a process serves where it listens: targets, refused changes, what is captured and the
 * history of tables. Everyone who can reach it can read what the process can read at the source; actions need the
 * right to them (see console_actor.h).
 */
#ifndef ROWRELAY_MONITOR_CONSOLE_H
#define ROWRELAY_MONITOR_CONSOLE_H

#include "http/server.h"

/* Handlers for server.h; their context is the monitor. The page itself and its parts, by their paths: */
void console_file(void *context, const struct server_request *request, struct server_answer *answer);
/* What it shows, as JSON. Parameters, which may be missing unless it says otherwise: */
/* find: part of a target's name; limit */
void console_overview(void *context, const struct server_request *request, struct server_answer *answer);
/* names: a JSON array of targets, for their backlogs; or target, for all that is known of one, and with range: day */
void console_samples(void *context, const struct server_request *request, struct server_answer *answer);
/* target (needed), part: settings, document or receipts; else its state */
void console_target(void *context, const struct server_request *request, struct server_answer *answer);
/* of: captures, documents, backfills or processes (needed), find, limit */
void console_list(void *context, const struct server_request *request, struct server_answer *answer);
/*
 * target, table, find: groups. With state and message (then all but find are needed), before: the changes of one group.
 * With target and change: all that is known of one change.
 */
void console_errors(void *context, const struct server_request *request, struct server_answer *answer);
/* table, key, text, before, since, until, actor, op; or transaction, before */
void console_history(void *context, const struct server_request *request, struct server_answer *answer);

/* table, at (both needed), key: a row, or the first ones of a table, as they were then */
void console_past(void *context, const struct server_request *request, struct server_answer *answer);
/* table and change (both needed), key; or transaction: the statements that undo it */
void console_undo(void *context, const struct server_request *request, struct server_answer *answer);
/* target (needed): its last comparison, as verifier_write() writes it */
void console_verify(void *context, const struct server_request *request, struct server_answer *answer);

#endif
