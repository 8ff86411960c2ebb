#include "targets/flight.h"

#include <stdlib.h>

#include "targets/row_order.h"

static bool find_ready(struct flight *flight, struct error *error) {
  bool *follows = calloc(flight->push->count + 1, sizeof *follows);
  if (follows == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < flight->push->count; i++)
    if (flight->next[i] != LATEST_NONE)
      follows[flight->next[i]] = true;
  for (size_t i = 0; i < flight->push->count; i++)
    if (!follows[i])
      flight->ready[flight->ready_count++] = i;
  free(follows);
  return true;
}

bool flight_init(struct flight *flight, const struct push *push, struct error *error) {
  *flight = (struct flight){.push = push,
                            .tickets = calloc(push->count + 1, sizeof *flight->tickets),
                            .next = calloc(push->count + 1, sizeof *flight->next),
                            .ready = calloc(push->count + 1, sizeof *flight->ready)};
  if (flight->tickets == NULL || flight->next == NULL || flight->ready == NULL) {
    flight_release(flight);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (row_order_chain(push->changes, push->count, flight->next, error) && find_ready(flight, error))
    return true;
  flight_release(flight);
  return false;
}

void flight_release(struct flight *flight) {
  free(flight->tickets);
  free(flight->next);
  free(flight->ready);
  *flight = (struct flight){.push = NULL};
}

bool flight_goes_on(const struct flight *flight) {
  return flight->in_flight > 0 || (flight->first_ready < flight->ready_count && flight->rejection.kind == FAILURE_NONE);
}

bool flight_has_room(const struct flight *flight, size_t messages, size_t bytes) {
  return flight->first_ready < flight->ready_count && flight->rejection.kind == FAILURE_NONE &&
         flight->in_flight < messages && (flight->in_flight == 0 || flight->bytes_in_flight < bytes);
}

size_t flight_next(struct flight *flight) {
  return flight->ready[flight->first_ready++];
}

bool flight_awaits(const struct flight *flight, size_t index) {
  return index < flight->push->count && flight->tickets[index].stage == FLIGHT_SENT;
}

void flight_send(struct flight *flight, size_t index, size_t bytes) {
  flight->tickets[index] = (struct flight_ticket){.stage = FLIGHT_SENT, .bytes = bytes};
  flight->in_flight++;
  flight->bytes_in_flight += bytes;
}

static void answer(struct flight *flight, size_t index, enum flight_stage stage) {
  struct flight_ticket *ticket = &flight->tickets[index];
  if (ticket->stage == FLIGHT_SENT) {
    flight->in_flight--;
    flight->bytes_in_flight -= ticket->bytes;
  }
  ticket->stage = stage;
}

void flight_store(struct flight *flight, size_t index, const char *text) {
  struct verdict *verdict = &flight->push->verdicts[index];
  answer(flight, index, FLIGHT_STORED);
  verdict->kind = VERDICT_DELIVERED;
  verdict_answer(verdict, text);
  if (flight->next[index] != LATEST_NONE)
    flight->ready[flight->ready_count++] = flight->next[index];
}

void flight_refuse(struct flight *flight, size_t index, enum flight_stage stage, const struct error *why) {
  answer(flight, index, stage);
  verdict_refuse(&flight->push->verdicts[index], why);
}

void flight_reject(struct flight *flight, size_t index, const struct error *why) {
  answer(flight, index, FLIGHT_UNSENT);
  if (flight->rejection.kind == FAILURE_NONE)
    flight->rejection = *why;
}

bool flight_end(const struct flight *flight, bool per_table, bool ok, struct error *error) {
  if (ok && flight->rejection.kind != FAILURE_NONE) {
    *error = flight->rejection;
    ok = false;
  }
  for (size_t i = 0; i < flight->push->count; i++) {
    struct verdict *verdict = &flight->push->verdicts[i];
    if (flight->tickets[i].stage == FLIGHT_UNSENT) {
      verdict->kind = VERDICT_LATER;
    } else if (flight->tickets[i].stage == FLIGHT_HELD && per_table && !flight->push->changes[i]->route->document) {
      verdict->kind = VERDICT_HELD;
    } else if (flight->tickets[i].stage == FLIGHT_HELD) {
      if (ok && verdict->why != NULL)
        *error = *verdict->why;
      else if (ok)
        error_set(error, FAILURE_RETRY, "out of memory");
      error->kind = ok ? FAILURE_FATAL : error->kind;
      verdict->kind = VERDICT_LATER;
      ok = false;
    }
  }
  return ok;
}
