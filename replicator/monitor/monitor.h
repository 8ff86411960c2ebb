/*
 * monitor: serves the health of a running process over HTTP, whether it is ready, and Prometheus metrics of it and of
 * the queue. It has a connection of its own to the source, so that it answers whatever the workers do.
 */
#ifndef ROWRELAY_MONITOR_MONITOR_H
#define ROWRELAY_MONITOR_MONITOR_H

#include "monitor/samples.h"
#include "source/source.h"

struct monitor;

/* `address` as server_start() takes it; `conninfo` of the source, borrowed. */
MUST_CHECK bool monitor_start(struct monitor **monitor, const char *address, const char *conninfo, struct error *error);
/* Those who listen to changes are told that the process ends. NULL is allowed, here and below. */
void monitor_leave(struct monitor *monitor);
void monitor_stop(struct monitor *monitor);

/* The supervisor's loop is alive, and connected to the source or not. */
void monitor_heartbeat(struct monitor *monitor, bool connected);

/* Runs a query at the source for the console. Any thread may call it. *reply is the caller's to PQclear. */
MUST_CHECK bool monitor_ask(struct monitor *monitor, const struct query *query, struct values values, PGresult **reply,
                            struct error *error);
/* The same of what may take long: it keeps nobody who asks waiting. */
MUST_CHECK bool monitor_search(struct monitor *monitor, const struct query *query, struct values values,
                               PGresult **reply, struct error *error);
struct samples *monitor_samples(struct monitor *monitor);
struct verifier *monitor_verifier(struct monitor *monitor);

#endif
