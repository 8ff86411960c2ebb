/*
 * tree: what a YAML or JSON file says, as texts, lists and maps that know where they stand in the file. Types are not
 * guessed: `007`, `yes` and `2026-01-01` are texts, and what reads a tree decides what they mean.
 */
#ifndef ROWRELAY_COMMON_TREE_H
#define ROWRELAY_COMMON_TREE_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"

enum tree_kind { TREE_NULL, TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree {
  enum tree_kind kind;
  bool is_plain; /* a text that stands without quotes */
  int line;      /* where it begins, from 1; 0: in no file */
  int column;
  char *text;          /* of TREE_TEXT, NUL-terminated; owned, like all below */
  size_t count;        /* of items */
  struct tree **items; /* elements of a list, or values of a map */
  struct tree **names; /* of a map: a text for each item, each once */
};

/* On the heap; NULL: out of memory. It takes the text, which may be NULL, also when it fails. */
struct tree *tree_new(enum tree_kind kind, char *text);
/* NULL is allowed. */
void tree_free(struct tree *tree);

/*
 * Appends to a list (`name` is NULL) or a map. It takes `name` and `item`, also when it fails, which it does when
 * memory runs out or one of them is NULL.
 */
MUST_CHECK bool tree_append(struct tree *tree, struct tree *name, struct tree *item);

/* The value of a name; NULL: the map does not have it, or `map` is NULL or no map. Borrowed. */
struct tree *tree_find(const struct tree *map, const char *name);
/* The same, as a text; NULL also where it is null or no text. */
const char *tree_text(const struct tree *map, const char *name);

/* Whether both say the same; maps in any order. A plain number, true or false is not the text in quotes. */
bool tree_equal(const struct tree *one, const struct tree *other);

/* Whether it is a plain text that JSON has as a number, true or false. */
bool tree_is_literal(const struct tree *tree);
/* Appends it as JSON. A plain text that JSON has as a number, true or false is one; any other text is in quotes. */
void tree_add_json(struct buffer *buffer, const struct tree *tree);

#endif
