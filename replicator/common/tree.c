#include "common/tree.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct tree *tree_new(enum tree_kind kind, char *text) {
  struct tree *tree = calloc(1, sizeof *tree);
  if (tree == NULL) {
    free(text);
    return NULL;
  }
  tree->kind = kind;
  tree->text = text;
  return tree;
}

void tree_free(struct tree *tree) {
  if (tree == NULL)
    return;
  for (size_t i = 0; i < tree->count; i++) {
    tree_free(tree->items[i]);
    if (tree->names != NULL)
      tree_free(tree->names[i]);
  }
  free(tree->items);
  free(tree->names);
  free(tree->text);
  free(tree);
}

/* Makes room for one more; the array doubles whenever it holds a power of two. */
static bool grow(struct tree ***array, size_t count) {
  if ((count & (count - 1)) != 0)
    return true;
  struct tree **grown = realloc(*array, (count == 0 ? 1 : 2 * count) * sizeof *grown);
  if (grown == NULL)
    return false;
  *array = grown;
  return true;
}

bool tree_append(struct tree *tree, struct tree *name, struct tree *item) {
  bool is_map = tree->kind == TREE_MAP;
  if (item == NULL || (is_map && name == NULL) || !grow(&tree->items, tree->count) ||
      (is_map && !grow(&tree->names, tree->count))) {
    tree_free(name);
    tree_free(item);
    return false;
  }
  tree->items[tree->count] = item;
  if (is_map)
    tree->names[tree->count] = name;
  tree->count++;
  return true;
}

struct tree *tree_find(const struct tree *map, const char *name) {
  if (map == NULL || map->kind != TREE_MAP)
    return NULL;
  for (size_t i = 0; i < map->count; i++)
    if (strcmp(map->names[i]->text, name) == 0)
      return map->items[i];
  return NULL;
}

const char *tree_text(const struct tree *map, const char *name) {
  const struct tree *item = tree_find(map, name);
  return item != NULL && item->kind == TREE_TEXT ? item->text : NULL;
}

bool tree_is_literal(const struct tree *tree) {
  if (tree->kind != TREE_TEXT || !tree->is_plain)
    return false;
  json_t *value = json_loads(tree->text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
  bool is_literal = json_is_number(value) || json_is_boolean(value);
  json_decref(value);
  return is_literal;
}

static bool equal_maps(const struct tree *one, const struct tree *other) {
  for (size_t i = 0; i < one->count; i++) {
    const struct tree *item = tree_find(other, one->names[i]->text);
    if (item == NULL || !tree_equal(one->items[i], item))
      return false;
  }
  return true;
}

bool tree_equal(const struct tree *one, const struct tree *other) {
  if (one->kind != other->kind || one->count != other->count)
    return false;
  if (one->kind == TREE_TEXT)
    return strcmp(one->text, other->text) == 0 && tree_is_literal(one) == tree_is_literal(other);
  if (one->kind == TREE_MAP)
    return equal_maps(one, other);
  for (size_t i = 0; i < one->count; i++)
    if (!tree_equal(one->items[i], other->items[i]))
      return false;
  return true;
}

void tree_add_json(struct buffer *buffer, const struct tree *tree) {
  if (tree->kind == TREE_NULL) {
    buffer_add_string(buffer, "null");
  } else if (tree->kind == TREE_TEXT) {
    if (tree_is_literal(tree))
      buffer_add_string(buffer, tree->text);
    else
      buffer_add_json_string(buffer, tree->text);
  } else {
    bool is_map = tree->kind == TREE_MAP;
    buffer_add_string(buffer, is_map ? "{" : "[");
    for (size_t i = 0; i < tree->count; i++) {
      buffer_add_string(buffer, i > 0 ? ", " : "");
      if (is_map) {
        buffer_add_json_string(buffer, tree->names[i]->text);
        buffer_add_string(buffer, ": ");
      }
      tree_add_json(buffer, tree->items[i]);
    }
    buffer_add_string(buffer, is_map ? "}" : "]");
  }
}
