/* Redacting: values are gone from all of the log, on the record, and nothing else is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "past.h"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create schema shop; create table shop.person (id int primary key, email text, phone text,"
                    " score numeric, extra json); create table shop.note (what text)");
  rowrelay_ok(f, "capture", "shop.person", "--before", NULL);
  sql(f->at_source,
      "insert into shop.person values (1, 'ann@secret.example', '555-0101', 1.500, '{\"a\": \"\\u00e4 x\", \"n\":  "
      "1.10}'),"
      "                               (2, 'bob@secret.example', '555-0102', 2.000, 'null');"
      "update shop.person set score = score + 1; update shop.person set email = 'ann@other.example' where id = 1;"
      "delete from shop.person where id = 2");
}

/* In how many changes, redactions and seals a text stands. */
static int64_t mentions(struct fixture *f, const char *text) {
  return ask_number(f->at_source,
                    "select (select count(*) from rowrelay.change c where position('%s' in c::text) > 0)"
                    " + (select count(*) from rowrelay.redaction r where position('%s' in r::text) > 0)",
                    text, text);
}

static void seal(struct fixture *f) {
  past_move(f->at_source, 9);
  past_close(f->at_source);
  sql(f->at_source, "select rowrelay.seal_days(); select rowrelay.seal_next(1000000, 3)");
  cr_assert(ask_number(f->at_source, "select sum(changes) from rowrelay.seal") > 0);
}

static int64_t problems(struct fixture *f) {
  return ask_number(f->at_source, "select count(*) from rowrelay.verify_log()");
}

Test(redact, values_are_gone_from_every_image_and_others_keep_their_text) {
  struct fixture f;
  begin(&f, "redact_gone");
  cr_assert(mentions(&f, "ann@") == 3);
  const char *output = rowrelay_ok(&f, "redact", "shop.person", "1", "email", "phone", NULL);
  cr_expect_str_eq(output, "3 changes redacted\n");
  cr_expect(mentions(&f, "ann@") == 0 && mentions(&f, "555-0101") == 0);
  cr_expect(mentions(&f, "bob@secret.example") == 3, "other rows keep theirs");
  cr_expect_str_eq(
      ask(f.at_source, "select new_row from rowrelay.change where key = '1' order by id limit 1"),
      "{\"id\":1,\"email\":null,\"phone\":null,\"score\":1.500,\"extra\":{\"a\": \"\\u00e4 x\", \"n\":  1.10}}");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change where key = '1'"
                                    " and caveat ->> 'redacted' = '[\"email\", \"phone\"]'") == 3);
  cr_expect_str_eq(rowrelay_ok(&f, "redact", "shop.person", "1", "email", NULL), "0 changes redacted\n");
  /* other caveats stay */
  rowrelay_ok(&f, "redact", "shop.person", "2", "email", NULL);
  cr_expect(ask_number(f.at_source,
                       "select count(*) from rowrelay.change where key = '2'"
                       " and caveat ->> 'text_columns' = '[\"extra\"]' and caveat ->> 'redacted' = '[\"email\"]'") ==
            3);
  fixture_end(&f);
}

Test(redact, it_is_recorded_who_did_it_when_why_and_to_which_changes) {
  struct fixture f;
  begin(&f, "redact_record");
  rowrelay_ok(&f, "redact", "shop.person", "1", "email", "--reason", "request 17", NULL);
  cr_expect_str_eq(ask(f.at_source,
                       "select concat_ws('|', redacted_by = session_user, reason, relation_name, keys, columns,"
                       " change_ids = (select array_agg(id order by id) from rowrelay.change where key = '1'),"
                       " now() - redacted_at < '1 min') from rowrelay.redaction"),
                   "t|request 17|shop.person|{1}|{email}|t|t");
  fixture_end(&f);
}

