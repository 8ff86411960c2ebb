#include "common/yaml_writer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define INDENT 2

/*
 * Bytes of the character at `c` if YAML does not allow it or takes it for a line break, else 0: DEL, C1 controls, line
 * and paragraph separators, a byte order mark, U+FFFE, U+FFFF.
 */
static size_t forbidden_length(const unsigned char *c) {
  if (*c == 0x7F)
    return 1;
  if (*c == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F)
    return 2;
  if (*c == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9))
    return 3;
  if (*c == 0xEF && ((c[1] == 0xBB && c[2] == 0xBF) || (c[1] == 0xBF && c[2] >= 0xBE)))
    return 3;
  return 0;
}

static unsigned int code_of(const unsigned char *c, size_t length) {
  if (length == 1)
    return c[0];
  if (length == 2)
    return (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU);
  return (c[0] & 0x0FU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU);
}

void yaml_add_escaped(struct buffer *yaml, const char *json) {
  const char *plain = json;
  for (const char *c = json; *c != '\0'; c++) {
    size_t length = forbidden_length((const unsigned char *)c);
    if (length == 0)
      continue;
    buffer_add(yaml, plain, (size_t)(c - plain));
    buffer_add_format(yaml, "\\u%04x", code_of((const unsigned char *)c, length));
    c += length - 1;
    plain = c + 1;
  }
  buffer_add_string(yaml, plain);
}

/* Words that some reader takes for something else than a text. */
static bool is_reserved(const char *text) {
  static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(text, words[i]) == 0)
      return true;
  return false;
}

/* Such as 90 days or 1 year 6 mons, which nobody takes for a number. */
static bool is_interval(const char *text) {
  bool has_unit = false;
  if (!isdigit((unsigned char)*text))
    return false;
  for (const char *c = text; *c != '\0'; c++) {
    if (!isalnum((unsigned char)*c) && !(*c == ' ' && isalnum((unsigned char)c[1])))
      return false;
    has_unit = has_unit || (*c == ' ' && isalpha((unsigned char)c[1]));
  }
  return has_unit;
}

/* Whether the text needs no quotes anywhere. Quoting more than necessary does no harm. */
static bool is_plain(const char *text) {
  if (is_interval(text))
    return true;
  if (*text == '\0' || is_reserved(text) || !(isalpha((unsigned char)*text) || strchr("/_", *text) != NULL))
    return false;
  for (const char *c = text; *c != '\0'; c++) {
    bool is_word = isalnum((unsigned char)*c) || strchr("_./+-@$=", *c) != NULL;
    /* A colon before a blank would end a name, and a blank before # begin a comment. */
    bool is_between = (*c == ' ' || *c == ':') && isalnum((unsigned char)c[1]);
    if (!is_word && !is_between && !(*c == ':' && c[1] == '/'))
      return false;
  }
  return true;
}

/* Whether the text can be a block: lines without controls, and not only line breaks. */
static bool is_block(const char *text) {
  if (strchr(text, '\n') == NULL || text[strspn(text, "\n \t")] == '\0')
    return false;
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
    if ((*c < 0x20 && *c != '\n' && *c != '\t') || forbidden_length(c) > 0)
      return false;
  }
  return true;
}

static void add_quoted(struct buffer *yaml, const char *text) {
  struct buffer quoted;
  buffer_init(&quoted, yaml->limit);
  buffer_add_json_string(&quoted, text);
  if (quoted.overflow)
    yaml->overflow = true;
  else
    yaml_add_escaped(yaml, quoted.data);
  buffer_release(&quoted);
}

static void add_indent(struct buffer *yaml, size_t depth) {
  for (size_t i = 0; i < depth * INDENT; i++)
    buffer_add_string(yaml, " ");
}

/* A block says how it ends: "-" without a line break, nothing with one, "+" with more. */
static void add_block(struct buffer *yaml, const char *text, size_t depth) {
  size_t length = strlen(text);
  bool ends = text[length - 1] == '\n';
  bool ends_twice = ends && text[length - 2] == '\n';
  buffer_add_string(yaml, "|");
  if (strchr(" \t\n", *text) != NULL)
    buffer_add_format(yaml, "%d", INDENT);
  buffer_add_string(yaml, ends_twice ? "+" : ends ? "" : "-");
  while (*text != '\0') {
    size_t line = strcspn(text, "\n");
    buffer_add_string(yaml, "\n");
    if (line > 0) {
      add_indent(yaml, depth);
      buffer_add(yaml, text, line);
    }
    text += line;
    if (*text == '\n' && *++text == '\0' && ends_twice)
      return; /* the break that ends the item is the last one of the text */
  }
}

static void add_text(struct buffer *yaml, const struct tree *tree) {
  if (tree_is_literal(tree) || is_plain(tree->text))
    buffer_add_string(yaml, tree->text);
  else
    add_quoted(yaml, tree->text);
}

/* In one line, as JSON has it. */
static void add_inline(struct buffer *yaml, const struct tree *tree) {
  if (tree->kind == TREE_NULL) {
    buffer_add_string(yaml, "null");
  } else if (tree->kind == TREE_TEXT) {
    add_text(yaml, tree);
  } else {
    bool is_map = tree->kind == TREE_MAP;
    buffer_add_string(yaml, is_map ? "{" : "[");
    for (size_t i = 0; i < tree->count; i++) {
      buffer_add_string(yaml, i > 0 ? ", " : "");
      if (is_map) {
        add_text(yaml, tree->names[i]);
        buffer_add_string(yaml, ": ");
      }
      add_inline(yaml, tree->items[i]);
    }
    buffer_add_string(yaml, is_map ? "}" : "]");
  }
}

static bool is_short_list(const struct tree *tree) {
  size_t length = 0;
  for (size_t i = 0; i < tree->count; i++) {
    if (tree->items[i]->kind != TREE_TEXT || !is_plain(tree->items[i]->text))
      return false;
    length += strlen(tree->items[i]->text) + 2;
  }
  return length < 80;
}

static void add_map(struct buffer *yaml, const struct tree *map, size_t depth);

/* What follows a name and its colon, or the dash of a list; ends with a line break. */
static void add_item(struct buffer *yaml, const struct tree *item, size_t depth) {
  if (item->kind == TREE_MAP && item->count > 0) {
    buffer_add_string(yaml, "\n");
    add_map(yaml, item, depth);
    return;
  }
  if (item->kind == TREE_LIST && !is_short_list(item)) {
    for (size_t i = 0; i < item->count; i++) {
      buffer_add_string(yaml, "\n");
      add_indent(yaml, depth);
      buffer_add_string(yaml, "- ");
      if (item->items[i]->kind == TREE_TEXT && is_block(item->items[i]->text))
        add_block(yaml, item->items[i]->text, depth + 1);
      else
        add_inline(yaml, item->items[i]);
    }
  } else {
    buffer_add_string(yaml, " ");
    if (item->kind == TREE_TEXT && is_block(item->text))
      add_block(yaml, item->text, depth);
    else
      add_inline(yaml, item);
  }
  buffer_add_string(yaml, "\n");
}

static void add_map(struct buffer *yaml, const struct tree *map, size_t depth) {
  for (size_t i = 0; i < map->count; i++) {
    add_indent(yaml, depth);
    add_text(yaml, map->names[i]);
    buffer_add_string(yaml, ":");
    add_item(yaml, map->items[i], depth + 1);
  }
}

void yaml_add_map(struct buffer *yaml, const struct tree *map) {
  add_map(yaml, map, 0);
}
