#include "common/yaml_reader.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/file_text.h"
#include "common/yaml_writer.h"

/* Maps and lists within one another: more would be a mistake, and could exhaust the stack. */
#define DEEPEST 32

struct reader {
  yaml_parser_t parser;
  const char *file;
  bool has_places; /* places in it mean something to a person */
  int depth;
  struct error *error;
};

/* An error at a place, which libyaml counts from 0. */
static bool fail_at(struct reader *reader, yaml_mark_t mark, const char *format, const char *word) {
  char words[256];
  snprintf(words, sizeof words, "%s%s", format, word);
  return error_set(reader->error, FAILURE_USAGE, "%s:%zu:%zu: %s", reader->file, mark.line + 1, mark.column + 1, words);
}

static bool next_event(struct reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event))
    return true;
  const yaml_parser_t *parser = &reader->parser;
  if (parser->error == YAML_MEMORY_ERROR)
    return error_set(reader->error, FAILURE_RETRY, "out of memory");
  if (parser->error == YAML_READER_ERROR)
    return error_set(reader->error, FAILURE_USAGE, "%s: byte %zu: %s", reader->file, parser->problem_offset + 1,
                     parser->problem);
  return fail_at(reader, parser->problem_mark, "this is not YAML: ", parser->problem);
}

static bool is_null(const yaml_event_t *event) {
  static const char *const words[] = {"", "~", "null", "Null", "NULL"};
  if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp((const char *)event->data.scalar.value, words[i]) == 0)
      return true;
  return false;
}

static const char *forbidden(const yaml_event_t *event) {
  const yaml_char_t *anchor = NULL;
  const yaml_char_t *tag = NULL;
  if (event->type == YAML_SCALAR_EVENT) {
    anchor = event->data.scalar.anchor;
    tag = event->data.scalar.tag;
  } else if (event->type == YAML_MAPPING_START_EVENT) {
    anchor = event->data.mapping_start.anchor;
    tag = event->data.mapping_start.tag;
  } else if (event->type == YAML_SEQUENCE_START_EVENT) {
    anchor = event->data.sequence_start.anchor;
    tag = event->data.sequence_start.tag;
  }
  if (event->type == YAML_ALIAS_EVENT || anchor != NULL)
    return "anchors and aliases (& and *) are not read here; a text that begins so needs quotes";
  return tag != NULL ? "tags (!) are not read here; a text that begins so needs quotes" : NULL;
}

static struct tree *read_node(struct reader *reader, const yaml_event_t *event);

/* Reads a map's name; a map or list cannot be one. */
static struct tree *read_name(struct reader *reader, const struct tree *map, const yaml_event_t *event) {
  if (event->type != YAML_SCALAR_EVENT) {
    (void)fail_at(reader, event->start_mark, "a name must be a text", "");
    return NULL;
  }
  struct tree *name = read_node(reader, event);
  if (name != NULL && name->kind == TREE_NULL) {
    (void)fail_at(reader, event->start_mark, "a name is missing", "");
  } else if (name != NULL && tree_find(map, name->text) != NULL) {
    (void)fail_at(reader, event->start_mark, "this name stands twice: ", name->text);
  } else {
    return name;
  }
  tree_free(name);
  return NULL;
}

/* Reads the item that begins with the event, and in a map its name before. */
static bool read_item(struct reader *reader, struct tree *tree, yaml_event_t *event) {
  struct tree *name = NULL;
  if (tree->kind == TREE_MAP) {
    name = read_name(reader, tree, event);
    yaml_event_delete(event);
    if (name == NULL || !next_event(reader, event)) {
      tree_free(name);
      return false;
    }
  }
  struct tree *item = read_node(reader, event);
  yaml_event_delete(event);
  if (item == NULL) {
    tree_free(name);
    return false;
  }
  return tree_append(tree, name, item) || error_set(reader->error, FAILURE_RETRY, "out of memory");
}

static bool read_items(struct reader *reader, struct tree *tree, yaml_event_type_t end) {
  yaml_event_t event;
  for (;;) {
    if (!next_event(reader, &event))
      return false;
    if (event.type == end) {
      yaml_event_delete(&event);
      return true;
    }
    if (!read_item(reader, tree, &event))
      return false;
  }
}