Test(redact, a_sealed_log_stays_right_and_anything_else_is_found) {
  struct fixture f;
  begin(&f, "redact_sealed");
  rowrelay_ok(&f, "redact", "shop.person", "1", "phone", NULL);
  seal(&f);
  cr_assert(problems(&f) == 0, "redacted before it was sealed");
  rowrelay_ok(&f, "redact", "shop.person", "1", "email", NULL);
  cr_expect(problems(&f) == 0);
  rowrelay_ok(&f, "redact", "shop.person", "1", "score", NULL);
  cr_expect(problems(&f) == 0);
  cr_expect(strstr(rowrelay_ok(&f, "verify-log", NULL), "3 redactions; 0 problems") != NULL);
  static const char *const attacks[] = {
      "update rowrelay.change set new_row = '{\"id\":1}' where key = '1' and op = 'i'",
      "update rowrelay.change set caveat = null where key = '1'",
      "update rowrelay.redaction set reason = 'another' where id = 2",
      "update rowrelay.redaction set columns = '{email,score}' where id = 2",
      "delete from rowrelay.redaction where id = 2",
      /* made up, to cover a change of one's own */
      "insert into rowrelay.redaction overriding system value select 99, now(), 'me', null, relation, relation_name, "
      "'{2}', '{email}',"
      " '{2}', array[substr(s.hashes, 33, 32)], array[sha256('')] from rowrelay.redaction r, rowrelay.seal s where "
      "r.id = 1 and s.position = 2",
  };
  for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
    sql(f.at_source, "begin; %s", attacks[i]);
    cr_expect(problems(&f) > 0, "not found: %s", attacks[i]);
    sql(f.at_source, "rollback");
  }
  /* what was altered by hand is not made good by a redaction */
  sql(f.at_source, "update rowrelay.change set actor = 'nobody' where key = '2' and op = 'u'");
  rowrelay_ok(&f, "redact", "shop.person", "2", "email", NULL);
  cr_expect_str_eq(ask(f.at_source, "select string_agg(problem || ' ' || key, ',') from rowrelay.verify_log()"),
                   "changed 2");
  fixture_end(&f);
}

Test(redact, the_hash_before_does_not_help_to_guess_what_it_was) {
  struct fixture f;
  begin(&f, "redact_salt");
  sql(f.at_source, "create table kept as select * from rowrelay.change; alter table kept add old_salt bytea");
  seal(&f);
  sql(f.at_source,
      "update kept k set day = h.day, captured_at = h.captured_at, old_salt = sha256(s.secret || int8send(k.id))"
      " from rowrelay.change h join rowrelay.seal s on s.day = h.day and h.id between s.first_id and s.last_id where "
      "h.id = k.id");
  /* a guess that is right, with any salt that can be found */
  static const char GUESS[] =
      "select count(*) from rowrelay.redaction r, unnest(r.change_ids, r.hashes_before) as b(id, hash),"
      " (select k.id, rowrelay.change_hash(row(k.id, k.txid, k.captured_at, k.day, k.capture, k.op, k.key, k.actor, "
      "k.db_user,"
      "         k.application_name, k.client_addr, k.old_row, k.new_row, k.caveat)::rowrelay.change, %s) as hash"
      "    from kept k left join rowrelay.seal s on s.day = k.day and k.id between s.first_id and s.last_id) as g"
      " where g.id = b.id and g.hash = b.hash";
  rowrelay_ok(&f, "redact", "shop.person", "1", "email", NULL);
  cr_expect(ask_number(f.at_source, GUESS, "k.old_salt") == 3, "the test's own arithmetic");
  cr_expect(ask_number(f.at_source, GUESS,
                       "coalesce(sha256(s.secret || int8send(k.id)), substr(s.salts,"
                       " 32 * array_position(s.ids, k.id) - 31, 32))") == 0);
  cr_expect(ask_number(f.at_source,
                       "select count(*) from rowrelay.seal s join kept k on k.key = '1' and k.id = any (s.ids)"
                       " where s.secret is not null or position(k.old_salt in s.salts) > 0") == 0);
  fixture_end(&f);
}

