#include "refused.h"

#include <stddef.h>

void refused_begin(struct fixture *f, const char *name, const char *option, const char *option2) {
  fixture_begin(f, name);
  sql(f->at_source,
      "create table item (id int primary key, name text, price numeric default 0, code text default 'c', tag text)");
  sql(f->at_target, "create table item (id int primary key, name varchar(10), price numeric check (price >= 0),"
                    " code text not null, tag text unique)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", option != NULL ? option : "on_error=park", "--option",
              option2 != NULL ? option2 : "on_error=park", NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", NULL);
}

void refused_deliver(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", "--workers", "2", NULL);
}

const char *refused_changes(struct fixture *f) {
  return ask(f->at_source, "select string_agg(concat_ws(' ', target, key, op, state), ', ' order by change_id, target "
                           "desc) from rowrelay.errors");
}
