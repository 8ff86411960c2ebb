#include "http/connections.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"

/* How often idle connections are searched for, while there are connections. Milliseconds. */
#define LOOK_INTERVAL 500

struct visitor {
  int fd;
  struct in6_addr address;
  bool exempt;
  bool cut;      /* it is about to leave */
  int64_t since; /* when its limit was set; clock_now() */
  int64_t until; /* the same; INT64_MAX: not limited */
  struct visitor *next;
  struct visitor *previous;
};

static void *cut_those_who_stay(void *argument) {
  struct connections *visitors = argument;
  pthread_mutex_lock(&visitors->lock);
  while (!visitors->leaving) {
    if (visitors->first == NULL)
      pthread_cond_wait(&visitors->changed, &visitors->lock);
    else
      clock_wait(&visitors->changed, &visitors->lock, clock_now() + LOOK_INTERVAL);
    int64_t now = clock_now();
    for (struct visitor *visitor = visitors->first; visitor != NULL; visitor = visitor->next)
      if (visitor->until <= now) /* its thread then finds it closed, and ends */
        shutdown(visitor->fd, SHUT_RDWR);
  }
  pthread_mutex_unlock(&visitors->lock);
  return NULL;
}

bool connections_start(struct connections *visitors, struct error *error) {
  *visitors = (struct connections){.first = NULL};
  pthread_mutex_init(&visitors->lock, NULL);
  clock_init_condition(&visitors->changed);
  int failed = pthread_create(&visitors->thread, NULL, cut_those_who_stay, visitors);
  if (failed == 0)
    return true;
  pthread_cond_destroy(&visitors->changed);
  pthread_mutex_destroy(&visitors->lock);
  return error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

void connections_stop(struct connections *visitors) {
  pthread_mutex_lock(&visitors->lock);
  visitors->leaving = true;
  pthread_cond_signal(&visitors->changed);
  pthread_mutex_unlock(&visitors->lock);
  pthread_join(visitors->thread, NULL);
  pthread_cond_destroy(&visitors->changed);
  pthread_mutex_destroy(&visitors->lock);
}

/* An IPv4 address as IPv6 writes it; of another its network, as whoever has one address of it has all. */
static struct in6_addr address_of(const struct sockaddr *address) {
  struct in6_addr number = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
  if (address->sa_family == AF_INET6) {
    number = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&number))
      memset(&number.s6_addr[8], 0, 8);
  } else if (address->sa_family == AF_INET)
    memcpy(&number.s6_addr[12], &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
  return number;
}

/*
 * Makes room by the one that has taken longest to send its request, or to take its answer: a probe needs a moment.
 * False: all wait for what we have to do.
 */
static bool cut_slowest(struct connections *visitors) {
  struct visitor *slowest = NULL;
  for (struct visitor *visitor = visitors->first; visitor != NULL; visitor = visitor->next)
    if (!visitor->exempt && !visitor->cut && visitor->until != INT64_MAX &&
        (slowest == NULL || visitor->since < slowest->since))
      slowest = visitor;
  if (slowest == NULL)
    return false;
  slowest->cut = true;
  shutdown(slowest->fd, SHUT_RDWR);
  return true;
}

bool connections_admit(struct connections *visitors, const struct sockaddr *address) {
  struct in6_addr number = address_of(address);
  int count = 0;
  int same = 0;
  pthread_mutex_lock(&visitors->lock);
  for (const struct visitor *visitor = visitors->first; visitor != NULL; visitor = visitor->next) {
    count += !visitor->exempt && !visitor->cut;
    same += !visitor->exempt && !visitor->cut && memcmp(&visitor->address, &number, sizeof number) == 0;
  }
  bool ok = same < CONNECTIONS_OF_AN_ADDRESS && (count < CONNECTIONS_MOST || cut_slowest(visitors));
  pthread_mutex_unlock(&visitors->lock);
  return ok;
}

struct visitor *connections_enter(struct connections *visitors, int fd, const struct sockaddr *address) {
  struct visitor *visitor = calloc(1, sizeof *visitor);
  if (visitor == NULL)
    return NULL;
  visitor->fd = fd;
  visitor->address = address_of(address);
  visitor->until = INT64_MAX;
  pthread_mutex_lock(&visitors->lock);
  visitor->next = visitors->first;
  if (visitor->next != NULL)
    visitor->next->previous = visitor;
  visitors->first = visitor;
  pthread_cond_signal(&visitors->changed);
  pthread_mutex_unlock(&visitors->lock);
  return visitor;
}

void connections_leave(struct connections *visitors, struct visitor *visitor) {
  if (visitor == NULL)
    return;
  pthread_mutex_lock(&visitors->lock);
  if (visitor->next != NULL)
    visitor->next->previous = visitor->previous;
  if (visitor->previous != NULL)
    visitor->previous->next = visitor->next;
  else
    visitors->first = visitor->next;
  pthread_mutex_unlock(&visitors->lock);
  free(visitor);
}

static void stay_until(struct connections *visitors, struct visitor *visitor, int64_t until) {
  if (visitor == NULL)
    return;
  pthread_mutex_lock(&visitors->lock);
  visitor->since = clock_now();
  visitor->until = until;
  visitor->exempt = false;
  pthread_mutex_unlock(&visitors->lock);
}

void connections_limit(struct connections *visitors, struct visitor *visitor, int64_t milliseconds) {
  stay_until(visitors, visitor, clock_now() + milliseconds);
}

void connections_unlimit(struct connections *visitors, struct visitor *visitor) {
  stay_until(visitors, visitor, INT64_MAX);
}

void connections_exempt(struct connections *visitors, struct visitor *visitor) {
  if (visitor == NULL)
    return;
  pthread_mutex_lock(&visitors->lock);
  visitor->exempt = true;
  pthread_mutex_unlock(&visitors->lock);
}
