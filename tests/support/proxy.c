#include "proxy.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CONNECTIONS 32

/* Milliseconds. */
#define LOOK_INTERVAL 2

struct proxy_state {
  atomic_bool hides_ends;
  atomic_bool held;
  atomic_bool holding; /* it knows that it is held */
  atomic_int stuck;    /* bytes that do not pass */
  atomic_bool awaited; /* a client is about to send `words`; */
  atomic_bool passed;  /* it has, and the answer will not pass */
  char words[64];
};

/* One connection of a client and the one to the server that belongs to it. */
struct pair {
  int client;
  int server;
};

static struct sockaddr_un socket_address(const char *dir, const char *port) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%s", dir, port);
  return address;
}

static void look_for_words(struct proxy_state *state, const char *bytes, size_t count) {
  if (atomic_load(&state->awaited) && memmem(bytes, count, state->words, strlen(state->words)) != NULL) {
    atomic_store(&state->awaited, false);
    atomic_store(&state->passed, true);
  }
}

/* Carries over what is there; false when one side has closed. `state` is NULL on the way back. */
static bool carry(int from, int to, struct proxy_state *state) {
  char bytes[65536];
  ssize_t got = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0)
    return true;
  if (state != NULL)
    look_for_words(state, bytes, (size_t)got);
  for (ssize_t sent = 0; sent < got;) {
    ssize_t n = send(to, bytes + sent, (size_t)(got - sent), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    sent += n;
  }
  return got > 0;
}

static int waiting_bytes(int fd) {
  int bytes = 0;
  return fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 ? bytes : 0;
}

static void serve(struct proxy_state *state, int listener, const struct sockaddr_un *server) {
  struct pair pairs[MOST_CONNECTIONS];
  int count = 0;
  for (;;) {
    struct pollfd polled[1 + 2 * MOST_CONNECTIONS];
    bool held = atomic_load(&state->held);
    atomic_store(&state->holding, held);
    nfds_t n = 0;
    int stuck = 0;
    for (int i = 0; i < count; i++) {
      stuck += waiting_bytes(pairs[i].client) + waiting_bytes(pairs[i].server);
      polled[n++] = (struct pollfd){.fd = held || pairs[i].server < 0 ? -1 : pairs[i].client, .events = POLLIN};
      polled[n++] = (struct pollfd){.fd = held ? -1 : pairs[i].server, .events = POLLIN};
    }
    atomic_store(&state->stuck, held ? stuck : 0);
    polled[n++] = (struct pollfd){.fd = count < MOST_CONNECTIONS ? listener : -1, .events = POLLIN};
    poll(polled, n, LOOK_INTERVAL);
    if (polled[n - 1].revents != 0) {
      struct pair new_pair = {.client = accept(listener, NULL, NULL), .server = socket(AF_UNIX, SOCK_STREAM, 0)};
      if (new_pair.client >= 0 && connect(new_pair.server, (const struct sockaddr *)server, sizeof *server) == 0) {
        pairs[count++] = new_pair;
      } else {
        close(new_pair.client);
        close(new_pair.server);
      }
    }
    if (held)
      continue;
    for (int i = count - 1; i >= 0; i--) {
      if (pairs[i].server < 0)
        continue;
      bool open = carry(pairs[i].client, pairs[i].server, state);
      if (atomic_load(&state->passed) && waiting_bytes(pairs[i].server) > 0) {
        atomic_store(&state->passed, false);
        atomic_store(&state->held, true);
        break;
      }
      bool ended = open && !carry(pairs[i].server, pairs[i].client, NULL);
      if (ended && atomic_load(&state->hides_ends)) {
        close(pairs[i].server);
        pairs[i].server = -1;
      } else if (!open || ended) {
        close(pairs[i].client);
        close(pairs[i].server);
        pairs[i] = pairs[--count];
      }
    }
  }
}

void proxy_begin(struct proxy *proxy, PGconn *server) {
  /* in the directory of this test run, which is removed in the end */
  const char *shared = getenv("ROWRELAY_TEST_SOURCE_DIR");
  cr_assert(shared != NULL);
  snprintf(proxy->dir, sizeof proxy->dir, "%.*s/proxy-XXXXXX", (int)(strrchr(shared, '/') - shared), shared);
  cr_assert(mkdtemp(proxy->dir) != NULL);
  proxy->state = mmap(NULL, sizeof *proxy->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert(proxy->state != MAP_FAILED);
  struct sockaddr_un here = socket_address(proxy->dir, "5432");
  struct sockaddr_un there = socket_address(PQhost(server), PQport(server));
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert(bind(listener, (const struct sockaddr *)&here, sizeof here) == 0 &&
            listen(listener, MOST_CONNECTIONS) == 0);
  pid_t parent = getpid();
  proxy->process = fork();
  cr_assert(proxy->process >= 0);
  if (proxy->process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
      serve(proxy->state, listener, &there);
    _exit(127);
  }
  close(listener);
}

void proxy_end(struct proxy *proxy) {
  kill(proxy->process, SIGKILL);
  waitpid(proxy->process, NULL, 0);
  munmap(proxy->state, sizeof *proxy->state);
  struct sockaddr_un here = socket_address(proxy->dir, "5432");
  unlink(here.sun_path);
  rmdir(proxy->dir);
}

void proxy_add_target(struct fixture *fixture, const char *option) {
  char url[512];
  snprintf(url, sizeof url, "postgresql:///%s?host=${PATH_TO_W}&user=postgres&port=5432", PQdb(fixture->at_target));
  setenv("PATH_TO_W", PQhost(fixture->at_target), 1);
  rowrelay_ok(fixture, "target", "add", "w", url, option != NULL ? "--option" : NULL, option, NULL);
}

pid_t proxy_run(const struct proxy *proxy, struct fixture *fixture) {
  setenv("PATH_TO_W", proxy->dir, 1);
  pid_t process = fixture_run(fixture, "--workers", "1", NULL);
  setenv("PATH_TO_W", PQhost(fixture->at_target), 1);
  return process;
}

void proxy_hold(struct proxy *proxy) {
  atomic_store(&proxy->state->held, true);
  while (!atomic_load(&proxy->state->holding))
    sleep_seconds(0.001);
}

void proxy_hold_answer_to(struct proxy *proxy, const char *words) {
  snprintf(proxy->state->words, sizeof proxy->state->words, "%s", words);
  atomic_store(&proxy->state->awaited, true);
}

void proxy_let_go(struct proxy *proxy) {
  atomic_store(&proxy->state->held, false);
}

void proxy_hide_ends(struct proxy *proxy) {
  atomic_store(&proxy->state->hides_ends, true);
}

void proxy_wait_until_stuck(struct proxy *proxy, double seconds) {
  double until = give_up_at(seconds);
  while (atomic_load(&proxy->state->stuck) == 0) {
    cr_assert(seconds_now() < until, "nothing has been sent for %.1f s", seconds);
    sleep_seconds(0.002);
  }
}