Test(redact, what_cannot_be_is_refused_and_nothing_is_changed) {
  struct fixture f;
  const char *errors;
  begin(&f, "redact_refused");
  rowrelay_ok(&f, "capture", "shop.note", NULL);
  static const struct {
    const char *table, *key, *column;
    int status;
    const char *says;
  } wrong[] = {{"shop.person", "1", "id", 2, "is part of the key"},
               {"shop.person", "1", "emial", 2, "column \"emial\""},
               {"shop.person", "3", "email", 1, "the log has no change of key \"3\""},
               {"shop.nothing", "1", "email", 2, "was never captured"},
               {"shop.note", "1", "what", 1, "the log has no change of key"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    cr_expect(rowrelay(&f, NULL, &errors, "redact", wrong[i].table, wrong[i].key, wrong[i].column, NULL) ==
                  wrong[i].status,
              "%s", errors);
    cr_expect(strstr(errors, wrong[i].says) != NULL, "%s", errors);
  }
  cr_expect(mentions(&f, "ann@") == 3);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.redaction") == 0);
  fixture_end(&f);
}

Test(redact, it_waits_for_a_person_while_a_change_is_not_delivered_or_was_refused) {
  struct fixture f;
  const char *errors;
  begin(&f, "redact_queued");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  sql(f.at_target,
      "create schema shop; create table shop.person (id int primary key, email text check (email <> 'bad'), phone text,"
      " score numeric, extra json)");
  rowrelay_ok(&f, "route", "shop.person", "w", NULL);
  sql(f.at_source, "update shop.person set email = 'bad' where id = 1");
  cr_expect(rowrelay(&f, NULL, &errors, "redact", "shop.person", "1", "email", NULL) == 2);
  cr_expect(strstr(errors, "not delivered yet to target \"w\"") != NULL, "%s", errors);
  rowrelay_ok(&f, "redact", "shop.person", "2", "email", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect(rowrelay(&f, NULL, &errors, "redact", "shop.person", "1", "email", NULL) == 2);
  cr_expect(strstr(errors, "refused by target \"w\"") != NULL, "%s", errors);
  cr_expect(mentions(&f, "ann@") > 0);
  rowrelay_ok(&f, "skip", "--all", NULL);
  rowrelay_ok(&f, "redact", "shop.person", "1", "email", NULL);
  cr_expect(mentions(&f, "ann@") == 0 && mentions(&f, "bad") == 0);
  fixture_end(&f);
}

Test(redact, old_keys_and_earlier_captures_of_the_table_are_covered) {
  struct fixture f;
  begin(&f, "redact_keys");
  sql(f.at_source, "update shop.person set id = 10 where id = 1; update shop.person set id = 11 where id = 10");
  rowrelay_ok(&f, "release", "shop.person", NULL);
  rowrelay_ok(&f, "capture", "shop.person", NULL);
  sql(f.at_source, "update shop.person set score = 7 where id = 11");
  rowrelay_ok(&f, "redact", "shop.person", "11", "email", NULL);
  cr_expect(mentions(&f, "ann@") > 0, "under the keys before");
  rowrelay_ok(&f, "redact", "shop.person", "11", "email", "--old-keys", NULL);
  cr_expect(mentions(&f, "ann@") == 0);
  cr_expect_str_eq(ask(f.at_source, "select keys from rowrelay.redaction order by id desc limit 1"), "{11,10,1}");
  cr_expect(mentions(&f, "bob@secret.example") == 3);
  /* and of a table that is gone */
  sql(f.at_source, "drop table shop.person");
  rowrelay_ok(&f, "redact", "shop.person", "2", "email", NULL);
  cr_expect(mentions(&f, "bob@secret.example") == 0);
  fixture_end(&f);
}

Test(redact, a_null_that_was_redacted_is_not_taken_for_what_the_row_was) {
  struct fixture f;
  begin(&f, "redact_undo");
  const char *change = ask(f.at_source, "select max(id) from rowrelay.change where key = '2'");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.undo('shop.person', '2', %s)", change) == 1);
  rowrelay_ok(&f, "redact", "shop.person", "2", "phone", NULL);
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.undo('shop.person', '2', %s)", change), "55000");
  fixture_end(&f);
}

Test(redact, the_log_says_which_values_of_a_change_were_redacted) {
  struct fixture f;
  begin(&f, "redact_log");
  cr_expect_null(strstr(rowrelay_ok(&f, "log", "shop.person", "1", NULL), "edacted"));
  rowrelay_ok(&f, "redact", "shop.person", "1", "email", "phone", NULL);
  const char *entries = rowrelay_ok(&f, "log", "shop.person", "1", "-n", "1", NULL);
  cr_expect(strstr(entries, "\nRedacted:    email, phone (removed from the log and shown as null)\n") != NULL, "%s",
            entries);
  entries = rowrelay_ok(&f, "log", "shop.person", "1", "--oneline", "-n", "1", NULL);
  cr_expect(strstr(entries, " (redacted: email, phone)") != NULL, "%s", entries);
  cr_expect_null(strstr(rowrelay_ok(&f, "log", "shop.person", "2", NULL), "edacted"), "other rows are whole");
  fixture_end(&f);
}

/* By whatever way a row is written, and whatever was altered meanwhile. */
Test(redact, what_is_masked_or_left_out_never_gets_into_the_log) {
  struct fixture f;
  fixture_begin(&f, "redact_masked");
  sql(f.at_source, "create table person (id int primary key, email text, card text, note text)");
  rowrelay_ok(&f, "capture", "person", "--before", "--mask", "email=\"hidden\"", "--exclude", "card", NULL);
  static const char ROW[] = "'top@secret', 'secret 4111', 'plain'";
  sql(f.at_source,
      "insert into person values (1, %s); update person set note = 'b'; update person set id = 2;"
      "insert into person values (2, %s) on conflict (id) do update set note = 'c'; delete from person",
      ROW, ROW);
  sql(f.at_source,
      "begin; alter table person rename email to mail; alter table person rename card to pan;"
      "insert into person values (3, %s); update person set note = 'd'; commit;"
      "insert into person values (4, %s)",
      ROW, ROW);
  sql(f.at_source, "alter table person alter mail type varchar(90); update person set note = 'e'; truncate person");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change") > 10);
  cr_expect(mentions(&f, "secret") == 0);
  cr_expect(mentions(&f, "hidden") > 5 && mentions(&f, "plain") > 0);
  fixture_end(&f);
}
