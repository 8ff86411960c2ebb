#include "receiver.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dice.h"

#define REQUEST 65536
#define HANGS 4.0 /* seconds; longer than the target's timeout */

static struct {
  const struct stage *stage;
  pthread_mutex_t lock;
  struct dice dice;
  FILE *events;
} receiver = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *text_of(const json_t *object, const char *name, const char *otherwise) {
  const json_t *value = json_object_get(object, name);
  return json_is_string(value) ? json_string_value(value) : otherwise;
}

static long long number_of(const json_t *object, const char *name) {
  return json_integer_value(json_object_get(object, name));
}

/* The word after the last dot. */
static const char *last_word(const char *words) {
  const char *dot = strrchr(words, '.');
  return dot == NULL ? words : dot + 1;
}

/* A CloudEvent: type rowrelay.work.TABLE.OPERATION, subject, id, data. */
static bool write_cloudevent(FILE *file, const json_t *event) {
  char type[100];
  snprintf(type, sizeof type, "%s", text_of(event, "type", ""));
  char *dot = strrchr(type, '.');
  if (dot == NULL)
    return false;
  *dot = '\0';
  const json_t *data = json_object_get(event, "data");
  const json_t *before = json_object_get(data, "before");
  const json_t *after = json_object_get(data, "after");
  bool is_delete = strcmp(dot + 1, "delete") == 0;
  const json_t *row = is_delete ? before : after;
  const char *key = text_of(event, "subject", json_is_object(row) ? text_of(row, "k", "-") : "-");
  if (*key == '\0' || strcmp(dot + 1, "truncate") == 0)
    key = "-";
  fprintf(file, "%s %s %c %lld %s\n", last_word(type), key, dot[1], number_of(row, "n"), text_of(event, "id", "-"));
  return true;
}

bool receiver_write_event(FILE *file, const char *json) {
  json_t *line = json_loads(json, 0, NULL);
  if (line == NULL)
    return false;
  bool ok = true;
  if (json_object_get(line, "type") != NULL) {
    ok = write_cloudevent(file, line);
  } else {
    const char *operation = text_of(line, "op", "?");
    const json_t *row = json_object_get(line, *operation == 'd' ? "old_row" : "new_row");
    const char *key = text_of(line, "key", json_is_object(row) ? text_of(row, "k", "-") : "-");
    fprintf(file, "%s %s %c %lld %lld\n", last_word(text_of(line, "relation", "")), key, *operation,
            number_of(row, "n"), number_of(line, "change_id"));
  }
  json_decref(line);
  return ok;
}

enum mood { TAKES, FAILS, HANGS_FIRST, HANGS_AFTER, CUTS, LATE };

static enum mood choose_mood(double *late) {
  if (atomic_load(&receiver.stage->shared->healthy))
    return TAKES;
  int what = dice_roll(&receiver.dice, 1000);
  *late = dice_seconds(&receiver.dice, 0.05, 0.8);
  return what <= 15   ? FAILS
         : what <= 18 ? HANGS_FIRST
         : what <= 21 ? HANGS_AFTER
         : what <= 36 ? CUTS
         : what <= 70 ? LATE
                      : TAKES;
}

/* Takes a request; false when the connection is to end. */
static bool take(int connection, const char *body) {
  static const char GOOD[] = "HTTP/1.1 204 No Content\r\n\r\n";
  static const char BAD[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
  double late = 0;
  pthread_mutex_lock(&receiver.lock);
  enum mood mood = choose_mood(&late);
  bool takes = mood != FAILS && mood != HANGS_FIRST;
  if (takes && (!receiver_write_event(receiver.events, body) || fflush(receiver.events) != 0))
    say("the receiver does not understand %s", body);
  pthread_mutex_unlock(&receiver.lock);
  if (mood == HANGS_FIRST || mood == HANGS_AFTER)
    pause_for(HANGS);
  if (mood == LATE)
    pause_for(late);
  if (mood == CUTS || mood == HANGS_FIRST)
    return false;
  const char *answer = mood == FAILS ? BAD : GOOD;
  return send(connection, answer, strlen(answer), MSG_NOSIGNAL) > 0;
}

/* The length of the request at the start of these bytes; 0: it is not complete yet. */
static size_t request_length(const char *bytes, const char **body) {
  const char *end = strstr(bytes, "\r\n\r\n");
  if (end == NULL)
    return 0;
  const char *length = strcasestr(bytes, "\r\ncontent-length:");
  *body = end + 4;
  size_t all = (size_t)(*body - bytes) + (length == NULL ? 0 : strtoul(length + 17, NULL, 10));
  return strlen(bytes) >= all ? all : 0;
}

static void *listen_to(void *argument) {
  int connection = (int)(intptr_t)argument;
  char *bytes = calloc(1, REQUEST + 1);
  size_t count = 0;
  bool goes_on = bytes != NULL;
  while (goes_on) {
    const char *body = NULL;
    size_t length = request_length(bytes, &body);
    if (length == 0) {
      ssize_t got = recv(connection, bytes + count, REQUEST - count, 0);
      goes_on = got > 0;
      count += got > 0 ? (size_t)got : 0;
      bytes[count] = '\0';
      continue;
    }
    char after = bytes[length];
    bytes[length] = '\0';
    goes_on = take(connection, body);
    bytes[length] = after;
    memmove(bytes, bytes + length, count - length + 1);
    count -= length;
  }
  close(connection);
  free(bytes);
  return NULL;
}

static _Noreturn void serve(int listener) {
  for (;;) {
    pthread_t thread;
    int connection = accept(listener, NULL, NULL);
    if (connection >= 0 && pthread_create(&thread, NULL, listen_to, (void *)(intptr_t)connection) == 0)
      pthread_detach(thread);
  }
}

void receiver_begin(const struct stage *stage) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) != 0)
    give_up("the webhook's receiver cannot listen");
  atomic_store(&stage->shared->webhook_port, ntohs(address.sin_port));
  if (split() == 0) {
    receiver.stage = stage;
    receiver.dice = dice_of(stage->seed, "receiver");
    receiver.events = stage_file(stage, "webhook.events", "w");
    serve(listener);
  }
  close(listener);
}
