#include "console.h"

#include <stdlib.h>
#include <string.h>

#include "visitor.h"

pid_t console_begin(struct fixture *f, const char *name, bool with_token, int *port) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text not null)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "retries=0", NULL);
  rowrelay_ok(f, "capture", "item", "--before", "--to", "w", "--create", NULL);
  unsetenv("ROWRELAY_CONSOLE_TOKEN");
  if (with_token)
    setenv("ROWRELAY_CONSOLE_TOKEN", CONSOLE_TOKEN, 1);
  pid_t process = fixture_run(f, "--listen", "127.0.0.1:0", NULL);
  *port = visitor_port(process);
  visit_until(*port, "/readyz", 200, 10);
  return process;
}

bool console_has_before(const char *text, const char *first, const char *second) {
  const char *one = strstr(text, first);
  const char *other = strstr(text, second);
  return one != NULL && other != NULL && one < other;
}
