#include "alteration.h"

#include <stdio.h>
#include <string.h>

#define FILLED 160

/* The words with `number` where they have a #. */
static const char *fill(const char *words, int number) {
  static char texts[4][FILLED];
  static int next;
  size_t length = 0;
  next = (next + 1) % 4;
  texts[next][0] = '\0';
  for (; *words != '\0' && length < FILLED - 12; words++)
    length += (size_t)(*words == '#' ? snprintf(texts[next] + length, FILLED - length, "%d", number)
                                     : snprintf(texts[next] + length, FILLED - length, "%c", *words));
  return texts[next];
}

static void add_extra(struct author *author, int t, const char *type) {
  static const char *const NUMBERS[] = {"int", "bigint", "numeric", "text"};
  author->extra[t] = ++author->extras;
  author->has_number[t] = false;
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
    if (strncmp(type, NUMBERS[i], strlen(NUMBERS[i])) == 0 && strpbrk(type, "[{") == NULL)
      author->has_number[t] = true;
  author_add(author, "alter table nasty.t%d add column e%d %s", t, author->extra[t], type);
}

void alteration_prepare(struct author *author, int t) {
  add_extra(author, t,
            ONE_OF(author, "int default 7", "int", "text default '7'", "int not null default 7",
                   "jsonb default '{\"a\": [1, null]}'", "json default '{\"b\": 1, \"b\": 1.0}'",
                   "int[] default '{1,2}'", "nasty.mood default 'ok'", "nasty.pair default '(1,b)'",
                   "nasty.pair[] default '{\"(1,b)\"}'", "numrange default '[1,2)'", "bytea default 'ab'",
                   "timestamptz default '2026-01-01 12:00:00+02'"));
}

static const char *shape_of(struct author *author, int t) {
  bool has_g = author->kinds[t] != PAIR && author->kinds[t] != HASHES;
  if (author->extra[t] != 0 && author_chance(author, 40)) {
    return fill(ONE_OF(author, ", mask => '{\"e#\": null}'", ", exclude => '{e#}'", ", columns => '{id,g,e#}'",
                       ", columns => '{id,e#,g,n,s}', mask => '{\"n\": 5}'"),
                author->extra[t]);
  }
  return ONE_OF(author, ", mask => '{\"s\": \"***\"}'", ", mask => '{\"n\": 0}'", ", mask => '{\"s\": null, \"n\": 9}'",
                has_g ? ", mask => '{\"g\": 9}', exclude => '{n}'" : ", mask => '{\"n\": null}', exclude => '{s}'",
                ", exclude => '{s}'", ", exclude => '{n}'", ", exclude => '{s,n}'", ", columns => '{id,g}'",
                ", columns => '{n,id,g}'");
}

/* As alteration_capture(); of 100 so many have a lane of their own. */
static void write_capture(struct author *author, int t, int lanes, char *text, size_t size) {
  if (author->is_plain[t] && author_chance(author, 80)) {
    snprintf(text, size,
             "select rowrelay.capture_table('nasty.t%d', target => 'w', create_table => true%s, lock_wait => '0.3 s')",
             t, ONE_OF(author, "", "", ", before => 'full'", ", per => 'statement'"));
    return;
  }
  const char *key = author->kinds[t] == PARTS     ? ", key => '{id}'"
                    : author_has_nulls(author, t) ? author_chance(author, 10)      ? ""
                                                    : author->kinds[t] == NULLABLE ? ", key => '{id}'"
                                                                                   : ", key => '{id,g}'"
                    : author->kinds[t] == PARENT && author->story->is_shared
                        /* two sessions do not see that they give rows of table and child the same key */
                        ? ", key => '{}'"
                        : author_chance(author, 90)  ? ""
                          : author->kinds[t] == PAIR ? ", key => '{id,g}'"
                                                     : ", key => '{}'";
  const char *lane = author_chance(author, lanes)
                         ? ONE_OF(author, ", lane => '{g}'", ", lane => '{n}'", ", lane => '{}'", ", lane => '{g,id}'")
                         : "";
  const char *filter = "";
  if (author_chance(author, 30) && !author->has_document)
    filter = ONE_OF(author, ", row_filter => 'n > 1'", ", row_filter => 'g = 1 or s <> ''x'' '",
                    author->types[t] > FLOAT ? ", row_filter => 'id <> ''c'' '"
                                             : ", row_filter => 'id <> 3 and s <> ''y'' '");
  const char *before = author_chance(author, 20) ? ", before => 'full'" : "";
  const char *shape = author_chance(author, 35) ? shape_of(author, t) : "";
  snprintf(text, size,
           "select rowrelay.capture_table('nasty.t%d', target => 'w', create_table => true%s%s%s%s%s%s, lock_wait => "
           "'0.3 s')",
           t, key, lane, filter, before, shape,
           author_stands_alone(author, t) && author_chance(author, 50) ? ", per => 'statement'" : "");
}

