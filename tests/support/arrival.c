#include "arrival.h"

#include <criterion/criterion.h>
#include <string.h>

void arrival_is_in_order(struct fixture *fixture, const char *table) {
  PGconn *target = fixture->at_target;
  cr_assert(ask_number(target, "select count(*) from %s", table) > 0);
  const char *overtaken =
      ask(target,
          "select format('key %%s: change %%s arrived after %%s', key, change_id, before) from ("
          "select key, change_id, lag(change_id) over (partition by key order by position) as before "
          "from %s where key is not null) as a where before > change_id limit 1",
          table);
  cr_assert(overtaken[0] == '\0', "%s: %s", table, overtaken);
}

void arrival_is_complete(struct fixture *fixture, const char *relation, const char *table) {
  sql(fixture->at_source, "set timezone to 'UTC'");
  sql(fixture->at_target, "set timezone to 'UTC'");
  static const char DIGEST[] =
      "select concat(count(*), ' changes ', md5(string_agg(concat_ws(' | ', change_id, op, key, "
      "old_row, new_row, captured_at, txid, actor), E'\\n' order by change_id))) from %s where %s";
  char condition[256];
  snprintf(condition, sizeof condition, "relation = '%s'::regclass", relation);
  const char *captured = ask(fixture->at_source, DIGEST, "rowrelay.history", condition);
  const char *arrived = ask(fixture->at_target, DIGEST, table, "true");
  if (strcmp(captured, arrived) != 0) {
    int64_t more = ask_number(fixture->at_target, "select count(*) - count(distinct change_id) from %s", table);
    cr_assert(false, "captured of %s: %s; arrived: %s, %lld of them more than once", relation, captured, arrived,
              (long long)more);
  }
  const char *twice =
      ask(fixture->at_source, "select format('change %%s is in %%s receipts of target %%s', id, count(*), target) "
                              "from (select target, unnest(change_ids) as id from rowrelay.receipt) as r "
                              "group by target, id having count(*) > 1 limit 1");
  cr_assert(twice[0] == '\0', "%s", twice);
}
