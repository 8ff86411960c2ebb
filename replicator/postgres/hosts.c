#include "postgres/hosts.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/clock.h"

/* libpq takes less for this. */
#define LEAST_TIMEOUT 2000

#define LIST_LIMIT ((size_t)64 * 1024)

static int count(const char *list) {
  int items = 1;
  if (list == NULL)
    return 0;
  for (; (list = strchr(list, ',')) != NULL; list++)
    items++;
  return items;
}

/* Where an item begins; it ends at a comma, or with the list. */
static char *find(char *list, int item) {
  for (; item > 0; item--)
    list = strchr(list, ',') + 1;
  return list;
}

static bool is(char *list, int item, const char *text) {
  const char *begin = find(list, item);
  size_t length = strcspn(begin, ",");
  return strlen(text) == length && strncmp(begin, text, length) == 0;
}

static void cut(char *list, int item) {
  char *begin = find(list, item);
  char *next = strchr(begin, ',');
  if (next != NULL)
    memmove(begin, next + 1, strlen(next + 1) + 1);
  else
    begin[item > 0 ? -1 : 0] = '\0';
}

static bool take(char **list, const char *value) {
  free(*list);
  *list = value != NULL && value[0] != '\0' ? strdup(value) : NULL;
  return *list != NULL || value == NULL || value[0] == '\0';
}

/* The lists with an item for each address. */
struct expansion {
  struct buffer host;
  struct buffer hostaddr;
  struct buffer port;
  int items;
};

static void add_item(struct buffer *list, bool first, const char *begin, size_t length) {
  buffer_add_string(list, first ? "" : ",");
  buffer_add(list, begin, length);
}

/* `address` is "" where the name is a socket's path, or has no address that is known. */
static void add_server(struct expansion *lists, struct hosts *servers, int item, const char *address) {
  const char *host = find(servers->host, item);
  add_item(&lists->host, lists->items == 0, host, strcspn(host, ","));
  add_item(&lists->hostaddr, lists->items == 0, address, strlen(address));
  if (count(servers->port) > 1) {
    const char *port = find(servers->port, item);
    add_item(&lists->port, lists->items == 0, port, strcspn(port, ","));
  }
  lists->items++;
}

static void add_addresses(struct expansion *lists, struct hosts *servers, int item) {
  static const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  const char *begin = find(servers->host, item);
  char *name = strndup(begin, strcspn(begin, ","));
  struct addrinfo *found = NULL;
  char address[NI_MAXHOST];
  int before = lists->items;
  if (name != NULL && name[0] != '\0' && name[0] != '/' && name[0] != '@' &&
      getaddrinfo(name, NULL, &wanted, &found) == 0) {
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next)
      if (getnameinfo(one->ai_addr, one->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) == 0)
        add_server(lists, servers, item, address);
    freeaddrinfo(found);
  }
  free(name);
  if (lists->items == before)
    add_server(lists, servers, item, "");
}

/* A name of several addresses becomes as many servers; it stays, because certificates and passwords are for it. */
static bool expand(struct hosts *servers) {
  if (servers->host == NULL || servers->hostaddr != NULL)
    return true;
  struct expansion lists = {.items = 0};
  buffer_init(&lists.host, LIST_LIMIT);
  buffer_init(&lists.hostaddr, LIST_LIMIT);
  buffer_init(&lists.port, LIST_LIMIT);
  for (int item = 0; item < count(servers->host); item++)
    add_addresses(&lists, servers, item);
  bool ok = true;
  if (!lists.host.overflow && !lists.hostaddr.overflow && !lists.port.overflow && lists.items > count(servers->host))
    ok = take(&servers->host, lists.host.data) && take(&servers->hostaddr, lists.hostaddr.data) &&
         (lists.port.length == 0 || take(&servers->port, lists.port.data));
  buffer_release(&lists.host);
  buffer_release(&lists.hostaddr);
  buffer_release(&lists.port);
  return ok;
}

bool hosts_read(struct hosts *servers, PGconn *connection) {
  PQconninfoOption *options = PQconninfo(connection);
  bool ok = options != NULL;
  for (const PQconninfoOption *option = options; ok && option->keyword != NULL; option++) {
    if (strcmp(option->keyword, "host") == 0)
      ok = take(&servers->host, option->val);
    else if (strcmp(option->keyword, "hostaddr") == 0)
      ok = take(&servers->hostaddr, option->val);
    else if (strcmp(option->keyword, "port") == 0)
      ok = take(&servers->port, option->val);
    else if (strcmp(option->keyword, "connect_timeout") == 0)
      servers->timeout = option->val != NULL ? 1000 * strtol(option->val, NULL, 10) : 0;
  }
  PQconninfoFree(options);
  return ok && expand(servers);
}

void hosts_release(struct hosts *servers) {
  free(servers->host);
  free(servers->hostaddr);
  free(servers->port);
}

static int count_all(const struct hosts *servers) {
  int items = count(servers->hostaddr != NULL ? servers->hostaddr : servers->host);
  return items > 0 ? items : 1;
}

int64_t hosts_wait_until(const struct hosts *servers, int64_t deadline) {
  int64_t now = clock_now();
  int64_t share = (deadline - now) / count_all(servers);
  int64_t timeout = servers->timeout > 0 && servers->timeout < LEAST_TIMEOUT ? LEAST_TIMEOUT : servers->timeout;
  return now + (timeout > 0 && timeout < share ? timeout : share);
}

bool hosts_leave_out(struct hosts *servers, const PGconn *connection) {
  char *names = servers->host != NULL ? servers->host : servers->hostaddr;
  const char *host = PQhost(connection);
  const char *port = PQport(connection);
  const char *address = PQhostaddr(connection);
  int items = count_all(servers);
  bool many_ports = count(servers->port) > 1;
  if (items < 2 || host == NULL || port == NULL)
    return false;
  bool by_address = servers->host != NULL && servers->hostaddr != NULL && address != NULL && address[0] != '\0';
  int item = 0;
  while (item < items && !(is(names, item, host) && (!by_address || is(servers->hostaddr, item, address)) &&
                           (!many_ports || is(servers->port, item, port) || is(servers->port, item, ""))))
    item++;
  /* It is always there. If it were not, this would have an end all the same. */
  if (item == items)
    item = 0;
  if (servers->host != NULL)
    cut(servers->host, item);
  if (servers->hostaddr != NULL)
    cut(servers->hostaddr, item);
  if (many_ports)
    cut(servers->port, item);
  return true;
}
