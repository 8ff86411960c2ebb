/* verify compares documents with what their queries give. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "mirrored.h"
#include "verified.h"

static const char SHOP[] = "create table customer (id int primary key, name text);"
                           "create table orders (id bigint primary key, customer_id int, status text);"
                           "create index on orders (customer_id);"
                           "create table line (id int primary key, order_id bigint, item text);"
                           "create index on line (order_id);"
                           "insert into customer select n, 'c' || n from generate_series(1, 50) as n;"
                           "insert into orders select n, 1 + n % 50, 'new' from generate_series(1, 3000) as n;"
                           "insert into line select n, 1 + n % 2500, 'i' || n from generate_series(1, 6000) as n";

#define DOCUMENT_QUERY                                                                                                 \
  "select o.id, o.status, c.name as customer, (select string_agg(l.item, '','' order by l.id) from line l where "      \
  "l.order_id = o.id) as items from orders o left join customer c on c.id = o.customer_id where o.id = any ($1)"
#define JSON_QUERY                                                                                                     \
  "select json_build_object(''id'', o.id, ''lines'', (select json_agg(l.item order by l.id) from line l where "        \
  "l.order_id = o.id)) from orders o where o.id = any ($1)"

static void begin_documents(struct fixture *f, const char *name) {
  mirrored_begin(f, name, SHOP);
  sql(f->at_source,
      "select rowrelay.add_document('doc', 'w', 'id', '%s', array['orders:id', 'line:order_id', "
      "'customer:select o.id from orders o join changed c on c.id = o.customer_id'], create_table => true, search => "
      "'{customer,items}')",
      DOCUMENT_QUERY);
  sql(f->at_source,
      "select rowrelay.add_document('json', 'w', 'id', '%s', array['orders:id', 'line:order_id'], create_table => "
      "true)",
      JSON_QUERY);
  sql(f->at_source, "select rowrelay.rebuild('doc'), rowrelay.rebuild('json')");
  mirrored_deliver(f);
}

Test(verify, documents_are_compared_with_what_their_queries_give) {
  struct fixture f;
  begin_documents(&f, "verify_documents");
  verified_equal(&f);
  cr_assert(strstr(verified_said, "doc: 3,000 rows") != NULL && strstr(verified_said, "json: 3,000 rows") != NULL, "%s",
            verified_said);
  sql(f.at_target, "update doc set customer = 'x', items = null where id = 17; delete from doc where id in (1, 3000);"
                   "insert into doc (id) values (0), (3001); update json set document = '{}' where id = 5");
  VERIFIED_FINDS(&f, "doc: different 17 in customer, items\n", "doc: missing 1\n", "doc: missing 3000\n",
                 "doc: extra 0\n", "doc: extra 3001\n", "2 missing, 2 extra, 1 different",
                 "json: different 5 in document\n");
  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--document", "json", NULL) == 3);
  cr_assert(strstr(verified_said, "doc:") == NULL && strstr(verified_said, "json: different 5") != NULL, "%s",
            verified_said);
  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--document", "none", NULL) == 2);
  verified_repaired(&f);
  /* as long as a change waits nobody knows */
  sql(f.at_source, "update customer set name = 'y' where id = 7");
  cr_assert(
      rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--document", "doc", "--wait", "1", NULL) == 1);
  cr_assert(strstr(verified_complained, "60 rows of doc could not be compared") != NULL, "%s", verified_complained);
  mirrored_deliver(&f);
  verified_equal(&f);
  fixture_end(&f);
}

Test(verify, no_document_is_found_different_under_load_but_the_one_that_is) {
  struct fixture f;
  begin_documents(&f, "verify_documents_live");
  PGconn *writers[] = {connect_to(f.source, NULL), connect_to(f.source, NULL)};
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_target, "update doc set items = 'x' where id = 2999");
  for (int i = 0; i < 2; i++) {
    /* each commits by itself what it does */
    sql(writers[i],
        "create procedure work%d(seconds float) language plpgsql as $$ declare until timestamptz := clock_timestamp() "
        "+ "
        "make_interval(secs => seconds); n int := 0; begin while clock_timestamp() < until loop n := n + 1; "
        "update orders set status = 's' || n where id = 1 + (random() * 2000)::int; commit; "
        "update line set order_id = 1 + (random() * 2000)::int where id = 1 + (random() * 4000)::int; commit; "
        "if n %% 20 = 0 then update customer set name = 'n' || n where id = 1 + (random() * 40)::int; commit; end if; "
        "perform pg_sleep(0.01); end loop; end $$",
        i);
    start(writers[i], "call work%d(6)", i);
  }
  while (is_running(writers[0]) && is_running(writers[1])) {
    int status = rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--document", "doc", NULL);
    cr_assert(status == 3, "exit status %d\n%s%s", status, verified_said, verified_complained);
    cr_assert(strstr(verified_said, "different 2999 in items\n") != NULL &&
                  strstr(verified_said, "0 missing, 0 extra, 1 different") != NULL,
              "%s", verified_said);
  }
  finish(writers[0]);
  finish(writers[1]);
  cr_assert(rowrelay(&f, &verified_said, &verified_complained, "verify", "w", "--document", "doc", "--repair", NULL) ==
            3);
  wait_until_empty(&f, 20);
  verified_equal(&f);
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(writers[0]);
  PQfinish(writers[1]);
  fixture_end(&f);
}
