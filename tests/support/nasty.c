#include "nasty.h"

#include <stdio.h>
#include <string.h>

#include "alteration.h"
#include "author.h"

#define FUNCTIONS 2

/* Of 100 stories. */
#define ALTERED 50

static const char *const TYPE_NAMES[] = {"int", "numeric", "float8", "citext", "text collate nasty.folded"};

static int some_id(struct author *author) {
  return roll(&author->dice, 6);
}

/* ---- values of column id ----------------------------------------------------------------------------------------- */

#define SHORT 96
#define LONG 600 /* a statement */

/* An expression for the id of table t that the whole number `number` stands for, in one of its spellings. */
static const char *as_id(struct author *author, int t, const char *number) {
  static char texts[8][SHORT];
  static int next;
  next = (next + 1) % 8;
  const char *spelling = "%s";
  switch (author->types[t]) {
  case NUMERIC:
    spelling = ONE_OF(author, "%s", "(%s) * 1.0", "(%s) * 1.00");
    break;
  case FLOAT:
    spelling = ONE_OF(author, "%s", "%s", "(%s) * '0'::float8", "(%s) * '-0'::float8");
    break;
  case CITEXT:
  case FOLDED:
    spelling = ONE_OF(author, "chr(64 + (%s)::int)", "chr(96 + (%s)::int)");
    break;
  default:
    break;
  }
  const char *place = strstr(spelling, "%s");
  snprintf(texts[next], SHORT, "%.*s%s%s", (int)(place - spelling), spelling, number, place + 2);
  return texts[next];
}

/* The whole number that `id`, an expression for an id of table t, stands for. */
static const char *as_number(struct author *author, int t, const char *id) {
  static char texts[8][SHORT];
  static int next;
  next = (next + 1) % 8;
  enum type type = author->types[t];
  snprintf(texts[next], SHORT,
           type == WHOLE                      ? "%s"
           : type == NUMERIC || type == FLOAT ? "(%s)::int"
                                              : "(ascii(lower((%s)::text)) - 96)",
           id);
  return texts[next];
}

