#include "ear.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

void ear_open(struct ear *ear, int port, const char *path, const char *token, const char *accept, const char *last_id) {
  char request[16384];
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  *ear = (struct ear){.left = -1, .is_events = accept == NULL};
  ear->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(connect(ear->fd, (struct sockaddr *)&server, sizeof server), 0, "%s", strerror(errno));
  int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n", path,
                        accept != NULL ? accept : "text/event-stream");
  if (token != NULL)
    length += snprintf(request + length, sizeof request - (size_t)length, "Authorization: Bearer %s\r\n", token);
  if (last_id[0] != '\0')
    length += snprintf(request + length, sizeof request - (size_t)length, "Last-Event-ID: %s\r\n", last_id);
  length += snprintf(request + length, sizeof request - (size_t)length, "\r\n");
  cr_assert((size_t)length < sizeof request);
  cr_assert_eq(send(ear->fd, request, (size_t)length, MSG_NOSIGNAL), length);
}

void ear_close(struct ear *ear) {
  close(ear->fd);
  free(ear->raw);
  free(ear->text);
  free(ear->piece);
  free(ear->headers);
  ear->raw = ear->text = ear->piece = ear->headers = NULL;
}

static void append(char **bytes, size_t *length, const char *more, size_t count) {
  *bytes = realloc(*bytes, *length + count + 1);
  memcpy(*bytes + *length, more, count);
  *length += count;
  (*bytes)[*length] = '\0';
}

static void drop(char *bytes, size_t *length, size_t count) {
  *length -= count;
  memmove(bytes, bytes + count, *length + 1);
}

/* Moves a chunk's bytes, or all that came, to the text; false: more must come first. */
static bool decode_some(struct ear *ear) {
  if (!ear->is_chunked || ear->left > 0) {
    size_t count = ear->is_chunked && (size_t)ear->left < ear->raw_length ? (size_t)ear->left : ear->raw_length;
    append(&ear->text, &ear->text_length, ear->raw, count);
    drop(ear->raw, &ear->raw_length, count);
    ear->left -= ear->is_chunked ? (long)count : 0;
    return count > 0;
  }
  const char *begin = ear->left == 0 ? ear->raw + 2 : ear->raw; /* behind the end of the last */
  const char *end = ear->raw_length > 2 ? strstr(begin, "\r\n") : NULL;
  if (end == NULL)
    return false;
  ear->left = strtol(begin, NULL, 16);
  drop(ear->raw, &ear->raw_length, (size_t)(end + 2 - ear->raw));
  ear->ended = ear->left == 0;
  return !ear->ended;
}

static void decode(struct ear *ear) {
  if (!ear->has_headers) {
    char *end = ear->raw != NULL ? strstr(ear->raw, "\r\n\r\n") : NULL;
    if (end == NULL)
      return;
    ear->headers = strndup(ear->raw, (size_t)(end + 2 - ear->raw));
    ear->has_headers = true;
    sscanf(ear->headers, "HTTP/1.1 %d", &ear->status);
    ear->is_chunked = strstr(ear->headers, "Transfer-Encoding: chunked") != NULL;
    drop(ear->raw, &ear->raw_length, (size_t)(end + 4 - ear->raw));
  }
  while (!ear->ended && ear->raw_length > 0 && decode_some(ear))
    ;
}

bool ear_read(struct ear *ear, size_t most, double seconds) {
  static char bytes[65536];
  struct pollfd socket = {.fd = ear->fd, .events = POLLIN};
  if (ear->ended || poll(&socket, 1, (int)(seconds * 1000)) <= 0)
    return false;
  ssize_t count = recv(ear->fd, bytes, most < sizeof bytes ? most : sizeof bytes, 0);
  if (count <= 0) {
    ear->ended = true;
    return false;
  }
  append(&ear->raw, &ear->raw_length, bytes, (size_t)count);
  decode(ear);
  return true;
}

int ear_status(struct ear *ear, double seconds) {
  double until = give_up_at(seconds);
  while (ear->status == 0 && !ear->ended && seconds_now() < until)
    ear_read(ear, 65536, 0.1);
  return ear->status;
}

/* What is complete of the text; false: nothing is. */
static bool take_piece(struct ear *ear) {
  const char *mark = ear->is_events && ear->status == 200 ? "\n\n" : "\n";
  char *end = ear->text_length > 0 ? strstr(ear->text, mark) : NULL;
  if (end == NULL)
    return false;
  free(ear->piece);
  ear->piece = strndup(ear->text, (size_t)(end - ear->text));
  drop(ear->text, &ear->text_length, (size_t)(end - ear->text) + strlen(mark));
  return true;
}

bool ear_hear(struct ear *ear, double seconds, const char **data) {
  double until = seconds_now() + seconds;
  while (!take_piece(ear)) {
    double left = until - seconds_now();
    if (left <= 0 || (!ear_read(ear, 65536, left) && ear->ended && strchr(ear->text ? ear->text : "", '\n') == NULL))
      return false;
  }
  *data = ear->piece;
  if (!ear->is_events)
    return true;
  *data = NULL;
  for (char *line = ear->piece, *next = line; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    if (strncmp(line, "id: ", 4) == 0)
      snprintf(ear->id, sizeof ear->id, "%s", line + 4);
    if (strncmp(line, "data: ", 6) == 0)
      *data = line + 6;
  }
  return true;
}

const char *ear_hear_data(struct ear *ear, double seconds) {
  double until = give_up_at(seconds);
  const char *data = NULL;
  while (seconds_now() < until && ear_hear(ear, until - seconds_now(), &data))
    if (data != NULL)
      return data;
  return "";
}

long ear_number(const char *data, const char *name) {
  char member[64];
  snprintf(member, sizeof member, "\"%s\" : ", name);
  const char *found = strstr(data, member);
  return found != NULL ? strtol(found + strlen(member), NULL, 10) : -1;
}