void alteration_capture(struct author *author, int t, char *text, size_t size) {
  write_capture(author, t, 25, text, size);
}

static void add_column_alteration(struct author *author, int t) {
  int e = author->extra[t];
  if (e == 0 || author_chance(author, 30)) {
    add_extra(author, t,
              ONE_OF(author, "int default 7", "int", "text default '8'", "int not null default 7", "bigint default 9",
                     "int default (random() * 9)::int", "int generated by default as identity", "numeric default 1.50",
                     "jsonb default '[1.0]'", "nasty.mood", "text[] default '{a,NULL}'"));
    return;
  }
  switch (roll(&author->dice, 4)) {
  case 1:
    author_add(author, "alter table nasty.t%d drop column e%d", t, e);
    author->extra[t] = 0;
    break;
  case 2:
    author->extra[t] = ++author->extras;
    author_add(author, "alter table nasty.t%d rename column e%d to e%d", t, e, author->extra[t]);
    break;
  case 3:
    /* the log has other values in the spelling of JSON, which is what undo would bring back */
    if (author->has_number[t]) {
      author_add(author, "alter table nasty.t%d alter column e%d drop default, alter column e%d type %s", t, e, e,
                 fill(ONE_OF(author, "bigint using e#::bigint", "text", "numeric using e#::numeric + 1"), e));
      break;
    }
    /* fall through */
  default:
    author_add(author, "alter table nasty.t%d %s", t,
               ONE_OF(author, "drop column s", "alter column n type bigint", "alter column s type varchar(9)",
                      "alter column n set default 2", "alter column n set not null", "replica identity full",
                      "add column late int default 1, drop column late"));
    break;
  }
}

/* A partition goes or comes while it is empty: no trigger fires for its rows. */
static void add_partition_alteration(struct author *author, int t) {
  bool is_range = author->kinds[t] != HASHES;
  bool first = author_chance(author, 50);
  const char *part = is_range ? first ? "low" : "high" : first ? "even" : "odd";
  const char *bounds = is_range ? first ? "from (minvalue) to (4)" : "from (4) to (maxvalue)"
                       : first  ? "with (modulus 2, remainder 0)"
                                : "with (modulus 2, remainder 1)";
  if (author_chance(author, 20))
    author_add(author, "%screate table nasty.t%d_%s_%d partition of nasty.t%d %sfor values %s%s",
               author->story->has_roles ? "set role nasty_owner; " : "", t, part, ++author->extras, t,
               author->kinds[t] == PARTS ? "(unique (id)) " : "", bounds,
               author->story->has_roles ? "; reset role" : "");
  else if (author_chance(author, 40))
    author_add(author, "delete from nasty.t%d_%s; alter table nasty.t%d attach partition nasty.t%d_%s for values %s", t,
               part, t, t, part, bounds);
  else
    author_add(author,
               "delete from nasty.t%d_%s; do $$ begin if exists (select from nasty.t%d_%s) then raise 'has rows'; "
               "end if; end $$; alter table nasty.t%d detach partition nasty.t%d_%s",
               t, part, t, part, t, t, part);
}

/* A child is captured from the next maintenance on. It goes while it is empty. */
static void add_child_alteration(struct author *author, int t) {
  /* Two sessions do not see that they give rows of table and child the same key. */
  if (author->story->is_shared && author->kinds[t] != KEYLESS)
    return;
  if (!author->has_late_child[t]) {
    author->has_late_child[t] = true;
    author_add(author,
               "%screate table nasty.t%d_late (own int default 7%s) inherits (nasty.t%d); %s"
               "select from rowrelay.maintain()",
               author->story->has_roles ? "set role nasty_owner; " : "", t,
               author_chance(author, 70) ? ", primary key (id)" : "", t,
               author->story->has_roles ? "grant all on all tables in schema nasty to nasty_writer; reset role; " : "");
    return;
  }
  author_add(author,
             "delete from nasty.t%d_late; do $$ begin if exists (select from nasty.t%d_late) then raise 'has rows'; "
             "end if; end $$; %s",
             t, t,
             fill(ONE_OF(author, "alter table nasty.t#_late no inherit nasty.t#", "drop table nasty.t#_late"), t));
}

static void add_index_alteration(struct author *author, int t) {
  switch (roll(&author->dice, 3)) {
  case 1:
    author_add(author, "create %sindex i%d on nasty.t%d (%s)", ONE_OF(author, "", "unique "), t, t,
               ONE_OF(author, "n", "g, id", "s, n"));
    break;
  case 2:
    author_add(author, "drop index nasty.i%d", t);
    break;
  default: /* the key's own index is another one then */
    author_add(author, "alter table nasty.t%d drop constraint t%d_pkey, add constraint t%d_pkey primary key (%s)", t, t,
               t,
               author->kinds[t] == PAIR     ? "g, id"
               : author->kinds[t] == HASHES ? "id, g"
                                            : "id");
    break;
  }
}