static const char *digit(int number) {
  static char texts[8][8];
  static int next;
  next = (next + 1) % 8;
  snprintf(texts[next], sizeof texts[next], "%d", number);
  return texts[next];
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void add_parts(struct author *author, int t, bool by_range) {
  if (by_range) {
    author_add(author, "create table nasty.t%d_low partition of nasty.t%d for values from (minvalue) to (4)", t, t);
    /* the same columns in another order */
    author_add(author, "create table nasty.t%d_high (s text, n int, gone int, g int not null, id %s not null)", t,
               TYPE_NAMES[author->types[t]]);
    author_add(author, "alter table nasty.t%d_high drop column gone", t);
    author_add(author, "alter table nasty.t%d attach partition nasty.t%d_high for values from (4) to (maxvalue)", t, t);
  } else {
    author_add(author, "create table nasty.t%d_even partition of nasty.t%d for values with (modulus 2, remainder 0)", t,
               t);
    author_add(author, "create table nasty.t%d_odd partition of nasty.t%d for values with (modulus 2, remainder 1)", t,
               t);
  }
}

static void add_partitioned(struct author *author, int t, const char *columns) {
  enum kind kind = author->kinds[t];
  if (kind == HASHES) {
    author_add(author, "create table nasty.t%d (%s%s) partition by hash (g)", t, columns,
               author_chance(author, 70) ? ", primary key (id, g)" : "");
    add_parts(author, t, false);
    return;
  }
  author_add(author, "create table nasty.t%d (%s%s) partition by range (id)", t, columns,
             kind == RANGES && author_chance(author, 70) ? ", primary key (id)" : "");
  add_parts(author, t, true);
  if (kind == PARTS) {
    author_add(author, "alter table nasty.t%d_low add unique (id)", t);
    author_add(author, "alter table nasty.t%d_high add unique (id)", t);
  }
}

static void add_table(struct author *author, int t) {
  char columns[200];
  enum kind kind = (enum kind)(roll(&author->dice, KINDS) - 1);
  enum type type = author_chance(author, 60) ? WHOLE : (enum type)(roll(&author->dice, TYPES) - 1);
  if ((kind == RANGES || kind == PARTS) && type > FLOAT)
    type = NUMERIC;
  author->kinds[t] = kind;
  author->types[t] = type;
  snprintf(columns, sizeof columns, "id %s not null, g int not null, n int default 0, s text default 'x'%s",
           TYPE_NAMES[type],
           kind != RANGES && kind != PARTS && author_chance(author, 15)
               ? author->version >= 180000 && author_chance(author, 50)
                     ? ", twice int generated always as (n * 2) virtual"
                     : ", twice int generated always as (n * 2) stored"
               : "");
  switch (kind) {
  case KEYED:
    author_add(author, "create table nasty.t%d (%s, primary key (id))", t, columns);
    break;
  case PAIR:
    author_add(author, "create table nasty.t%d (%s, primary key (g, id))", t, columns);
    break;
  case UNIQUE:
    author_add(author, "create table nasty.t%d (%s, unique (id))", t, columns);
    break;
  case DEFERRED:
    author_add(author, "create table nasty.t%d (%s, primary key (id) deferrable initially %s)", t, columns,
               ONE_OF(author, "deferred", "immediate"));
    break;
  case KEYLESS:
    author_add(author, "create table nasty.t%d (%s)", t, columns);
    break;
  case RANGES:
  case HASHES:
  case PARTS:
    add_partitioned(author, t, columns);
    break;
  case PARENT:
  default:
    author_add(author, "create table nasty.t%d (%s%s)", t, columns,
               author_chance(author, 70) ? ", primary key (id)" : "");
    author_add(author, "create table nasty.t%d_child (own int default 7%s) inherits (nasty.t%d)", t,
               author_chance(author, 70) ? ", primary key (id)" : "", t);
    break;
  }
}

/* A reference to a table whose ids are of the same type; most often it is that table's own. */
static void add_reference(struct author *author, int t) {
  int other = author_chance(author, 30) ? t : author_table(author);
  if (author->types[other] != author->types[t])
    other = t;
  author_add(author, "alter table nasty.t%d add column r %s%s", t, TYPE_NAMES[author->types[t]],
             author->types[t] <= FLOAT && author_chance(author, 30) ? " default 1" : "");
  if (!author_chance(author, 30))
    return;
  author_add(author, "alter table nasty.t%d add foreign key (r) references nasty.t%d (id) on delete %s on update %s%s",
             t, other, ONE_OF(author, "cascade", "set null", "set default", "no action"),
             ONE_OF(author, "cascade", "set null", "no action"),
             ONE_OF(author, "", "", " deferrable initially deferred"));
}

static void add_capture(struct author *author, int t) {
  const char *key = author->kinds[t] == PARTS   ? ", key => '{id}'"
                    : author_chance(author, 90) ? ""
                    : author->kinds[t] == PAIR  ? ", key => '{id,g}'"
                                                : ", key => '{}'";
  const char *lane = author_chance(author, 25)
                         ? ONE_OF(author, ", lane => '{g}'", ", lane => '{n}'", ", lane => '{}'", ", lane => '{g,id}'")
                         : "";
  const char *filter = "";
  if (author_chance(author, 30))
    filter = ONE_OF(author, ", row_filter => 'n > 1'", ", row_filter => 'g = 1 or s <> ''x'' '",
                    author->types[t] > FLOAT ? ", row_filter => 'id <> ''c'' '"
                                             : ", row_filter => 'id <> 3 and s <> ''y'' '");
  const char *before = author_chance(author, 20) ? ", before => 'full'" : "";
  const char *shape = author_chance(author, 35) ? alteration_shape(author, t) : "";
  author_add(author, "select rowrelay.capture_table('nasty.t%d', target => 'w', create_table => true%s%s%s%s%s%s)", t,
             key, lane, filter, before, shape,
             author_stands_alone(author, t) && author_chance(author, 50) ? ", per => 'statement'" : "");
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* A whole number where `near` stands for the number of a row at hand; "" where there is none. */
static const char *number_near(struct author *author, const char *near) {
  static char texts[4][SHORT];
  static int next;
  next = (next + 1) % 4;
  if (near[0] == '\0' || author_chance(author, 30))
    snprintf(texts[next], SHORT, "%d", some_id(author));
  else
    snprintf(texts[next], SHORT, "%s %s", near, ONE_OF(author, "", "", "+ 1", "- 1"));
  return texts[next];
}

static const char *name_of(struct author *author, int t, char *text, size_t size) {
  const char *part = "";
  if (author->has_view[t] && author_chance(author, 8)) {
    snprintf(text, size, "nasty.v%d", t);
    return text;
  }
  if (author_chance(author, 15) && (author->kinds[t] == RANGES || author->kinds[t] == PARTS))
    part = ONE_OF(author, "_low", "_high");
  else if (author_chance(author, 15) && author->kinds[t] == HASHES)
    part = ONE_OF(author, "_even", "_odd");
  else if (author_chance(author, 40) && author->kinds[t] == PARENT)
    part = "_child";
  else if (author->has_late_child[t] && author_chance(author, 40))
    part = "_late";
  snprintf(text, size, "nasty.t%d%s", t, part);
  return text;
}

/* An expression that a statement evaluates for each row, and that may write. */
static const char *number(struct author *author, const char *near) {
  static char text[4][SHORT + 16];
  static int next;
  next = (next + 1) % 4;
  if (author_chance(author, 15))
    snprintf(text[next], sizeof text[next], "nasty.f%d(%s)", roll(&author->dice, FUNCTIONS), near);
  else
    snprintf(text[next], sizeof text[next], "%d", roll(&author->dice, 5));
  return text[next];
}

static void write_copy(struct author *author, const char *table, int t, char *text, size_t size) {
  char lines[80];
  size_t length = 0;
  int first = some_id(author);
  int count = roll(&author->dice, 3);
  bool letters = author->types[t] > FLOAT;
  for (int i = 0; i < count; i++)
    length += (size_t)snprintf(lines + length, sizeof lines - length, letters ? "%c\\t%d\\t%d\\n" : "%d\\t%d\\t%d\\n",
                               (letters ? 64 : 0) + first + i, roll(&author->dice, 2), roll(&author->dice, 4));
  snprintf(text, size, "copy %s (id, g, n) from program 'printf \"%s\"'", table, lines);
}

static const char *conflict_of(struct author *author, int t) {
  enum kind kind = author->kinds[t];
  if (kind == PAIR || kind == HASHES)
    return ONE_OF(author, "", "", " on conflict do nothing", " on conflict (id, g) do update set n = excluded.n",
                  " on conflict (g, id) do update set id = excluded.id, s = 'y'");
  if (kind == KEYLESS || kind == DEFERRED || kind == PARTS)
    return ONE_OF(author, "", "", " on conflict do nothing");
  return ONE_OF(author, "", "", " on conflict do nothing", " on conflict (id) do update set n = excluded.n",
                " on conflict (id) do update set id = excluded.id, s = 'y'",
                " on conflict (id) do update set g = excluded.g");
}

static void write_insert(struct author *author, const char *table, int t, const char *near, char *text, size_t size) {
  const char *conflict = conflict_of(author, t);
  int g = roll(&author->dice, 2);
  int from = roll(&author->dice, 3);
  if (author_chance(author, 10)) {
    write_copy(author, table, t, text, size);
  } else if (author_chance(author, 15)) {
    snprintf(text, size, "insert into %s (id, g, n, r) select %s, %d, 1, %s%s", table,
             as_id(author, t, number_near(author, near)), g, as_id(author, t, number_near(author, near)), conflict);
  } else if (author_chance(author, 50)) {
    snprintf(text, size, "insert into %s (id, g, n) values (%s, %d, %s)%s", table,
             as_id(author, t, number_near(author, near)), g, number(author, "2"), conflict);
  } else if (author_chance(author, 70)) {
    snprintf(text, size, "insert into %s (id, g, n) select %s, %d, %s from generate_series(%d, %d) as i%s", table,
             as_id(author, t, "i"), g, number(author, "i"), from, 2 + roll(&author->dice, 4), conflict);
  } else {
    /* of all its rows, a table without a key would soon have a million */
    int other = author_table(author);
    snprintf(text, size, "insert into %s (id, g, n, s) select %s, 3 - g, n, s from nasty.t%d limit 9%s", table,
             as_id(author, t, as_number(author, other, "id")), other, conflict);
  }
}

/* An assignment that gives many rows the keys of others, or another spelling of their own. */
static void write_shift(struct author *author, int t, char *set, size_t size) {
  const char *id = as_number(author, t, "id");
  char shifted[200];
  switch (roll(&author->dice, 5)) {
  case 1:
    snprintf(shifted, sizeof shifted, "%s %s", id, ONE_OF(author, "+ 1", "- 1"));
    break;
  case 2:
    snprintf(shifted, sizeof shifted, "%s %% %d + 1", id, 1 + roll(&author->dice, 4));
    break;
  case 3:
    snprintf(shifted, sizeof shifted, "%d - %s", 3 + roll(&author->dice, 4), id);
    break;
  case 4:
    snprintf(shifted, sizeof shifted, "%s", id);
    break;
  default:
    snprintf(shifted, sizeof shifted, "-(%s)", id);
    break;
  }
  snprintf(set, size, "id = %s%s", as_id(author, t, shifted), ONE_OF(author, "", "", ", g = 3 - g", ", n = g"));
}

static void write_update(struct author *author, const char *table, int t, const char *near, char *text, size_t size) {
  char set[200];
  char where[200];
  switch (roll(&author->dice, 10)) {
  case 1:
    snprintf(set, sizeof set, "id = %s", as_id(author, t, number_near(author, as_number(author, t, "id"))));
    break;
  case 2:
    snprintf(set, sizeof set, "g = 3 - g");
    break;
  case 3:
    snprintf(set, sizeof set, "s = '%s'", ONE_OF(author, "x", "y", "z"));
    break;
  case 4:
    snprintf(set, sizeof set, "n = %s", number(author, as_number(author, t, "id")));
    break;
  case 5:
  case 6:
    write_shift(author, t, set, sizeof set);
    break;
  case 7:
    snprintf(set, sizeof set, "r = %s",
             author_chance(author, 30) ? "null" : as_id(author, t, number_near(author, near)));
    break;
  case 8:
    if (author->extra[t] != 0) {
      snprintf(set, sizeof set, "e%d = '%d'", author->extra[t], roll(&author->dice, 5));
      break;
    }
    /* fall through */
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
             as_id(author, t, number_near(author, near)));
    break;
  }
  snprintf(text, size, "update %s set %s%s", table, set, where);
}

static void write_merge(struct author *author, const char *table, int t, char *text, size_t size) {
  snprintf(text, size,
           "merge into %s as t using (select %s as i, %d as g from generate_series(1, 5) as i) as w on t.id = w.i "
           "when matched and t.n > %d then delete when matched then update set %s "
           "when not matched then insert (id, g, n) values (w.i, w.g, %s)%s",
           table, as_id(author, t, "i"), roll(&author->dice, 2), roll(&author->dice, 5),
           ONE_OF(author, "n = coalesce(t.n, 0) + 1", "n = coalesce(t.n, 0) + 1", "id = w.i", "g = w.g"),
           number(author, as_number(author, t, "w.i")),
           author->version >= 170000 && author_chance(author, 30) ? " when not matched by source then delete" : "");
}

/* A statement that writes; `near` is an expression for the number of a row at hand, or "". */
static void write_one(struct author *author, const char *near, char *text, size_t size) {
  char table[40];
  char other_table[40];
  int t = author_table(author);
  name_of(author, t, table, sizeof table);
  int what = roll(&author->dice, 100);
  if (what <= 33) {
    write_insert(author, table, t, near, text, size);
  } else if (what <= 70) {
    write_update(author, table, t, near, text, size);
  } else if (what <= 84) {
    snprintf(text, size, "delete from %s where id %s %s%s", table, ONE_OF(author, "=", "=", ">"),
             as_id(author, t, number_near(author, near)), author_chance(author, 10) ? " and nasty.f1(g) > 0" : "");
  } else if (what <= 90 && author->version >= 150000) {
    write_merge(author, table, t, text, size);
  } else if (what <= 95) {
    int other = author_table(author);
    name_of(author, other, other_table, sizeof other_table);
    snprintf(
        text, size,
        "with a as (delete from %s where id < %s returning %s as id, g) insert into %s (id, g) select %s, g from a",
        table, as_id(author, t, digit(some_id(author))), as_number(author, t, "id"), other_table,
        as_id(author, other, "id"));
  } else {
    int other = author_table(author);
    name_of(author, other, other_table, sizeof other_table);
    snprintf(text, size,
             "with a as (update %s set n = n + 1 where id > %s returning %s as id) update %s set n = n + 2 "
             "where %s in (select id from a)",
             table, as_id(author, t, digit(some_id(author))), as_number(author, t, "id"), other_table,
             as_number(author, other, "id"));
  }
}

/* The same in a block of PL/pgSQL, where it may fail, or be undone. */
static void write_nested(struct author *author, const char *near, char *text, size_t size) {
  char one[LONG];
  if (author_chance(author, 3))
    snprintf(one, sizeof one, "truncate nasty.t%d", author_table(author));
  else
    write_one(author, near, one, sizeof one);
  if (author_chance(author, 15))
    snprintf(text, size, "begin %s; raise exception 'undone'; exception when others then null; end;", one);
  else
    snprintf(text, size, "begin %s; exception when others then null; end;", one);
}

/* ---- what nests -------------------------------------------------------------------------------------------------- */

static void add_function(struct author *author, int f) {
  char body[LONG + 100];
  write_nested(author, "$1", body, sizeof body);
  author_add(author,
             "create or replace function nasty.f%d(int) returns int volatile language plpgsql as $f$ begin "
             "if nasty.may_nest() then %s end if; return $1; end $f$",
             f, body);
}

/* One that ends transactions of its own. */
static void add_procedure(struct author *author) {
  char one[LONG + 100];
  char more[LONG + 100];
  write_nested(author, "", one, sizeof one);
  write_nested(author, "", more, sizeof more);
  author_add(author, "create procedure nasty.p() language plpgsql as $f$ begin %s %s; %s end $f$", one,
             ONE_OF(author, "commit", "commit and chain", "rollback"), more);
}

/* What a trigger before a row makes of the row, or of the statement. */
static const char *change_of(struct author *author) {
  return ONE_OF(author, "if tg_op <> 'DELETE' then new.n := new.n + 1; this := new; end if;",
                "if tg_op = 'INSERT' and new.n = 3 then return null; end if;",
                "if tg_op = 'UPDATE' then new.id := old.id; this := new; end if;",
                "if tg_op <> 'DELETE' then new.g := 3 - new.g; this := new; end if;",
                "if found then return null; end if;");
}

/* How often it fires, and what runs then: for a row, for a statement, or for each row of a statement. */
enum firing { ROW, LAST, STATEMENT, MOVED };

static void add_trigger(struct author *author, int number_of_it) {
  static const char *const EACH[] = {"row", "row", "statement", "statement"};
  int t = author_table(author);
  enum firing firing = author_chance(author, 70)   ? ROW
                       : author_chance(author, 40) ? LAST
                       : author_chance(author, 50) ? MOVED
                                                   : STATEMENT;
  bool by_row = firing == ROW || firing == LAST;
  bool before = (firing == ROW || firing == STATEMENT) && author_chance(author, 50);
  const char *near = firing == STATEMENT ? "" : "num";
  const char *event = ONE_OF(author, "insert", "update", "delete", "insert or update", "insert or update or delete");
  const char *referencing = "";
  char table[40];
  char body[LONG + 100];
  char more[LONG + 100] = "";
  char start[300] = "";
  if (firing == MOVED) {
    event = ONE_OF(author, "insert", "update", "delete");
    referencing = event[0] == 'd' ? "referencing old table as moved" : "referencing new table as moved";
    snprintf(start, sizeof start, "for this in select * from moved loop num := %s;", as_number(author, t, "this.id"));
  } else if (by_row) {
    snprintf(start, sizeof start,
             "if tg_op = 'DELETE' then this.id := old.id; else this.id := new.id; end if; num := %s;",
             as_number(author, t, "this.id"));
  } else if (author_chance(author, 20)) {
    event = "truncate";
  }
  write_nested(author, near, body, sizeof body);
  if (author_chance(author, 25))
    write_nested(author, near, more, sizeof more);
  author_add(
      author,
      "create or replace function nasty.g%d() returns trigger language plpgsql as $f$ declare this nasty.t%d%s; num "
      "int; "
      "begin %s if nasty.may_nest() then %s %s end if; %s %s return %s; end $f$",
      number_of_it, t, by_row ? "" : "%rowtype", start, body, more, firing == MOVED ? "end loop;" : "",
      before && by_row && author_chance(author, 50) ? change_of(author) : "",
      before && by_row ? "case when tg_op = 'DELETE' then old else new end" : "null");
  do
    name_of(author, t, table, sizeof table);
  while (strstr(table, ".v") != NULL);
  char *name = author->triggers[author->trigger_count][1];
  snprintf(author->triggers[author->trigger_count++][0], NAME, "%s", table);
  snprintf(name, NAME, "%sg%d", ONE_OF(author, "", "", "!!", " "), number_of_it);
  author_add(author, "create %strigger \"%s\" %s %s on %s %s %s for each %s execute function nasty.g%d()",
             firing == LAST ? "constraint " : "", name, before ? "before" : "after", event, table,
             firing == LAST ? ONE_OF(author, "deferrable initially deferred", "deferrable") : "", referencing,
             EACH[firing], number_of_it);
}

static void add_rule(struct author *author) {
  char one[LONG];
  int t = author_table(author);
  const char *event = ONE_OF(author, "insert", "update", "delete");
  write_one(author, as_number(author, t, strcmp(event, "delete") == 0 ? "old.id" : "new.id"), one, sizeof one);
  author_add(author, "create rule of_it as on %s to nasty.t%d%s %s", event, t,
             ONE_OF(author, " do also", " do also", " where g = 1 do instead"), one);
}

static void add_view(struct author *author, int t) {
  author_add(author, "create view nasty.v%d as select id, g, n, s, r from nasty.t%d%s", t, t,
             ONE_OF(author, "", " where n < 4", " where g = 1 with check option"));
  author->has_view[t] = true;
}

/* ---- the story --------------------------------------------------------------------------------------------------- */

static void add_deeds(struct author *author, int count, bool is_altered) {
  char one[LONG];
  bool in_transaction = false;
  for (int i = 0; i < count; i++) {
    if (!in_transaction && author_chance(author, 25)) {
      author_add(author, "begin%s", ONE_OF(author, "", "", " isolation level repeatable read"));
      in_transaction = true;
    } else if (in_transaction && author_chance(author, 30)) {
      author_add(author, "%s", ONE_OF(author, "commit", "commit", "rollback"));
      in_transaction = false;
    }
    if (in_transaction && author_chance(author, 25))
      author_add(author, "%s",
                 ONE_OF(author, "savepoint a", "rollback to a", "select from nasty.t1 for update",
                        "select from nasty.t2 where n < 4 for no key update", "set constraints all immediate",
                        "set constraints all deferred", "release a", "set local session_replication_role = replica",
                        "set local session_replication_role = origin",
                        "declare c cursor for select * from nasty.t1 for update", "fetch 2 from c",
                        "update nasty.t1 set n = n + 1 where current of c", "delete from nasty.t1 where current of c"));
    if (author_chance(author, 4)) {
      name_of(author, author_table(author), one, NAME);
      author_add(author, "truncate %s%s%s", ONE_OF(author, "", "", "only "), one, ONE_OF(author, "", " cascade"));
      continue;
    }
    if (author_chance(author, 4)) {
      author_add(author, "call nasty.p()");
      continue;
    }
    if (is_altered && author_chance(author, 35)) {
      alteration_add(author);
      continue;
    }
    write_one(author, "", one, sizeof one);
    author_add(author, "%s", one);
    if (!in_transaction && author_chance(author, 15))
      author_add(author, "%s", ONE_OF(author, NASTY_UNDO, NASTY_DELIVER));
  }
  if (in_transaction)
    author_add(author, "commit");
  if (author_chance(author, 35))
    author_add(author, NASTY_UNDO);
  author_add(author, NASTY_DELIVER);
}

void nasty_write(struct story *story, unsigned int seed, int version) {
  struct author author = {.story = story, .dice = {.state = seed * 2654435761u + 1}, .version = version};
  memset(story->left_out, 0, sizeof story->left_out);
  story->count = 0;
  for (int i = 0; i < 5; i++)
    roll(&author.dice, 2);
  author_add(&author,
             "create collation nasty.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
  for (int t = 1; t <= TABLES; t++)
    add_table(&author, t);
  for (int t = 1; t <= TABLES; t++)
    add_reference(&author, t);
  bool is_altered = author_chance(&author, ALTERED);
  for (int t = 1; t <= TABLES; t++)
    if (author_chance(&author, 60))
      alteration_prepare(&author, t);
  /* Not for ever: a statement may set off that many others. What is rolled back counts, too. */
  author_add(&author,
             "create sequence nasty.nested; create function nasty.may_nest() returns bool volatile language sql "
             "as $f$ select nextval('nasty.nested') <= 8 $f$");
  for (int f = 1; f <= FUNCTIONS; f++)
    author_add(&author, "create function nasty.f%d(int) returns int language sql as 'select $1'", f);
  for (int t = 1; t <= TABLES; t++)
    add_capture(&author, t);
  for (int t = 1; t <= TABLES; t++)
    author_add(&author, "insert into nasty.t%d (id, g, n) select %s, 1 + i %% 2, i from generate_series(1, %d) as i", t,
               as_id(&author, t, "i"), roll(&author.dice, 6));
  for (int f = 1; f <= FUNCTIONS; f++)
    add_function(&author, f);
  for (int t = 1; t <= TABLES; t++)
    if (author_chance(&author, 70))
      add_view(&author, t);
  add_procedure(&author);
  int triggers = 1 + roll(&author.dice, 4);
  for (int g = 1; g <= triggers; g++)
    add_trigger(&author, g);
  if (author_chance(&author, 15))
    add_rule(&author);
  add_deeds(&author, (is_altered ? 10 : 6) + roll(&author.dice, 8), is_altered);
}
