#include "proxy.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_CONNECTIONS 200
#define LOOK_INTERVAL 3 /* milliseconds between looks at the orders */

/* A connection of a client, and the one to the server that belongs to it. */
struct pair {
  int client;
  int server;
  bool is_old; /* it was there when old ones were stalled */
};

struct network {
  struct proxy_orders *orders;
  struct sockaddr_un server;
  int listener;
  struct pair pairs[MOST_CONNECTIONS];
  int count;
  int cuts; /* carried out so far */
  int breaks;
  bool had_stalled_old;
};

static struct sockaddr_un address_of(const char *dir) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%.80s/.s.PGSQL.5432", dir);
  return address;
}

/* Carries over what is there, or a part of it; false when this connection has ended. */
static bool carry(int from, int to, bool breaks) {
  char bytes[32768];
  ssize_t got = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0)
    return errno == EAGAIN || errno == EINTR;
  if (breaks)
    got /= 2;
  for (ssize_t sent = 0; sent < got;) {
    ssize_t n = send(to, bytes + sent, (size_t)(got - sent), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    sent += n;
  }
  if (breaks)
    shutdown(to, SHUT_WR); /* half closed: the other direction goes on */
  return got > 0;
}

static void drop(struct network *network, int i) {
  close(network->pairs[i].client);
  close(network->pairs[i].server);
  network->pairs[i] = network->pairs[--network->count];
}

static void obey(struct network *network) {
  int cuts = atomic_load(&network->orders->cuts);
  if (cuts != network->cuts)
    while (network->count > 0)
      drop(network, network->count - 1);
  network->cuts = cuts;
  bool stalls_old = atomic_load(&network->orders->old_stalled);
  if (stalls_old && !network->had_stalled_old)
    for (int i = 0; i < network->count; i++)
      network->pairs[i].is_old = true;
  network->had_stalled_old = stalls_old;
}

static void let_in(struct network *network) {
  struct pair pair = {.client = accept(network->listener, NULL, NULL), .server = socket(AF_UNIX, SOCK_STREAM, 0)};
  bool refuses = atomic_load(&network->orders->refusing);
  if (pair.client >= 0 && !refuses &&
      connect(pair.server, (const struct sockaddr *)&network->server, sizeof network->server) == 0) {
    network->pairs[network->count++] = pair;
    return;
  }
  close(pair.client);
  close(pair.server);
}

static bool is_stalled(const struct network *network, const struct pair *pair) {
  return atomic_load(&network->orders->stalled) || (pair->is_old && network->had_stalled_old);
}

static _Noreturn void serve(struct network *network) {
  for (;;) {
    struct pollfd polled[1 + 2 * MOST_CONNECTIONS];
    nfds_t n = 0;
    obey(network);
    int count = network->count;
    for (int i = 0; i < count; i++) {
      bool stalled = is_stalled(network, &network->pairs[i]);
      polled[n++] = (struct pollfd){.fd = stalled ? -1 : network->pairs[i].client, .events = POLLIN};
      polled[n++] = (struct pollfd){.fd = stalled ? -1 : network->pairs[i].server, .events = POLLIN};
    }
    polled[n++] = (struct pollfd){.fd = count < MOST_CONNECTIONS ? network->listener : -1, .events = POLLIN};
    if (poll(polled, n, LOOK_INTERVAL) <= 0)
      continue;
    int breaks = atomic_load(&network->orders->breaks);
    bool breaks_now = breaks != network->breaks;
    for (int i = count - 1; i >= 0; i--) {
      bool from_client = polled[2 * i].revents != 0;
      bool from_server = polled[2 * i + 1].revents != 0;
      if ((from_client && !carry(network->pairs[i].client, network->pairs[i].server, breaks_now)) ||
          (from_server && !carry(network->pairs[i].server, network->pairs[i].client, breaks_now)))
        drop(network, i);
      else if (breaks_now && (from_client || from_server))
        network->breaks = breaks;
    }
    if (polled[n - 1].revents != 0)
      let_in(network);
  }
}

void proxy_begin(struct proxy *proxy, const struct stage *stage, const char *server) {
  char there[256];
  snprintf(proxy->dir, sizeof proxy->dir, "%.100s/net-%.20s", stage->dir, server);
  snprintf(there, sizeof there, "%.100s/%.20s", stage->dir, server);
  mkdir(proxy->dir, 0755);
  proxy->orders = mmap(NULL, sizeof *proxy->orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct sockaddr_un here = address_of(proxy->dir);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (const struct sockaddr *)&here, sizeof here) != 0 || listen(listener, 128) != 0)
    give_up("cannot listen in %s", proxy->dir);
  if (split() == 0) {
    static struct network network;
    network = (struct network){.orders = proxy->orders, .server = address_of(there), .listener = listener};
    serve(&network);
  }
  close(listener);
}

void proxy_heal(struct proxy *proxy) {
  atomic_store(&proxy->orders->stalled, false);
  atomic_store(&proxy->orders->refusing, false);
  atomic_store(&proxy->orders->old_stalled, false);
}
