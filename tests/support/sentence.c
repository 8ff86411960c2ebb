#include "sentence.h"

#include <stdio.h>
#include <string.h>

#define SHORT 96

static int some_id(struct author *author) {
  return roll(&author->dice, 6);
}

/* ---- values of column id ----------------------------------------------------------------------------------------- */

const char *as_id(struct author *author, int t, const char *number) {
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

const char *as_number(struct author *author, int t, const char *id) {
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

/* A value for id of table t, which may be null in some tables. */
static const char *value_of(struct author *author, int t, const char *number) {
  static char texts[4][2 * SHORT + 12];
  static int next;
  if (!author_has_nulls(author, t) || author_chance(author, 55))
    return as_id(author, t, number);
  if (author_chance(author, 40))
    return "null";
  next = (next + 1) % 4;
  snprintf(texts[next], sizeof texts[next], "nullif(%s, %s)", as_id(author, t, number), as_id(author, t, "2"));
  return texts[next];
}

static const char *digit(int number) {
  static char texts[8][8];
  static int next;
  next = (next + 1) % 8;
  snprintf(texts[next], sizeof texts[next], "%d", number);
  return texts[next];
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* A whole number where `near` stands for the number of a row at hand; "" where there is none. */
static const char *number_near(struct author *author, const char *near) {
  static char texts[4][SHORT];
  static int next;
  next = (next + 1) % 4;
  if (near[0] == '\0' || author_chance(author, 15))
    snprintf(texts[next], SHORT, "%d", some_id(author));
  else
    snprintf(texts[next], SHORT, "%s %s", near, ONE_OF(author, "", "", "+ 1", "- 1"));
  return texts[next];
}

const char *name_of(struct author *author, int t, char *text, size_t size) {
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
  if (author_chance(author, 25))
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
  if (kind == PAIR || kind == HASHES || kind == NULLABLE_PAIR)
    return ONE_OF(author, "", "", " on conflict do nothing", " on conflict (id, g) do update set n = excluded.n",
                  " on conflict (g, id) do update set id = excluded.id, s = 'y'");
  if (kind == KEYLESS || kind == DEFERRED || kind == PARTS)
    return ONE_OF(author, "", "", " on conflict do nothing");
  return ONE_OF(author, "", "", " on conflict do nothing", " on conflict (id) do update set n = excluded.n",
                " on conflict (id) do update set id = excluded.id, s = 'y'",
                " on conflict (id) do update set g = excluded.g",
                " on conflict (id) do update set s = 'z' where excluded.n > 1");
}

static void write_insert(struct author *author, const char *table, int t, const char *near, char *text, size_t size) {
  const char *conflict = conflict_of(author, t);
  int g = roll(&author->dice, 2);
  int from = roll(&author->dice, 3);
  if (author_chance(author, 10)) {
    write_copy(author, table, t, text, size);
  } else if (author_chance(author, 15)) {
    snprintf(text, size, "insert into %s (id, g, n, r) select %s, %d, 1, %s%s", table,
             value_of(author, t, number_near(author, near)), g, as_id(author, t, number_near(author, near)), conflict);
  } else if (author_chance(author, 50)) {
    snprintf(text, size, "insert into %s (id, g, n) values (%s, %d, %s)%s", table,
             value_of(author, t, number_near(author, near)), g, number(author, "2"), conflict);
  } else if (author_chance(author, 70)) {
    snprintf(text, size, "insert into %s (id, g, n) select %s, %d, %s from generate_series(%d, %d) as i%s", table,
             value_of(author, t, "i"), g, number(author, "i"), from, 2 + roll(&author->dice, 4), conflict);
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
  snprintf(set, size, "id = %s%s", value_of(author, t, shifted), ONE_OF(author, "", "", ", g = 3 - g", ", n = g"));
}

/* A statement that sets off others writes to several rows, if it can. */
static void write_where(struct author *author, int t, const char *near, char *where, size_t size) {
  switch (roll(&author->dice, near[0] == '\0' ? 6 : 4)) {
  case 1:
  case 5:
  case 6:
    where[0] = '\0';
    break;
  case 2:
    snprintf(where, size, " where n %s %d", ONE_OF(author, "<", ">", "="), roll(&author->dice, 4));
    break;
  case 4:
    if (author_has_nulls(author, t)) {
      snprintf(where, size, " where %s is null", ONE_OF(author, "id", "g", "r"));
      break;
    }
    /* fall through */
  default:
    snprintf(where, size, " where id %s %s", ONE_OF(author, "=", "=", "<>", ">"),
             as_id(author, t, number_near(author, near)));
    break;
  }
}

void sentence_of_null(struct author *author, int t, char *text, size_t size) {
  char table[NAME];
  name_of(author, t, table, sizeof table);
  const char *column = author->kinds[t] == NULLABLE || author_chance(author, 50) ? "id" : "g";
  const char *value = strcmp(column, "id") == 0 ? as_id(author, t, digit(some_id(author))) : digit(some_id(author));
  if (author_chance(author, 50))
    snprintf(text, size, "update %s set %s = null where %s = %s", table, column, column, value);
  else
    snprintf(text, size, "update %s set %s = %s where ctid = (select ctid from %s where %s is null limit 1)", table,
             column, value, table, column);
}

static void write_update(struct author *author, const char *table, int t, const char *near, char *text, size_t size) {
  char set[200];
  char where[200];
  if (author_has_nulls(author, t) && author_chance(author, 45)) {
    sentence_of_null(author, t, text, size);
    return;
  }
  if (author_chance(author, 6)) {
    snprintf(text, size, "update %s as u set %s from nasty.t%d as x where x.g = u.g", table,
             ONE_OF(author, "n = coalesce(u.n, 0) + x.n", "s = x.s", "g = 3 - x.g"), author_table(author));
    return;
  }
  switch (roll(&author->dice, 10)) {
  case 1:
    snprintf(set, sizeof set, "id = %s", value_of(author, t, number_near(author, as_number(author, t, "id"))));
    break;
  case 2:
    snprintf(set, sizeof set, "g = %s",
             author_has_nulls(author, t) ? ONE_OF(author, "null", "coalesce(3 - g, 1)", "nullif(g, 2)") : "3 - g");
    break;
  case 3:
    /* more than 100 kB is captured in another way */
    snprintf(set, sizeof set, "s = %s",
             author_chance(author, 6) ? "repeat('x', 101000)" : ONE_OF(author, "'x'", "'y'", "'z'"));
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
      snprintf(set, sizeof set, "e%d = %s", author->extra[t], ONE_OF(author, "'1'", "'4'", "default", "null"));
      break;
    }
    /* fall through */
  default:
    snprintf(set, sizeof set, "n = coalesce(n, 0) + %d", roll(&author->dice, 3) - 2);
    break;
  }
  write_where(author, t, near, where, sizeof where);
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

void sentence_write(struct author *author, const char *near, char *text, size_t size) {
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
