/*
 * author: who makes up a story (nasty.h): dice, what the tables are like by now, and what has been written so far.
 */
#ifndef ROWRELAY_TESTS_AUTHOR_H
#define ROWRELAY_TESTS_AUTHOR_H

#include "nasty.h"
#include "writers.h"

#define TABLES 3
#define FUNCTIONS 2
#define MOST_TRIGGERS 8
#define NAME 48 /* of a table or trigger, bytes */

enum kind { KEYED, PAIR, UNIQUE, KEYLESS, RANGES, HASHES, PARENT, DEFERRED, PARTS, NULLABLE, NULLABLE_PAIR, KINDS };

/* What column id is: equal numbers and letters may be spelled in several ways. */
enum type { WHOLE, NUMERIC, FLOAT, CITEXT, FOLDED, TYPES };

struct author {
  struct story *story;
  struct dice dice;
  int version;
  const char *voice; /* "", or NASTY_OTHER while what is added is for the other session */
  enum kind kinds[TABLES + 1];
  enum type types[TABLES + 1];
  bool is_plain[TABLES + 1];   /* as most tables of applications are: their triggers have a short way for such rows */
  bool has_domain[TABLES + 1]; /* its ids are of a domain over int */
  /* As far as the author knows: what fails, or is rolled back, is not noticed. */
  int extra[TABLES + 1];       /* table t has a column e7 for which nobody depends on it, if this is 7 */
  bool has_number[TABLES + 1]; /* the values of that column are numbers, whatever its type is */
  int extras;                  /* so many had been made: no name is used twice */
  bool has_view[TABLES + 1];
  bool has_late_child[TABLES + 1];
  bool is_renamed[TABLES + 1];
  bool has_other_text[TABLES + 1]; /* its column s is called s2 */
  bool has_document; /* of which tables are the sources: their filters would hide changes, and its query has their names
                      */
  int sources[2];    /* these tables */
  char triggers[MOST_TRIGGERS][2][NAME]; /* table, name */
  size_t made_at[MOST_TRIGGERS];         /* the statements that made them */
  int trigger_count;
  bool is_open[2]; /* a transaction of the first session, and of the other */
  bool is_prepared;
  int favourite; /* a table that is written to more often than others, or 0 */
};

bool author_chance(struct author *author, int percent);
const char *author_one_of(struct author *author, const char *const *words, int count);
#define ONE_OF(author, ...)                                                                                            \
  author_one_of(author, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
/* One of the tables. */
int author_table(struct author *author);

/* Adds a statement to the story. */
void author_add(struct author *author, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether columns id and g of a table may be null, though they are its key. */
bool author_has_nulls(const struct author *author, int t);

/* Whether a table is neither a partition nor a parent: others cannot be captured by statement. */
bool author_stands_alone(const struct author *author, int t);

#endif