static struct tree *read_scalar(struct reader *reader, const yaml_event_t *event) {
  const char *text = (const char *)event->data.scalar.value;
  if (memchr(text, '\0', event->data.scalar.length) != NULL) {
    (void)fail_at(reader, event->start_mark, "a text contains a zero byte", "");
    return NULL;
  }
  if (is_null(event))
    return tree_new(TREE_NULL, NULL);
  char *copy = strdup(text);
  struct tree *tree = copy != NULL ? tree_new(TREE_TEXT, copy) : NULL;
  if (tree == NULL)
    (void)error_set(reader->error, FAILURE_RETRY, "out of memory");
  else
    tree->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  return tree;
}

static struct tree *read_node(struct reader *reader, const yaml_event_t *event) {
  const char *problem = forbidden(event);
  if (problem == NULL && reader->depth == DEEPEST)
    problem = "too many maps and lists are within one another";
  if (problem != NULL) {
    (void)fail_at(reader, event->start_mark, problem, "");
    return NULL;
  }
  bool is_map = event->type == YAML_MAPPING_START_EVENT;
  struct tree *tree =
      event->type == YAML_SCALAR_EVENT ? read_scalar(reader, event) : tree_new(is_map ? TREE_MAP : TREE_LIST, NULL);
  if (tree == NULL)
    return NULL;
  if (reader->has_places) {
    tree->line = (int)event->start_mark.line + 1;
    tree->column = (int)event->start_mark.column + 1;
  }
  reader->depth++;
  bool ok = event->type == YAML_SCALAR_EVENT ||
            read_items(reader, tree, is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
  reader->depth--;
  if (ok)
    return tree;
  tree_free(tree);
  return NULL;
}

/* Reads all events; the ends of documents and of the stream say nothing. */
static bool read_stream(struct reader *reader, struct tree **tree) {
  yaml_event_t event;
  bool ends = false;
  while (!ends) {
    if (!next_event(reader, &event))
      return false;
    bool is_node = event.type == YAML_SCALAR_EVENT || event.type == YAML_MAPPING_START_EVENT ||
                   event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_ALIAS_EVENT;
    bool ok = true;
    if (event.type == YAML_DOCUMENT_START_EVENT && *tree != NULL)
      ok = fail_at(reader, event.start_mark, "a file has one document; a second one begins here", "");
    else if (is_node)
      ok = (*tree = read_node(reader, &event)) != NULL;
    ends = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
    if (!ok)
      return false;
  }
  return true;
}

static bool read_text(struct reader *reader, const struct buffer *text, struct tree **tree) {
  struct error *error = reader->error;
  *tree = NULL;
  if (!yaml_parser_initialize(&reader->parser))
    return error_set(error, FAILURE_RETRY, "out of memory");
  yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader->parser, (const unsigned char *)(text->length > 0 ? text->data : ""),
                               text->length);
  bool ok = read_stream(reader, tree);
  yaml_parser_delete(&reader->parser);
  if (ok && (*tree == NULL || (*tree)->kind == TREE_NULL)) {
    tree_free(*tree);
    *tree = tree_new(TREE_MAP, NULL);
    ok = *tree != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (!ok) {
    tree_free(*tree);
    *tree = NULL;
  }
  return ok;
}

bool yaml_read(struct tree **tree, const char *file, const struct buffer *text, struct error *error) {
  struct reader reader = {.file = file, .has_places = true, .error = error};
  return read_text(&reader, text, tree);
}

const char *yaml_file_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool yaml_read_file(struct tree **tree, const char *path, struct error *error) {
  struct buffer text;
  buffer_init(&text, YAML_FILE_LIMIT);
  bool ok = file_text_read(&text, path, error) && yaml_read(tree, yaml_file_name(path), &text, error);
  buffer_release(&text);
  return ok;
}

bool yaml_read_json(struct tree **tree, const char *json, struct error *error) {
  struct reader reader = {.file = "JSON of the source", .error = error};
  struct buffer text;
  buffer_init(&text, YAML_FILE_LIMIT);
  yaml_add_escaped(&text, json);
  bool ok = buffer_ok(&text, "what is set up at the source", error) && read_text(&reader, &text, tree);
  buffer_release(&text);
  return ok;
}
