#include "nasty.h"

#include <stdio.h>
#include <string.h>

#include "alteration.h"
#include "sentence.h"

/* Of 100 stories. */
#define ALTERED 60
#define SHARED 35
#define ROLES 40
#define DOCUMENT 50

static const char *const TYPE_NAMES[] = {"int", "numeric", "float8", "citext", "text collate nasty.folded"};

static const char *type_name(const struct author *author, int t) {
  return author->has_domain[t] ? "nasty.whole" : TYPE_NAMES[author->types[t]];
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void add_parts(struct author *author, int t, bool by_range) {
  if (by_range) {
    author_add(author, "create table nasty.t%d_low partition of nasty.t%d for values from (minvalue) to (4)", t, t);
    /* the same columns in another order */
    bool has_parts = author_chance(author, 30);
    author_add(author, "create table nasty.t%d_high (s text, n int, gone int, g int not null, id %s not null)%s", t,
               type_name(author, t), has_parts ? " partition by range (id)" : "");
    if (has_parts)
      author_add(author,
                 "create table nasty.t%d_high_mid partition of nasty.t%d_high for values from (4) to (6);"
                 "create table nasty.t%d_high_rest partition of nasty.t%d_high default",
                 t, t, t, t);
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
  if (author_chance(author, 12))
    kind = author_chance(author, 50) ? NULLABLE : NULLABLE_PAIR;
  enum type type = author_chance(author, 60) ? WHOLE : (enum type)(roll(&author->dice, TYPES) - 1);
  if ((kind == RANGES || kind == PARTS) && type > FLOAT)
    type = NUMERIC;
  author->is_plain[t] = author_chance(author, 30);
  if (author->is_plain[t]) {
    kind = author_chance(author, 70) ? KEYED : PAIR;
    type = WHOLE;
  }
  author->kinds[t] = kind;
  author->types[t] = type;
  author->has_domain[t] = type == WHOLE && !author->is_plain[t] && author_chance(author, 10);
  const char *nulls = author_has_nulls(author, t) ? "" : " not null";
  snprintf(columns, sizeof columns, "id %s%s, g int%s, n int default 0, s text default 'x'%s", type_name(author, t),
           nulls, nulls,
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
  case NULLABLE:
  case NULLABLE_PAIR:
    author_add(author, "create table nasty.t%d (%s, unique %s(%s))", t, columns,
               author->version >= 150000 && author_chance(author, 50) ? "nulls not distinct " : "",
               kind == NULLABLE ? "id" : "g, id");
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
  author_add(author, "alter table nasty.t%d add column r %s%s", t, type_name(author, t),
             author->types[t] <= FLOAT && author_chance(author, 30) ? " default 1" : "");
  if (!author_chance(author, 30))
    return;
  author_add(author, "alter table nasty.t%d add foreign key (r) references nasty.t%d (id) on delete %s on update %s%s",
             t, other, ONE_OF(author, "cascade", "set null", "set default", "no action"),
             ONE_OF(author, "cascade", "set null", "set default", "no action"),
             ONE_OF(author, "", "", " deferrable initially deferred"));
}

static void add_capture(struct author *author, int t) {
  char statement[LONG];
  alteration_capture(author, t, statement, sizeof statement);
  author_add(author, "%s", statement);
}

static bool has_document_keys(const struct author *author, int t) {
  return (author->types[t] == WHOLE && !author->has_domain[t]) || author->types[t] == NUMERIC;
}

/*
 * A document for each id of a table, from that table and another one. It is what a view has, so that each row of that
 * must be there in the end.
 */
static void add_document(struct author *author) {
  int t = author_table(author);
  int other = author_table(author);
  const char *whole = "trim_scale(x.id)";
  for (int i = 0; i < TABLES && !has_document_keys(author, t); i++)
    t = t % TABLES + 1;
  if (!has_document_keys(author, t))
    return;
  if (author->types[t] == WHOLE)
    whole = "x.id";
  author->has_document = true;
  author->sources[0] = t;
  if (author->types[other] != author->types[t] || author->has_domain[other])
    other = t;
  author->sources[1] = other;
  if (author_chance(author, 50)) {
    author_add(
        author,
        "create view nasty.doc as select %s as id, count(*) as c, sum(x.n) as n, (select sum(y.n) from nasty.t%d "
        "as y where y.id = %s) as other from nasty.t%d as x where x.id is not null group by %s",
        whole, other, whole, t, whole);
    author_add(author,
               "select rowrelay.add_document('nasty_doc', 'w', 'id', 'select * from nasty.doc where id = any ($1)', "
               "array['nasty.t%d:id(id, n)', 'nasty.t%d:id(id, n)'], into_table => 'nasty.doc', create_table => true)",
               t, other);
    return;
  }
  author_add(
      author,
      "create view nasty.doc as select %s as id, count(*) as c, min(x.g) as g, (select count(*) from nasty.t%d as "
      "y where y.g in (select z.g from nasty.t%d as z where z.id = %s)) as other from nasty.t%d as x where x.id "
      "is not null group by %s",
      whole, other, t, whole, t, whole);
  author_add(
      author,
      "select rowrelay.add_document('nasty_doc', 'w', 'id', 'select * from nasty.doc where id = any ($1)', "
      "array['nasty.t%d:id', 'nasty.t%d(g):select x.id from nasty.t%d as x join changed c on c.g = x.g where x.id "
      "is not null'], into_table => 'nasty.doc', create_table => true)",
      t, other, t);
}

/* ---- what nests -------------------------------------------------------------------------------------------------- */

/* Policies that hide rows from who owns the table, or from others, and forbid some. */
static void add_policies(struct author *author, int t) {
  static const char *const WHAT[] = {"g = 1", "n < 4 or n is null", "s <> 'y'", "true", "nasty.f1(g) > 1", "r is null"};
  const int count = sizeof WHAT / sizeof *WHAT;
  author_add(author, "alter table nasty.t%d enable row level security%s", t,
             author_chance(author, 70) ? ", force row level security" : "");
  if (author_chance(author, 40)) {
    author_add(author, "create policy a on nasty.t%d using (%s)", t, author_one_of(author, WHAT, count));
    return;
  }
  author_add(
      author,
      "create policy a on nasty.t%d for select using (%s); create policy b on nasty.t%d for insert with check (%s);"
      "create policy c on nasty.t%d for update using (%s) with check (%s);"
      "create policy d on nasty.t%d for delete using (%s)",
      t, author_one_of(author, WHAT, count), t, author_one_of(author, WHAT, count), t,
      author_one_of(author, WHAT, count), author_one_of(author, WHAT, count), t, author_one_of(author, WHAT, count));
}

static void add_roles(struct author *author) {
  author_add(
      author,
      "do $$ declare t regclass; begin for t in select oid from pg_class where relnamespace = "
      "'nasty'::regnamespace and relkind in ('r', 'p') loop execute format('alter table %%s owner to nasty_owner', "
      "t); end loop; end $$;"
      "alter schema nasty owner to nasty_owner; grant usage on schema nasty to public;"
      "grant usage, update on sequence nasty.nested to public;"
      "grant all on all tables in schema nasty to nasty_writer");
  for (int t = 1; t <= TABLES; t++)
    if (author_chance(author, 60))
      add_policies(author, t);
}

/* A function may run with the rights of who has made it. */
static void add_definer(struct author *author, const char *name, int number) {
  const char *arguments = name[0] == 'f' ? "int" : "";
  if (author->story->has_roles && author_chance(author, 40))
    author_add(author, "alter function nasty.%s%d(%s) security definer; alter function nasty.%s%d(%s) owner to %s",
               name, number, arguments, name, number, arguments, ONE_OF(author, "nasty_owner", "nasty_writer"));
}

/* The same in a block of PL/pgSQL, where it may fail, or be undone. */
static void write_nested(struct author *author, const char *near, char *text, size_t size) {
  char one[LONG];
  if (author_chance(author, 3))
    snprintf(one, sizeof one, "truncate nasty.t%d", author_table(author));
  else
    sentence_write(author, near, one, sizeof one);
  if (author_chance(author, 15))
    snprintf(text, size, "begin %s; raise exception 'undone'; exception when others then null; end;", one);
  else
    snprintf(text, size, "begin %s; exception when others then null; end;", one);
}

static void add_function(struct author *author, int f) {
  char body[LONG + 100];
  write_nested(author, "$1", body, sizeof body);
  author_add(author,
             "create or replace function nasty.f%d(int) returns int volatile language plpgsql as $f$ begin "
             "if nasty.may_nest() then %s end if; return $1; end $f$",
             f, body);
  add_definer(author, "f", f);
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

/* Under which condition a trigger fires, and perhaps for which columns. */
static const char *condition_of(struct author *author, const char **event) {
  if (strcmp(*event, "delete") == 0)
    return "when (old.n > 1)";
  if (strstr(*event, "delete") != NULL)
    return "";
  if (strcmp(*event, "update") != 0)
    return "when (new.n > 1 or new.n is null)";
  const char *when = ONE_OF(author, "when (old.* is distinct from new.*)", "when (new.id <> old.id)");
  if (author_chance(author, 50))
    *event = ONE_OF(author, "update of n", "update of id, g");
  return when;
}

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
  const char *event = ONE_OF(author, "insert", "update", "delete", "insert or update", "insert or update",
                             "insert or update or delete", "insert or update or delete");
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
  author->favourite = t;
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
  const char *when = by_row && author_chance(author, 20) ? condition_of(author, &event) : "";
  char *name = author->triggers[author->trigger_count][1];
  author->made_at[author->trigger_count] = author->story->count;
  snprintf(author->triggers[author->trigger_count++][0], NAME, "%s", table);
  snprintf(name, NAME, "%sg%d", ONE_OF(author, "", "", "!!", " "), number_of_it);
  author_add(author, "create %strigger \"%s\" %s %s on %s %s %s for each %s %s execute function nasty.g%d()",
             firing == LAST ? "constraint " : "", name, before ? "before" : "after", event, table,
             firing == LAST ? ONE_OF(author, "deferrable initially deferred", "deferrable") : "", referencing,
             EACH[firing], when, number_of_it);
  add_definer(author, "g", number_of_it);
}

static void add_rule(struct author *author) {
  char one[LONG];
  int t = author_table(author);
  const char *event = ONE_OF(author, "insert", "update", "delete");
  sentence_write(author, as_number(author, t, strcmp(event, "delete") == 0 ? "old.id" : "new.id"), one, sizeof one);
  author_add(author, "create rule of_it as on %s to nasty.t%d%s %s", event, t,
             ONE_OF(author, " do also", " do also", " where g = 1 do instead"), one);
}

static void add_view(struct author *author, int t) {
  author_add(author, "create view nasty.v%d as select id, g, n, s, r from nasty.t%d%s", t, t,
             ONE_OF(author, "", " where n < 4", " where g = 1 with check option"));
  author->has_view[t] = true;
  if (author->story->has_roles)
    author_add(author, "grant all on nasty.v%d to public; alter view nasty.v%d owner to %s", t, t,
               ONE_OF(author, "nasty_owner", "nasty_writer", "current_user"));
  if (!author_chance(author, 20))
    return;
  char nested[LONG + 100];
  write_nested(author, as_number(author, t, "coalesce(new.id, old.id)"), nested, sizeof nested);
  author_add(
      author,
      "create function nasty.i%d() returns trigger language plpgsql as $f$ begin if nasty.may_nest() then %s end if; "
      "if tg_op = 'INSERT' then insert into nasty.t%d (id, g, n, s) values (new.id, new.g, new.n, new.s); "
      "elsif tg_op = 'UPDATE' then update nasty.t%d set id = new.id, n = new.n, r = new.r where id = old.id; "
      "else delete from nasty.t%d where id = old.id; end if; return coalesce(new, old); end $f$; "
      "create trigger i%d instead of insert or update or delete on nasty.v%d for each row "
      "execute function nasty.i%d()",
      t, nested, t, t, t, t, t, t);
}

/* ---- the story --------------------------------------------------------------------------------------------------- */

/* What a session may do within its transaction. */
static void add_step(struct author *author) {
  author_add(
      author, "%s",
      ONE_OF(author, "savepoint a", "rollback to a", "select from nasty.t1 for update",
             "select from nasty.t2 where n < 4 for no key update", "select from nasty.t1 for key share",
             "select from nasty.t3 for share", "set constraints all immediate", "set constraints all deferred",
             "release a", "set local session_replication_role = replica", "set local session_replication_role = origin",
             "declare c cursor for select * from nasty.t1 for update; fetch 2 from c; "
             "update nasty.t1 set n = n + 1 where current of c",
             "declare c cursor for select * from nasty.t2; fetch 1 from c; delete from nasty.t2 where current of c"));
}

static void add_end(struct author *author) {
  if (author_chance(author, 12)) {
    author_add(author, "prepare transaction 'nasty'");
    author->is_prepared = true;
  } else {
    author_add(author, "%s", ONE_OF(author, "commit", "commit", "rollback"));
  }
}

static void add_prepared_end(struct author *author) {
  author_add(author, "%s prepared 'nasty'", ONE_OF(author, "commit", "commit", "rollback"));
  author->is_prepared = false;
}

/* A statement by somebody. */
static void add_by_role(struct author *author, const char *statement) {
  if (author->story->has_roles && author_chance(author, 70))
    author_add(author, "set role %s; %s; reset role", ONE_OF(author, "nasty_owner", "nasty_writer"), statement);
  else
    author_add(author, "%s", statement);
}

/* Updates what a document is built from while all others are built: nothing else refreshes it then. */
static void add_refresh(struct author *author) {
  int t = author->sources[roll(&author->dice, 2) - 1];
  author_add(author, NASTY_DELIVER);
  author_add(author, "update nasty.t%d set %s where id = %s", t,
             ONE_OF(author, "n = coalesce(n, 0) + 5", "n = coalesce(n, 0) + 5", "g = 3 - g", "g = g + 2"),
             as_id(author, t, ONE_OF(author, "1", "2", "3", "4")));
  author_add(author, NASTY_DELIVER);
}

/* A deed of the session whose turn it is. */
static void add_deed(struct author *author, bool is_altered) {
  bool is_other = author->voice[0] != '\0';
  bool *is_open = &author->is_open[is_other];
  char one[LONG];
  if (author->is_prepared && !*is_open && author_chance(author, 60))
    add_prepared_end(author);
  if (!*is_open && author_chance(author, is_other ? 15 : author->story->is_shared ? 60 : 25)) {
    author_add(author, "begin%s",
               ONE_OF(author, "", "", " isolation level repeatable read", " isolation level serializable"));
    *is_open = true;
    if (author_chance(author, 50))
      author_add(author, "savepoint a");
  } else if (*is_open && author_chance(author, author->story->is_shared ? 20 : 30)) {
    add_end(author);
    *is_open = false;
  }
  if (*is_open && author_chance(author, 25))
    add_step(author);
  if (author_chance(author, 4)) {
    char table[NAME];
    name_of(author, author_table(author), table, sizeof table);
    snprintf(one, sizeof one, "truncate %s%s%s", ONE_OF(author, "", "", "only "), table,
             ONE_OF(author, "", " cascade", ", nasty.t2"));
    add_by_role(author, one);
  } else if (author_chance(author, 4)) {
    author_add(author, "%s",
               is_altered && author_chance(author, 50) ? "select from rowrelay.maintain()" : "call nasty.p()");
  } else if (is_altered && author_chance(author, 40)) {
    alteration_add(author);
  } else {
    sentence_write(author, "", one, sizeof one);
    add_by_role(author, one);
  }
  /* Who delivers does maintenance as well, and would wait for a transaction that did some. */
  bool is_calm = !author->is_open[0] && !author->is_open[1] && !author->is_prepared;
  if (!is_other && (is_calm || (author->story->is_shared && !is_altered)) && author_chance(author, 15))
    author_add(author, "%s", ONE_OF(author, NASTY_UNDO, NASTY_DELIVER));
  else if (!is_other && is_calm && author->has_document && author_chance(author, 12))
    add_refresh(author);
}

/* Whoever waits for somebody has its turn when that one has ended. */
static void add_ends(struct author *author) {
  author->voice = "";
  if (author->is_open[0])
    author_add(author, "commit");
  if (author->is_prepared)
    add_prepared_end(author);
  author->voice = NASTY_OTHER;
  if (author->is_open[1])
    author_add(author, "commit");
  author->voice = "";
}

/* What seldom comes about among others: no transaction is open any more that rolls it back, or has locked a table. */
static void add_last_deeds(struct author *author, bool is_altered) {
  char one[LONG];
  for (int t = 1; t <= TABLES; t++) {
    if (!author_has_nulls(author, t) || !author_chance(author, 60))
      continue;
    for (int i = 0; i < 3; i++) {
      sentence_of_null(author, t, one, sizeof one);
      author_add(author, "%s", one);
    }
  }
  if (is_altered && author_chance(author, 60))
    alteration_of_text(author, author_table(author));
}

static void add_deeds(struct author *author, bool is_altered) {
  int count = (is_altered ? 16 : 12) + roll(&author->dice, 8) + (author->story->is_shared ? 8 : 0);
  for (int i = 0; i < count; i++) {
    bool is_others = author->story->is_shared && author_chance(author, author->is_open[0] ? 60 : 25);
    author->voice = is_others ? NASTY_OTHER : "";
    add_deed(author, is_altered);
  }
  add_ends(author);
  add_last_deeds(author, is_altered);
  if (author_chance(author, 35))
    author_add(author, NASTY_UNDO);
  author_add(author, NASTY_DELIVER);
}

void nasty_write(struct story *story, unsigned int seed, int version) {
  struct author author = {.story = story, .dice = {.state = seed * 2654435761u + 1}, .version = version, .voice = ""};
  memset(story->left_out, 0, sizeof story->left_out);
  story->count = 0;
  for (int i = 0; i < 5; i++)
    roll(&author.dice, 2);
  author_add(&author,
             "create collation nasty.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
  author_add(&author, "create domain nasty.whole as int check (value < 1000); create type nasty.mood as enum "
                      "('sad', 'ok'); create type nasty.pair as (a int, b text)");
  for (int t = 1; t <= TABLES; t++)
    add_table(&author, t);
  for (int t = 1; t <= TABLES; t++)
    add_reference(&author, t);
  bool is_altered = author_chance(&author, ALTERED);
  story->is_shared = author_chance(&author, SHARED);
  story->has_roles = author_chance(&author, ROLES);
  story->has_plain_keeper = story->has_roles && author_chance(&author, 60);
  for (int t = 1; t <= TABLES; t++)
    if (author_chance(&author, author.is_plain[t] ? 20 : 60))
      alteration_prepare(&author, t);
  /* Not for ever: a statement may set off that many others. What is rolled back counts, too. */
  author_add(&author,
             "create sequence nasty.nested; create function nasty.may_nest() returns bool volatile language sql "
             "as $f$ select nextval('nasty.nested') <= 8 $f$");
  for (int f = 1; f <= FUNCTIONS; f++)
    author_add(&author, "create function nasty.f%d(int) returns int language sql as 'select $1'", f);
  if (story->has_roles)
    add_roles(&author);
  if (author_chance(&author, DOCUMENT))
    add_document(&author);
  for (int t = 1; t <= TABLES; t++)
    add_capture(&author, t);
  for (int t = 1; t <= TABLES; t++)
    author_add(&author, "insert into nasty.t%d (id, g, n) select %s, 1 + i %% 2, i from generate_series(1, %d) as i", t,
               as_id(&author, t, "i"), roll(&author.dice, 6));
  author.favourite = author_table(&author);
  for (int f = 1; f <= FUNCTIONS; f++)
    add_function(&author, f);
  for (int t = 1; t <= TABLES; t++)
    if (author_chance(&author, 70))
      add_view(&author, t);
  add_procedure(&author);
  int triggers = 2 + roll(&author.dice, 4);
  for (int g = 1; g <= triggers; g++)
    add_trigger(&author, g);
  if (author_chance(&author, 15))
    add_rule(&author);
  add_deeds(&author, is_altered);
}
