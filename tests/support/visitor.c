#include "visitor.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define LISTENS "listening on port "

/* What came; a string. */
struct text {
  char *bytes;
  size_t length;
};

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct text *text = context;
  text->bytes = realloc(text->bytes, text->length + size * count + 1);
  memcpy(text->bytes + text->length, bytes, size * count);
  text->length += size * count;
  text->bytes[text->length] = '\0';
  return size * count;
}

static void forget(struct text *text) {
  free(text->bytes);
  *text = (struct text){.bytes = strdup("")};
}

int visitor_port(pid_t process) {
  wait_until_says(process, LISTENS, 10);
  return atoi(strstr(process_log(process), LISTENS) + strlen(LISTENS));
}

struct visit visit(int port, const char *method, const char *path, const char *header, const char *body) {
  static struct text headers;
  static struct text answer;
  char url[1024];
  struct visit visit = {.status = 0};
  CURL *curl = curl_easy_init();
  struct curl_slist *list = header != NULL ? curl_slist_append(NULL, header) : NULL;
  forget(&headers);
  forget(&answer);
  snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, path);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
  if (body != NULL)
    curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body);
  if (strcmp(method, "HEAD") == 0)
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &headers);
  if (curl_easy_perform(curl) == CURLE_OK)
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &visit.status);
  curl_slist_free_all(list);
  curl_easy_cleanup(curl);
  visit.headers = headers.bytes;
  visit.body = answer.bytes;
  return visit;
}

long visitor_status(int port, const char *request, size_t length) {
  static const char BEGIN[] = "HTTP/1.1 ";
  char answer[16] = "";
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(connect(fd, (struct sockaddr *)&server, sizeof server), 0);
  cr_assert(send(fd, request, length, MSG_NOSIGNAL) > 0);
  recv(fd, answer, sizeof answer - 1, MSG_WAITALL);
  close(fd);
  return strncmp(answer, BEGIN, strlen(BEGIN)) == 0 ? strtol(answer + strlen(BEGIN), NULL, 10) : 0;
}

struct visit visit_until(int port, const char *path, long status, double seconds) {
  double until = give_up_at(seconds);
  for (;;) {
    struct visit last = visit(port, "GET", path, NULL, NULL);
    if (last.status == status)
      return last;
    cr_assert(seconds_now() < until, "%s: still %ld, not %ld: %s", path, last.status, status, last.body);
    sleep_seconds(0.05);
  }
}
