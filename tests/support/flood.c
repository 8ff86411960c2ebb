#include "flood.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

struct flood {
  const char *head;
  size_t megabytes;
  int fd;
  int port;
  pthread_t thread;
  atomic_int answered;
  atomic_bool leaving;
};

static void answer(struct flood *flood, int client) {
  static char filler[1024 * 1024];
  char asked[65536];
  memset(filler, 'x', sizeof filler);
  bool ok = recv(client, asked, sizeof asked, 0) > 0 &&
            send(client, flood->head, strlen(flood->head), MSG_NOSIGNAL) == (ssize_t)strlen(flood->head);
  for (size_t i = 0; ok && i < flood->megabytes && !flood->leaving; i++)
    for (size_t sent = 0; ok && sent < sizeof filler;) {
      ssize_t length = send(client, filler + sent, sizeof filler - sent, MSG_NOSIGNAL);
      ok = length > 0;
      sent += ok ? (size_t)length : 0;
    }
}

static void *serve(void *argument) {
  struct flood *flood = argument;
  for (;;) {
    int client = accept(flood->fd, NULL, NULL);
    if (client < 0)
      return NULL;
    answer(flood, client);
    close(client);
    flood->answered++;
  }
}

struct flood *flood_begin(const char *head, size_t megabytes) {
  struct flood *flood = calloc(1, sizeof *flood);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  cr_assert_not_null(flood);
  flood->head = head;
  flood->megabytes = megabytes;
  flood->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(bind(flood->fd, (struct sockaddr *)&address, sizeof address), 0);
  cr_assert_eq(listen(flood->fd, 64), 0);
  cr_assert_eq(getsockname(flood->fd, (struct sockaddr *)&address, &length), 0);
  flood->port = ntohs(address.sin_port);
  cr_assert_eq(pthread_create(&flood->thread, NULL, serve, flood), 0);
  return flood;
}

void flood_end(struct flood *flood) {
  flood->leaving = true;
  shutdown(flood->fd, SHUT_RDWR);
  pthread_join(flood->thread, NULL);
  close(flood->fd);
  free(flood);
}

int flood_port(const struct flood *flood) {
  return flood->port;
}

void flood_wait(struct flood *flood, double seconds) {
  double until = give_up_at(seconds);
  while (flood->answered == 0) {
    cr_assert(seconds_now() < until, "nobody asked");
    sleep_seconds(0.1);
  }
}

long peak_of(pid_t process) {
  char name[64];
  char line[256];
  long kilobytes = -1;
  snprintf(name, sizeof name, "/proc/%d/status", (int)process);
  FILE *status = fopen(name, "re");
  cr_assert(status != NULL);
  while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %ld kB", &kilobytes) != 1)
    ;
  fclose(status);
  cr_assert(kilobytes > 0);
  return kilobytes / 1024;
}
