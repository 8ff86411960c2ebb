/* Encodings: databases in which letters are other bytes than in UTF-8, or in which nobody knows what bytes mean. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "receiver.h"

/* Recreates one of the fixture's databases with this encoding, and connects to it. */
static void make_anew(const struct fixture *f, const char *server, const char *conninfo, PGconn **connection,
                      const char *encoding) {
  PGconn *postgres = connect_to(server, "dbname=postgres");
  PQfinish(*connection);
  sql(postgres, "drop database %s with (force)", f->name);
  sql(postgres, "create database %s encoding '%s' locale 'C' template template0", f->name, encoding);
  PQfinish(postgres);
  *connection = connect_to(conninfo, NULL);
}

static void begin(struct fixture *f, const char *name, const char *source_encoding, const char *target_encoding) {
  fixture_begin(f, name);
  make_anew(f, f->target, f->target, &f->at_target, target_encoding);
  make_anew(f, f->source, f->source, &f->at_source, source_encoding);
  rowrelay_ok(f, "init", NULL);
  sql(f->at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(f, "capture", "item", "--to", "w", "--create", NULL);
}

/* Bytes of which one client thought that they are LATIN1, and another that they are UTF-8. */
Test(encoding, without_one_a_row_that_the_target_cannot_read_is_refused_alone) {
  struct fixture f;
  const char *errors;
  begin(&f, "encoding_none", "SQL_ASCII", "UTF8");
  sql(f.at_source, "insert into item values (1, E'caf\\xe9'), (2, E'caf\\xc3\\xa9'), (3, 'tea')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, ' ', name), ', ' order by id) from item"),
                   "2 caf\xc3\xa9, 3 tea");
  cr_expect_str_eq(ask(f.at_source, "select concat(key, ' ', sqlstate) from rowrelay.errors"), "1 22021");
  /* A person finds out what it was meant to be. */
  sql(f.at_source, "update item set name = E'caf\\xc3\\xa9' where id = 1");
  rowrelay(&f, NULL, &errors, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select name from item where id = 1"), "caf\xc3\xa9", "%s", errors);
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

Test(encoding, bytes_arrive_as_they_are_where_both_have_none) {
  struct fixture f;
  begin(&f, "encoding_neither", "SQL_ASCII", "SQL_ASCII");
  sql(f.at_source, "insert into item values (1, E'\\xff\\x80'), (2, E'caf\\xc3\\xa9')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  rowrelay_ok(&f, "verify", "w", NULL);
  fixture_end(&f);
}

/* The same letters are other bytes, and sort in another order. */
static void check_compared(const char *name, const char *source_encoding, const char *target_encoding) {
  struct fixture f;
  const char *said;
  begin(&f, name, source_encoding, target_encoding);
  sql(f.at_source, "create table word (word text primary key, n int)");
  rowrelay_ok(&f, "capture", "word", "--to", "w", "--create", NULL);
  sql(f.at_source, "set client_encoding to 'UTF8'");
  sql(f.at_target, "set client_encoding to 'UTF8'");
  sql(f.at_source, "insert into item values (1, 'Jos\xc3\xa9'), (2, 'tea'), (3, 'Schr\xc3\xb6\xc3\x9f')");
  sql(f.at_source, "insert into word values ('\xd0\x96', 1), ('\xc3\xb6', 2), ('\xe2\x94\x80', 3), ('a', 4)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_target, "select name from item where id = 1"), "Jos\xc3\xa9");
  cr_expect(rowrelay(&f, &said, NULL, "verify", "w", NULL) == 0, "%s", said);
  sql(f.at_target, "update item set name = 'Jose' where id = 1; delete from word where n = 1");
  cr_expect(rowrelay(&f, &said, NULL, "verify", "w", NULL) == 3);
  cr_expect(strstr(said, "item: different 1 in name") != NULL, "%s", said);
  cr_expect(strstr(said, "word: missing \xd0\x96") != NULL, "%s", said);
  cr_expect(strstr(said, "0 missing, 0 extra, 1 different") != NULL, "%s", said);
  cr_expect(strstr(said, "1 missing, 0 extra, 0 different") != NULL, "%s", said);
  fixture_end(&f);
}

Test(encoding, rows_are_the_same_when_their_letters_are) {
  check_compared("encoding_target", "UTF8", "EUC_JIS_2004");
  check_compared("encoding_source", "EUC_JIS_2004", "UTF8");
}

/* ---- what a target says ---------------------------------------------------------------------------------------------
 */

/* A server without an encoding writes its messages as its settings have it, and repeats values as they came. */
Test(encoding, a_target_that_speaks_in_unknown_letters_is_understood) {
  struct fixture f;
  begin(&f, "encoding_words", "UTF8", "SQL_ASCII");
  sql(f.at_target, "create table item (id int primary key, name text); create function complain() returns trigger "
                   "language plpgsql as $$ begin raise exception E'caf\\xe9 ist gro\\xdf'; end $$;"
                   "create trigger complain before insert on item for each row when (new.id = 1) "
                   "execute function complain()");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(ask(f.at_source, "select concat(key, ' ', message) from rowrelay.errors"), "1 caf? ist gro?");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(name, ' ') from item"), "b");
  fixture_end(&f);
}

Test(encoding, a_receivers_words_are_noted_by_a_source_that_lacks_their_letters) {
  struct fixture f;
  begin(&f, "encoding_answer", "LATIN1", "UTF8");
  struct receiver *receiver = receiver_begin();
  receiver_answer(receiver, NULL, 0, (struct answer){.status = 422, .body = "can\xe2\x80\x99t"});
  rowrelay_ok(&f, "target", "add", "h", receiver_url(receiver, "/"), "--option", "retries=0", NULL);
  rowrelay_ok(&f, "route", "item", "h", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", "--target", "h", NULL);
  cr_expect(strstr(ask(f.at_source, "select concat(message, detail) from rowrelay.errors"), "can?t") != NULL);
  receiver_end(receiver);
  fixture_end(&f);
}

/* There the small letter of I is another one than i. */
Test(encoding, in_turkish_an_insert_is_an_insert) {
  struct fixture f;
  fixture_begin(&f, "turkish");
  if (ask_number(f.at_source, "select current_setting('server_version_num')") < 150000) {
    fixture_end(&f);
    cr_skip_test("before PostgreSQL 15 this would take a locale of the operating system");
  }
  make_anew(&f, f.source, f.source, &f.at_source, "UTF8' locale_provider icu icu_locale 'tr");
  cr_assert_str_neq(ask(f.at_source, "select lower('I')"), "i");
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  sql(f.at_source, "create table item (id int primary key); create table filtered (id int primary key);"
                   "create table listed (id int primary key); create table by_statement (id int primary key)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "filtered", "--where", "id > 0", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "listed", "--key", "", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "by_statement", "--per", "statement", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1), (2); insert into filtered values (1); insert into listed values (1);"
                   "insert into by_statement values (0); insert into by_statement select generate_series(1, 3000)");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(distinct op::text, ',') from rowrelay.change"), "i");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "id");
  same_rows(&f, "by_statement", "by_statement", "id");
  fixture_end(&f);
}
