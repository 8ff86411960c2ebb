#include "nasty.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "writers.h"

#define TABLES 3
#define FUNCTIONS 2

enum kind { KEYED, PAIR, UNIQUE, KEYLESS, RANGES, HASHES, PARENT, KINDS };

struct author {
  struct story *story;
  struct dice dice;
  int version;
  enum kind kinds[TABLES + 1];
};

static bool chance(struct author *author, int percent) {
  return roll(&author->dice, 100) <= percent;
}

static const char *one_of(struct author *author, const char *const *words, int count) {
  return words[roll(&author->dice, count) - 1];
}
#define ONE_OF(author, ...)                                                                                            \
  one_of(author, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void add(struct author *author, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct author *author, const char *format, ...) {
  va_list values;
  cr_assert(author->story->count < NASTY_MOST, "the story is too long");
  va_start(values, format);
  int length = vsnprintf(author->story->statements[author->story->count], NASTY_LENGTH, format, values);
  va_end(values);
  cr_assert(length > 0 && length < NASTY_LENGTH, "the statement is too long");
  author->story->count++;
}

static int some_table(struct author *author) {
  return roll(&author->dice, TABLES);
}
static int some_id(struct author *author) {
  return roll(&author->dice, 6);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void add_parts(struct author *author, int t, bool by_range) {
  if (by_range) {
    add(author, "create table nasty.t%d_low partition of nasty.t%d for values from (minvalue) to (4)", t, t);
    /* the same columns in another order */
    add(author, "create table nasty.t%d_high (s text, n int, gone int, g int not null, id int not null)", t);
    add(author, "alter table nasty.t%d_high drop column gone", t);
    add(author, "alter table nasty.t%d attach partition nasty.t%d_high for values from (4) to (maxvalue)", t, t);
  } else {
    add(author, "create table nasty.t%d_even partition of nasty.t%d for values with (modulus 2, remainder 0)", t, t);
    add(author, "create table nasty.t%d_odd partition of nasty.t%d for values with (modulus 2, remainder 1)", t, t);
  }
}

static void add_table(struct author *author, int t) {
  static const char *const COLUMNS = "id int not null, g int not null, n int default 0, s text default 'x'";
  enum kind kind = (enum kind)(roll(&author->dice, KINDS) - 1);
  author->kinds[t] = kind;
  switch (kind) {
  case KEYED:
    add(author, "create table nasty.t%d (%s, primary key (id))", t, COLUMNS);
    break;
  case PAIR:
    add(author, "create table nasty.t%d (%s, primary key (g, id))", t, COLUMNS);
    break;
  case UNIQUE:
    add(author, "create table nasty.t%d (%s, unique (id))", t, COLUMNS);
    break;
  case KEYLESS:
    add(author, "create table nasty.t%d (%s)", t, COLUMNS);
    break;
  case RANGES:
    add(author, "create table nasty.t%d (%s%s) partition by range (id)", t, COLUMNS,
        chance(author, 70) ? ", primary key (id)" : "");
    add_parts(author, t, true);
    break;
  case HASHES:
    add(author, "create table nasty.t%d (%s%s) partition by hash (g)", t, COLUMNS,
        chance(author, 70) ? ", primary key (id, g)" : "");
    add_parts(author, t, false);
    break;
  case PARENT:
  default:
    add(author, "create table nasty.t%d (%s%s)", t, COLUMNS, chance(author, 70) ? ", primary key (id)" : "");
    add(author, "create table nasty.t%d_child (own int default 7%s) inherits (nasty.t%d)", t,
        chance(author, 70) ? ", primary key (id)" : "", t);
    break;
  }
  if (chance(author, 30))
    add(author, "alter table nasty.t%d add column r int references nasty.t%d (id) on delete %s on update %s%s", t,
        chance(author, 30) ? t : some_table(author), ONE_OF(author, "cascade", "set null", "no action"),
        ONE_OF(author, "cascade", "set null", "no action"), ONE_OF(author, "", "", " deferrable initially deferred"));
}

static void add_capture(struct author *author, int t) {
  add(author, "select rowrelay.capture_table('nasty.t%d'%s%s%s)", t,
      chance(author, 30) ? ONE_OF(author, ", row_filter => 'n > 1'", ", row_filter => 'id <> 3 and s <> ''y'''") : "",
      chance(author, 20) ? ", before => 'full'" : "", chance(author, 15) ? ", exclude => '{s}'" : "");
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* A value for column id where `id` stands for the id of a row at hand; "" where there is none. */
static const char *id_near(struct author *author, const char *id, char *text, size_t size) {
  if (id[0] == '\0' || chance(author, 30))
    snprintf(text, size, "%d", some_id(author));
  else
    snprintf(text, size, "%s %s", id, ONE_OF(author, "", "", "+ 1", "- 1"));
  return text;
}

static const char *name_of(struct author *author, int t, char *text, size_t size) {
  const char *part = "";
  if (chance(author, 15) && author->kinds[t] == RANGES)
    part = ONE_OF(author, "_low", "_high");
  else if (chance(author, 15) && author->kinds[t] == HASHES)
    part = ONE_OF(author, "_even", "_odd");
  else if (chance(author, 40) && author->kinds[t] == PARENT)
    part = "_child";
  snprintf(text, size, "nasty.t%d%s", t, part);
  return text;
}

/* An expression that a statement evaluates for each row, and that may write. */
static const char *number(struct author *author, const char *id) {
  static char text[4][64];
  static int next;
  next = (next + 1) % 4;
  if (chance(author, 15))
    snprintf(text[next], sizeof text[next], "nasty.f%d(%s)", roll(&author->dice, FUNCTIONS), id);
  else
    snprintf(text[next], sizeof text[next], "%d", roll(&author->dice, 5));
  return text[next];
}

static void write_insert(struct author *author, const char *table, const char *near, char *text, size_t size) {
  char id[64];
  const char *conflict = ONE_OF(author, "", " on conflict do nothing", " on conflict (id) do update set n = excluded.n",
                                " on conflict (id) do update set n = excluded.n, s = 'y'",
                                " on conflict (g, id) do update set n = excluded.n");
  int g = roll(&author->dice, 2);
  if (chance(author, 50))
    snprintf(text, size, "insert into %s (id, g, n) values (%s, %d, %s)%s", table, id_near(author, near, id, sizeof id),
             g, number(author, "2"), conflict);
  else if (chance(author, 70))
    snprintf(text, size, "insert into %s (id, g, n) select i, %d, %s from generate_series(%d, %d) as i%s", table, g,
             number(author, "i"), roll(&author->dice, 3), 2 + roll(&author->dice, 4), conflict);
  else
    snprintf(text, size, "insert into %s (id, g, n, s) select id, 3 - g, n, s from nasty.t%d%s", table,
             some_table(author), conflict);
}

static void write_update(struct author *author, const char *table, const char *near, char *text, size_t size) {
  char id[64];
  char set[80];
  char where[120];
  switch (roll(&author->dice, 7)) {
  case 1:
    snprintf(set, sizeof set, "id = %s", id_near(author, "id", id, sizeof id));
    break;
  case 2:
    snprintf(set, sizeof set, "g = 3 - g");
    break;
  case 3:
    snprintf(set, sizeof set, "s = '%s'", ONE_OF(author, "x", "y", "z"));
    break;
  case 4:
    snprintf(set, sizeof set, "n = %s", number(author, "id"));
    break;
  default:
    snprintf(set, sizeof set, "n = coalesce(n, 0) + %d", roll(&author->dice, 3) - 2);
    break;
  }
  switch (roll(&author->dice, 4)) {
  case 1:
    where[0] = '\0';
    break;
  case 2:
    snprintf(where, sizeof where, " where n %s %d", ONE_OF(author, "<", ">", "="), roll(&author->dice, 4));
    break;
  default:
    snprintf(where, sizeof where, " where id %s %s", ONE_OF(author, "=", "=", "<>", ">"),
             id_near(author, near, id, sizeof id));
    break;
  }
  snprintf(text, size, "update %s set %s%s", table, set, where);
}

static void write_merge(struct author *author, const char *table, char *text, size_t size) {
  snprintf(text, size,
           "merge into %s as t using (select i, %d as g from generate_series(1, 5) as i) as w on t.id = w.i "
           "when matched and t.n > %d then delete when matched then update set n = coalesce(t.n, 0) + 1 "
           "when not matched then insert (id, g, n) values (w.i, w.g, %s)",
           table, roll(&author->dice, 2), roll(&author->dice, 5), number(author, "w.i"));
}

/* A statement that writes; `near` is an expression for the id of a row at hand, or "". */
static void write_one(struct author *author, const char *near, char *text, size_t size) {
  char table[40];
  char other[40];
  char id[64];
  name_of(author, some_table(author), table, sizeof table);
  int what = roll(&author->dice, 100);
  if (what <= 35) {
    write_insert(author, table, near, text, size);
  } else if (what <= 70) {
    write_update(author, table, near, text, size);
  } else if (what <= 84) {
    snprintf(text, size, "delete from %s where id %s %s%s", table, ONE_OF(author, "=", "=", ">"),
             id_near(author, near, id, sizeof id), chance(author, 10) ? " and nasty.f1(id) > 0" : "");
  } else if (what <= 90 && author->version >= 150000) {
    write_merge(author, table, text, size);
  } else if (what <= 95) {
    name_of(author, some_table(author), other, sizeof other);
    snprintf(text, size, "with a as (%s %s where id < %d returning id, g) insert into %s (id, g) select id, g from a",
             "delete from", table, some_id(author), other);
  } else {
    name_of(author, some_table(author), other, sizeof other);
    snprintf(text, size,
             "with a as (update %s set n = n + 1 where id > %d returning id) update %s set n = n + 2 "
             "where id in (select id from a)",
             table, some_id(author), other);
  }
}

/* The same in a block of PL/pgSQL, where it may fail, or be undone. */
static void write_nested(struct author *author, const char *near, char *text, size_t size) {
  char one[400];
  write_one(author, near, one, sizeof one);
  if (chance(author, 15))
    snprintf(text, size, "begin %s; raise exception 'undone'; exception when others then null; end;", one);
  else
    snprintf(text, size, "begin %s; exception when others then null; end;", one);
}

/* ---- what nests -------------------------------------------------------------------------------------------------- */

static void add_function(struct author *author, int f) {
  char body[500];
  write_nested(author, "$1", body, sizeof body);
  add(author,
      "create or replace function nasty.f%d(int) returns int volatile language plpgsql as $f$ begin "
      "if nasty.may_nest() then %s end if; return $1; end $f$",
      f, body);
}

static void add_trigger(struct author *author, int number_of_it) {
  int t = some_table(author);
  bool before = chance(author, 45);
  bool by_row = chance(author, 80);
  char body[500];
  char more[500] = "";
  write_nested(author, by_row ? "this.id" : "", body, sizeof body);
  if (chance(author, 25))
    write_nested(author, by_row ? "this.id" : "", more, 380);
  const char *change = "";
  if (before && by_row && chance(author, 50))
    change =
        ONE_OF(author, "if tg_op <> 'DELETE' then new.n := new.n + 1; this := new; end if;",
               "if tg_op = 'INSERT' and new.n = 3 then return null; end if;",
               "if tg_op = 'UPDATE' then new.id := old.id; this := new; end if;", "if found then return null; end if;");
  if (strlen(body) + strlen(more) > 560)
    more[0] = '\0';
  add(author,
      "create or replace function nasty.g%d() returns trigger language plpgsql as $f$ declare this %s%d%s; begin %s "
      "if nasty.may_nest() then %s %s end if; %s return %s; end $f$",
      number_of_it, "nasty.t", t, by_row ? "" : "%rowtype",
      by_row ? "if tg_op = 'DELETE' then this.id := old.id; else this.id := new.id; end if;" : "", body, more, change,
      before && by_row ? "case when tg_op = 'DELETE' then old else new end" : "null");
  add(author, "create trigger \"%sg%d\" %s %s on nasty.t%d%s for each %s %s execute function nasty.g%d()",
      ONE_OF(author, "", "", "!!", " "), number_of_it, before ? "before" : "after",
      ONE_OF(author, "insert", "update", "delete", "insert or update", "insert or update or delete"), t,
      author->kinds[t] == PARENT && chance(author, 30) ? "_child" : "", by_row ? "row" : "statement", "", number_of_it);
}

static void add_rule(struct author *author) {
  char one[400];
  int t = some_table(author);
  const char *event = ONE_OF(author, "insert", "update", "delete");
  write_one(author, strcmp(event, "delete") == 0 ? "old.id" : "new.id", one, sizeof one);
  add(author, "create rule also as on %s to nasty.t%d do also %s", event, t, one);
}

/* ---- the story --------------------------------------------------------------------------------------------------- */

static void add_deeds(struct author *author, int count) {
  char one[400];
  bool in_transaction = false;
  for (int i = 0; i < count; i++) {
    if (!in_transaction && chance(author, 25)) {
      add(author, "begin%s", ONE_OF(author, "", "", " isolation level repeatable read"));
      in_transaction = true;
    } else if (in_transaction && chance(author, 30)) {
      add(author, "%s", ONE_OF(author, "commit", "commit", "rollback"));
      in_transaction = false;
    }
    if (in_transaction && chance(author, 25))
      add(author, "%s",
          ONE_OF(author, "savepoint a", "rollback to a", "select from nasty.t1 for update",
                 "select from nasty.t2 where id < 4 for update", "set constraints all immediate"));
    if (chance(author, 4)) {
      add(author, "truncate nasty.t%d%s", some_table(author), ONE_OF(author, "", " cascade"));
      continue;
    }
    write_one(author, "", one, sizeof one);
    add(author, "%s", one);
  }
  if (in_transaction)
    add(author, "commit");
}

void nasty_write(struct story *story, unsigned int seed, int version) {
  struct author author = {.story = story, .dice = {.state = seed * 2654435761u + 1}, .version = version};
  memset(story->left_out, 0, sizeof story->left_out);
  story->count = 0;
  for (int i = 0; i < 5; i++)
    roll(&author.dice, 2);
  for (int t = 1; t <= TABLES; t++)
    add_table(&author, t);
  /* Not for ever: a statement may set off that many others. */
  add(&author, "create function nasty.may_nest() returns bool language plpgsql as $f$ begin "
               "perform set_config('nasty.left', (coalesce(nullif(current_setting('nasty.left', true), ''), '8')::int "
               "- 1)::text, "
               "false); return current_setting('nasty.left')::int >= 0; end $f$");
  for (int f = 1; f <= FUNCTIONS; f++)
    add(&author, "create function nasty.f%d(int) returns int language sql as 'select $1'", f);
  for (int t = 1; t <= TABLES; t++)
    add_capture(&author, t);
  for (int t = 1; t <= TABLES; t++)
    add(&author, "insert into nasty.t%d (id, g, n) select i, 1 + i %% 2, i from generate_series(1, %d) as i", t,
        roll(&author.dice, 6));
  for (int f = 1; f <= FUNCTIONS; f++)
    add_function(&author, f);
  int triggers = 1 + roll(&author.dice, 4);
  for (int g = 1; g <= triggers; g++)
    add_trigger(&author, g);
  if (chance(&author, 15))
    add_rule(&author);
  add_deeds(&author, 6 + roll(&author.dice, 8));
}
