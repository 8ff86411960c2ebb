#include "hooked.h"

#include <criterion/criterion.h>

struct receiver *hooked_begin(struct fixture *fixture, const char *name, const char *const *options) {
  fixture_begin(fixture, name);
  struct receiver *receiver = receiver_begin();
  sql(fixture->at_source, "create table item (id int primary key, name text, more json)");
  rowrelay_ok(fixture, "target", "add", "w", receiver_url(receiver, "/hook"), NULL);
  for (; options != NULL && *options != NULL; options++)
    rowrelay_ok(fixture, "target", "set", "w", "--option", *options, NULL);
  rowrelay_ok(fixture, "capture", "item", "--to", "w", "--before", NULL);
  return receiver;
}

void hooked_end(struct fixture *fixture, struct receiver *receiver) {
  fixture_end(fixture);
  receiver_end(receiver);
}

void hooked_is_in_order(struct fixture *fixture, struct receiver *receiver) {
  receiver_load(receiver, fixture->at_source);
  sql(fixture->at_source,
      "drop table if exists event; create temp table event as "
      "select r.n, r.came, r.answered, e -> 'data' ->> 'key' as key, (e -> 'data' ->> 'change_id')::bigint as "
      "change_id "
      "from request r, json_array_elements(case when body like '[%%' then body::json else json_build_array(body::json) "
      "end) as e");
  cr_assert(ask_number(fixture->at_source, "select count(*) from event") > 0);
  const char *together =
      ask(fixture->at_source, "select format('key %%s: change %%s came %%s s before change %%s was answered', key, "
                              "change_id, answer - came, before) from (select *, lag(answered) over of_key as answer, "
                              "lag(change_id) over of_key as before from event "
                              "window of_key as (partition by key order by n)) as x where came < answer limit 1");
  cr_assert(together[0] == '\0', "%s", together);
  const char *overtaken = ask(
      fixture->at_source, "select format('key %%s: change %%s came first after change %%s', key, change_id, newest) "
                          "from (select *, max(change_id) over (partition by key order by n rows between unbounded "
                          "preceding and 1 preceding) as newest, row_number() over (partition by change_id order "
                          "by n) as time from event) as x where change_id < newest and time = 1 limit 1");
  cr_assert(overtaken[0] == '\0', "%s", overtaken);
}
