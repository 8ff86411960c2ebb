#include "served.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define CANNOT_BE_HAD 77

void served_control(struct served *served, const char *command) {
  char said[4096];
  char line[512];
  snprintf(line, sizeof line, "tests/support/%s %s %s 2>&1", served->script, command, served->directory);
  FILE *pipe = popen(line, "r");
  cr_assert(pipe != NULL);
  size_t length = fread(said, 1, sizeof said - 1, pipe);
  said[length] = '\0';
  int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_BE_HAD)
    cr_skip("%s", said);
  cr_assert(status == 0, "%s: %s", line, said);
  said[strcspn(said, "\n")] = '\0';
  if (strcmp(command, "start") == 0)
    snprintf(served->address, sizeof served->address, "%.63s", said);
}

void served_exchange(struct served *served) {
  char command[1024];
  served_control(served, "kill");
  snprintf(
      command, sizeof command,
      "cd %s && mv data leaving && if [ -e aside ]; then mv aside data; else mkdir data && chown --reference=leaving "
      "data; fi && mv leaving aside",
      served->directory);
  cr_assert_eq(system(command), 0);
  served_control(served, "start");
}

/* Beside the shared PostgreSQL servers, in the directory that goes with the test run. */
void served_begin(struct served *served, const char *script, bool shared) {
  const char *near = getenv("ROWRELAY_TEST_SOURCE_DIR");
  cr_assert(near != NULL, "ROWRELAY_TEST_SOURCE_DIR is not set: run this by make check");
  snprintf(served->script, sizeof served->script, "%s", script);
  int length =
      snprintf(served->directory, sizeof served->directory, "%.*s/%s", (int)(strrchr(near, '/') - near), near, script);
  if (!shared) {
    snprintf(served->directory + length, sizeof served->directory - (size_t)length, "-%d", (int)getpid());
    char path[128];
    snprintf(path, sizeof path, "tests/support/%s", script);
    guard_directory(served->directory, path);
  }
  served_control(served, "start");
}

const char *served_path(const struct served *served, const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", served->directory, name);
  return path;
}

const char *served_says(const struct served *served, const char *name) {
  static char line[256];
  FILE *file = fopen(served_path(served, name), "r");
  cr_assert(file != NULL && fgets(line, sizeof line, file) != NULL, "%s", name);
  fclose(file);
  line[strcspn(line, "\n")] = '\0';
  return line;
}

const char *served_url(const struct served *served, const char *scheme, const char *path) {
  static char urls[4][512];
  static int next = 0;
  next = (next + 1) % 4;
  snprintf(urls[next], sizeof urls[next], "%s://%s%s", scheme, served->address, path);
  return urls[next];
}

static char *answer = NULL;
static size_t answer_length = 0;

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  answer = realloc(answer, answer_length + size * count + 1);
  cr_assert(answer != NULL);
  memcpy(answer + answer_length, bytes, size * count);
  answer_length += size * count;
  answer[answer_length] = '\0';
  return size * count;
}

const char *served_ask(const struct served *served, const char *method, const char *path, const char *body) {
  CURL *curl = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  long status = 0;
  answer_length = 0;
  take((char[]){""}, 1, 0, NULL);
  curl_easy_setopt(curl, CURLOPT_URL, served_url(served, "http", path));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (body != NULL)
    curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  cr_assert(code == CURLE_OK, "%s %s: %s", method, path, curl_easy_strerror(code));
  cr_assert((status >= 200 && status < 300) || status == 404, "%s %s: %ld %s", method, path, status, answer);
  return answer;
}
