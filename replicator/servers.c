#include "servers.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* libpq takes less for this. */
#define LEAST_TIMEOUT 2000

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

bool servers_read(struct servers *servers, PGconn *connection) {
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
  return ok;
}

void servers_release(struct servers *servers) {
  free(servers->host);
  free(servers->hostaddr);
  free(servers->port);
}

static int count_all(const struct servers *servers) {
  int items = count(servers->hostaddr != NULL ? servers->hostaddr : servers->host);
  return items > 0 ? items : 1;
}

int64_t servers_wait_until(const struct servers *servers, int64_t deadline) {
  int64_t now = clock_now();
  int64_t share = (deadline - now) / count_all(servers);
  int64_t timeout = servers->timeout > 0 && servers->timeout < LEAST_TIMEOUT ? LEAST_TIMEOUT : servers->timeout;
  return now + (timeout > 0 && timeout < share ? timeout : share);
}

bool servers_leave_out(struct servers *servers, const PGconn *connection) {
  char *names = servers->host != NULL ? servers->host : servers->hostaddr;
  const char *host = PQhost(connection);
  const char *port = PQport(connection);
  int items = count_all(servers);
  bool many_ports = count(servers->port) > 1;
  if (items < 2 || host == NULL || port == NULL)
    return false;
  int item = 0;
  while (item < items &&
         !(is(names, item, host) && (!many_ports || is(servers->port, item, port) || is(servers->port, item, ""))))
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
