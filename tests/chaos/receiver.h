/*
 * receiver: a webhook's other end, which fails as a seed says: it answers 503, hangs, answers late, or takes an event
 * and cuts the connection. It writes what it has taken to DIR/webhook.events, in order of arrival.
 */
#ifndef ROWRELAY_CHAOS_RECEIVER_H
#define ROWRELAY_CHAOS_RECEIVER_H

#include "stage.h"

/* Listens on 127.0.0.1; the port is in shared->webhook_port. It ends with the run. */
void receiver_begin(const struct stage *stage);

/*
 * A line of DIR/TARGET.events: table, key ("-": none), operation, mark, the event's id. From a JSON line as rowrelay
 * writes it: false when it is none.
 */
bool receiver_write_event(FILE *file, const char *json);

#endif