static void add_trigger_alteration(struct author *author, int t) {
  int g = author->trigger_count > 0 && author_chance(author, 80) ? roll(&author->dice, author->trigger_count) - 1 : -1;
  if (g >= 0 && author_chance(author, 40)) {
    author_add(author, "drop trigger \"%s\" on %s", author->triggers[g][1], author->triggers[g][0]);
    if (author_chance(author, 50))
      author_add(author, "%s", author->story->statements[author->made_at[g]]);
  } else if (g >= 0) {
    author_add(author, "alter table %s %s trigger \"%s\"", author->triggers[g][0],
               ONE_OF(author, "disable", "enable", "enable always", "enable replica"), author->triggers[g][1]);
  } else {
    author_add(author,
               "alter table nasty.t%d disable trigger user; alter table nasty.t%d enable trigger user; "
               "select from rowrelay.maintain()",
               t, t);
  }
}

/* What waits in the lanes of one capture, and what comes in those of another, are changes of the same rows. */
static void touch_all(struct author *author, int t) {
  if (author_chance(author, 70))
    author_add(author, "update nasty.t%d set n = coalesce(n, 0) + 1", t);
}

static void add_other_capture(struct author *author, int t) {
  const char *option = author_chance(author, 40)
                           ? ONE_OF(author, ", lane => '{g}'", ", lane => '{n}'", ", lane => '{}'")
                       : author_chance(author, 50)
                           ? shape_of(author, t)
                           : ONE_OF(author, ", before => 'full'", ", before => 'none'", ", lane => '{g}'",
                                    ", lane => '{id}'", ", mask => '{}'", ", exclude => '{}'", ", per => 'row'", "");
  if (author_stands_alone(author, t) && author_chance(author, 30))
    option = ", per => 'statement'";
  touch_all(author, t);
  author_add(author,
             "select rowrelay.capture_table(relation%s, lock_wait => '0.3 s') from rowrelay.captures where relation = "
             "'nasty.t%d'::regclass",
             option, t);
  touch_all(author, t);
}

/* Where a row is written in between, a mirror lacks that; so nobody is let in. */
static void add_new_capture(struct author *author, int t) {
  char statement[FILLED * 4];
  write_capture(author, t, 60, statement, sizeof statement);
  touch_all(author, t);
  author_add(author, "select rowrelay.release_table('nasty.t%d', '0.3 s'); %s", t, statement);
  touch_all(author, t);
}

/* Its values stay, and so do their lanes; but a trigger function names their type. */
static void add_key_alteration(struct author *author, int t) {
  if (author->types[t] != WHOLE || author->has_document)
    return;
  author->has_view[t] = false;
  author_add(author, "drop view if exists nasty.v%d; alter table nasty.t%d alter column id type bigint", t, t);
  touch_all(author, t);
}

void alteration_of_text(struct author *author, int t) {
  for (int i = 0; i < TABLES && !author->is_plain[t]; i++)
    t = t % TABLES + 1;
  bool is_back = author->has_other_text[t];
  author->has_other_text[t] = !is_back;
  author_add(author, "alter table nasty.t%d rename column %s", t, is_back ? "s2 to s" : "s to s2");
  author_add(author, "update nasty.t%d set n = coalesce(n, 0) + 1", t);
}

static void add_name_alteration(struct author *author, int t) {
  if (author->has_document)
    return;
  bool is_back = author->is_renamed[t];
  author->is_renamed[t] = !is_back;
  author_add(author, "alter table nasty.t%d%s rename to t%d%s", t, is_back ? "_renamed" : "", t,
             is_back ? "" : "_renamed");
}

void alteration_add(struct author *author) {
  /* two sessions that are at the same table wait for each other, and little comes of it */
  int t = author->story->is_shared ? roll(&author->dice, TABLES) : author_table(author);
  enum kind kind = author->kinds[t];
  int what = roll(&author->dice, 100);
  if (author->is_renamed[t] && author_chance(author, 60))
    add_name_alteration(author, t);
  else if (what <= 12 && (kind == RANGES || kind == PARTS || kind == HASHES))
    add_partition_alteration(author, t);
  else if (what <= 12)
    add_child_alteration(author, t);
  else if (what <= 20)
    add_index_alteration(author, t);
  else if (what <= 33)
    add_trigger_alteration(author, t);
  else if (what <= 42)
    add_other_capture(author, t);
  else if (what <= 60)
    add_new_capture(author, t);
  else if (what <= 64)
    add_name_alteration(author, t);
  else if (what <= 70)
    author_add(author, "select from rowrelay.maintain()");
  else if (what <= 72)
    author_add(author, "update nasty.t%d set g = g", t);
  else if (what <= 77)
    add_key_alteration(author, t);
  else if (what <= 87)
    alteration_of_text(author, t);
  else {
    add_column_alteration(author, t);
    touch_all(author, t);
  }
}
