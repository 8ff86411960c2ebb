#include "spoken.h"

void spoken_begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table other (id int primary key)");
  sql(f->at_target, "create table item (id int primary key, name text); create table other (id int primary key)");
}
