/* What the schema knows of a new kind of target comes from the tables of the program alone. */
#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"
#include "targets/catalogue.h"

static const struct target_option TOY_TABLE[] = {
    {.name = "speed", .help = "how fast it goes", .number = "a number of steps", .least = 2, .most = 9, .initial = "5"},
    {.name = "key", .help = "what winds it up", .pattern = "^'\\d$", .words = "a quote and a digit", .secret = true},
    TARGET_OPTION_END,
};
static const struct target_option *const TOY_OPTIONS[] = {TOY_TABLE, NULL};
static const struct target_url TOY_URLS[] = {{"toy", "toy:SHELF", "a toy"}, {NULL, NULL, NULL}};
static const struct target_url_rule TOY_RULES[] = {
    {.pattern = "^toy:.", .problem = "names no shelf", .hint = "Write SCHEME:SHELF."}, {.pattern = NULL}};
static const struct target_kind TOY = {.name = "toy",
                                       .urls = TOY_URLS,
                                       .url_rules = TOY_RULES,
                                       .options = TOY_OPTIONS,
                                       .is_path = true,
                                       .keeps_state = true};

/* Adds target kind "toy" to the schema. */
static void install_toy(struct fixture *f) {
  static const struct target_kind *kinds[32];
  size_t count = 0;
  while (TARGET_KINDS[count] != NULL) {
    kinds[count] = TARGET_KINDS[count];
    count++;
  }
  kinds[count] = &TOY;
  struct buffer text;
  buffer_init(&text, 1024 * 1024);
  catalogue_add_sql_kinds(&text, kinds);
  catalogue_add_sql_options(&text, kinds);
  sql(f->at_source, "%s", text.data);
  buffer_release(&text);
}

#define REFUSES(message, ...)                                                                                          \
  do {                                                                                                                 \
    const char *errors;                                                                                                \
    cr_expect_eq(rowrelay(&f, NULL, &errors, "target", "add", "t", __VA_ARGS__, NULL), 2);                             \
    cr_expect_not_null(strstr(errors, message), "%s", errors);                                                         \
  } while (0)

Test(target, a_new_kind_is_checked_hinted_and_defaulted_by_what_its_file_says) {
  struct fixture f;
  fixture_begin(&f, "target_toy");
  REFUSES("is not supported", "toy:a");
  install_toy(&f);
  REFUSES("ndjson+https:, kafka:, redis:, rediss:, nats:, nats+tls:, amqp:, amqps:, file:, stdout: or toy:;",
          "nothing:a");
  REFUSES("hint: Write toy:SHELF.", "toy:");
  REFUSES("speed must be a number of steps from 2 to 9, not \"1\"", "toy:a", "-o", "speed=1");
  REFUSES("not \"...\"", "toy:a", "-o", "key=geheim");
  REFUSES("option \"mode\" does not exist for this kind of target", "toy:a", "-o", "mode=append");
  REFUSES("hint: Options are batch_bytes, batch_rows, claim, guarantee, key, lanes, lease, on_error, push_timeout, "
          "retries and speed.",
          "toy:a", "-o", "weight=1");
  REFUSES("option \"speed\" does not exist for this kind of target", "stdout:", "-o", "speed=3");
  rowrelay_ok(&f, "target", "add", "t", "toy:a", "-o", "speed=3", "-o", "key='7", NULL);
  cr_expect_str_eq(ask(f.at_source, "select lanes from rowrelay.target where name = 't'"), "64");
  cr_expect_str_eq(ask(f.at_source, "select rowrelay.keeps_state(t) from rowrelay.target t where t.name = 't'"), "t");
  cr_expect_str_eq(ask(f.at_source, "select k.defaults ->> 'speed' from rowrelay.target_kind('toy:a') as k"), "5");
  fixture_end(&f);
}

Test(target, the_source_as_its_own_target_has_no_options_of_a_claim) {
  struct fixture f;
  fixture_begin(&f, "target_itself_options");
  REFUSES("option \"claim\" does not exist for this kind of target", "postgresql:", "-o", "claim=lease");
  REFUSES("hint: Options are batch_bytes, batch_rows, lanes, mode, on_error, push_timeout and retries.",
          "postgresql:", "-o", "lease=9");
  fixture_end(&f);
}

Test(target, a_search_engine_on_a_host_with_a_capital_letter_is_none_of_its_indexes) {
  struct fixture f;
  fixture_begin(&f, "target_capital");
  rowrelay_ok(&f, "target", "add", "h", "elasticsearch+https://Host:9200", NULL);
  rowrelay_ok(&f, "target", "add", "v", "elasticsearch+https://Host:9200/${INDEX}", NULL);
  REFUSES("names an index with a capital letter", "elasticsearch+https://host:9200/a/Index");
  REFUSES("has parameters, which the URL of a search engine cannot have", "elasticsearch+https://host:9200/a?b=c");
  REFUSES("names no table", "clickhouse+http://host:8123/");
  REFUSES("hint: Write clickhouse+http://HOST:8123/DATABASE.TABLE.", "clickhouse+http://host:8123");
  fixture_end(&f);
}
