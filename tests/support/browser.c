#include "browser.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define PACKAGES "build/npm-browser"

static pid_t process;
static FILE *to;
static FILE *from;

static bool can_be_had(void) {
  return has_programs("node npm chromium") &&
         system("mkdir -p " PACKAGES " && flock " PACKAGES " sh -c '"
                "test -e " PACKAGES "/complete || { "
                "timeout 120 npm install --prefix " PACKAGES " --no-audit --no-fund --loglevel error "
                "playwright-core axe-core && touch " PACKAGES "/complete; }' > " PACKAGES ".log 2>&1") == 0;
}

static const char *read_answer(void) {
  static char answer[16384];
  if (fgets(answer, sizeof answer, from) == NULL)
    return "the browser is gone";
  answer[strcspn(answer, "\n")] = '\0';
  return answer;
}

/* Of a script with these words. */
static void begin(const char *script, const char *first, const char *second, const char *third) {
  if (!can_be_had())
    cr_skip_test("chromium, or the npm packages playwright-core and axe-core, cannot be had: see " PACKAGES ".log");
  int in[2];
  int out[2];
  cr_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execlp("node", "node", script, PACKAGES, "/usr/bin/chromium", first, second, third, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to = fdopen(in[1], "w");
  from = fdopen(out[0], "r");
}

void browser_begin(int port) {
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
  begin("tests/support/browser.js", url, NULL, NULL);
  const char *answer = read_answer();
  cr_assert_str_eq(answer, "ok");
}

void browser_listen(int port, const char *token, int seed) {
  char number[16];
  char random[16];
  snprintf(number, sizeof number, "%d", port);
  snprintf(random, sizeof random, "%d", seed);
  begin("tests/support/browser_events.js", number, token, random);
}

const char *browser_hear(void) {
  return read_answer();
}

void browser_end(void) {
  fclose(to);
  fclose(from);
  waitpid(process, NULL, 0);
}

static const char *tell(const char *format, va_list arguments) {
  vfprintf(to, format, arguments);
  fputc('\n', to);
  fflush(to);
  return read_answer();
}

const char *browser_ask(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *answer = tell(format, arguments);
  va_end(arguments);
  return answer;
}

void browser_do(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const char *answer = browser_ask("%s", line);
  cr_assert_str_eq(answer, "ok", "%s: %s", line, answer);
}
