#include "messages.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

void messages_begin(struct fixture *fixture) {
  sql(fixture->at_source,
      "drop table if exists message; drop table if exists line; create temp table line (line json)");
  PGresult *result =
      PQexec(fixture->at_source, "copy line from stdin (format csv, delimiter e'\\x01', quote e'\\x02')");
  cr_assert_eq(PQresultStatus(result), PGRES_COPY_IN);
  PQclear(result);
}

void messages_add(struct fixture *fixture, const char *bytes, size_t length) {
  cr_assert_eq(PQputCopyData(fixture->at_source, bytes, (int)length), 1);
}

void messages_end(struct fixture *fixture) {
  cr_assert_eq(PQputCopyEnd(fixture->at_source, NULL), 1);
  finish(fixture->at_source);
}

void messages_read(struct fixture *fixture, const char *command) {
  static char bytes[65536];
  messages_begin(fixture);
  FILE *pipe = popen(command, "r");
  cr_assert(pipe != NULL);
  for (size_t length; (length = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
    messages_add(fixture, bytes, length);
  int status = pclose(pipe);
  messages_end(fixture);
  cr_assert(status == 0, "%s: %d", command, status);
}

void messages_make(struct fixture *fixture, const char *query) {
  sql(fixture->at_source,
      "create temp table message as %s; create index on message (partition, key, n); "
      "analyze message",
      query);
}

void messages_put_aside(struct fixture *fixture) {
  sql(fixture->at_source, "drop table if exists aside; create temp table aside as select * from message");
}

void messages_append(struct fixture *fixture) {
  sql(fixture->at_source,
      "update aside set n = n + (select count(*) + max(n) from message); insert into message select "
      "* from aside");
}

static void find_events(struct fixture *fixture) {
  sql(fixture->at_source,
      "drop table if exists event; create temp table event as select n, partition, key, "
      "(value::json -> 'data' ->> 'change_id')::bigint as id, value::json -> 'data' ->> 'op' as op from message "
      "where value is not null");
}

static void are_in_order(struct fixture *fixture) {
  cr_assert_str_eq(ask(fixture->at_source, "select count(*) from (select key from event where key is not null group by "
                                           "key having count(distinct partition) > 1) as k"),
                   "0", "a key is in several partitions");
  /* The first arrivals of a key's changes ascend. Without a key no lock of a row made an order. */
  const char *late = ask(
      fixture->at_source,
      "select string_agg(format('%%s of %%s after %%s', id, key, before), e'\\n') from (select id, key, max(id) over "
      "(partition by partition, key order by n rows between unbounded preceding and 1 preceding) as before, "
      "row_number() over (partition by partition, id order by n) as nth from event where op <> 'truncate') as e where "
      "nth = 1 and id < before and key is not null");
  cr_assert(late[0] == '\0', "%s", late);
}

void messages_are_complete(struct fixture *fixture, const char *relation) {
  find_events(fixture);
  const char *missing =
      ask(fixture->at_source,
          "select string_agg(change_id::text, ' ') from (select change_id from rowrelay.history where relation = "
          "'%s'::regclass except select id from event limit 20) as m",
          relation);
  cr_assert(missing[0] == '\0', "changes %s have not arrived", missing);
  are_in_order(fixture);
}

void messages_are_complete_from_somewhere(struct fixture *fixture, const char *relation) {
  find_events(fixture);
  const char *missing = ask(
      fixture->at_source,
      "select string_agg(change_id::text, ' ') from (select h.change_id from rowrelay.history as h where relation = "
      "'%s'::regclass and not exists (select from event as e where e.id = h.change_id) and exists (select from "
      "event as e join rowrelay.history as o on o.change_id = e.id where o.key = h.key and e.id < h.change_id) "
      "order by 1 limit 20) as m",
      relation);
  cr_assert(missing[0] == '\0', "changes %s have not arrived, and older ones of the same rows have", missing);
  are_in_order(fixture);
}

int64_t messages_repeated(struct fixture *fixture) {
  return ask_number(fixture->at_source, "select count(*) - count(distinct id) from event");
}
