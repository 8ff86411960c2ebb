/* What is written as YAML is read again as it was; what cannot be read is named by its place. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/yaml_reader.h"
#include "common/yaml_writer.h"

static struct error error;

static struct tree *read_text(const char *text) {
  struct buffer buffer;
  struct tree *tree = NULL;
  buffer_init(&buffer, YAML_FILE_LIMIT);
  buffer_add_string(&buffer, text);
  if (!yaml_read(&tree, "f.yaml", &buffer, &error))
    tree = NULL;
  buffer_release(&buffer);
  return tree;
}

static void fails(const char *text, const char *message) {
  cr_assert_null(read_text(text), "%s", text);
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_not_null(strstr(error.message, message), "%s", error.message);
}

/* Some look like other values, or like marks of YAML. */
static const char *const texts[] = {"",
                                    " ",
                                    "a",
                                    "null",
                                    "~",
                                    "true",
                                    "No",
                                    "007",
                                    "1e3",
                                    "-1",
                                    "2026-01-01",
                                    "90 days",
                                    "1 year 2 mons",
                                    "90 ",
                                    "a: b",
                                    "a:",
                                    "- a",
                                    "# a",
                                    "a #b",
                                    "'",
                                    "\"",
                                    "\\",
                                    "a\nb",
                                    "a\nb\n",
                                    "a\n\n\nb\n\n",
                                    "\n",
                                    "\na",
                                    " a\nb",
                                    "\ta\n\tb",
                                    "a \nb\t\n",
                                    "a\r\nb",
                                    "\x7f",
                                    "\xc2\x80x",
                                    "\xc2\x85",
                                    "\xe2\x80\xa8\n",
                                    "\xef\xbb\xbf\nb",
                                    "\xef\xbf\xbf",
                                    "\x01\n",
                                    "\xf0\x9f\x98\x80",
                                    "${A}",
                                    "{a}",
                                    "[a]",
                                    "a, b",
                                    "!a",
                                    "&a",
                                    "*a",
                                    "%a",
                                    "@a",
                                    "`a`",
                                    "|",
                                    ">",
                                    "? a",
                                    "a?b=c&d",
                                    "---",
                                    "--- a\n---\n",
                                    "...",
                                    "select *\n  from x\n\n where id = any ($1)\n",
                                    "  indented\nless",
                                    "x'y",
                                    "a\n ",
                                    "\n \na",
                                    "a\n# b\n"};

Test(yaml, texts_of_every_kind_are_read_as_they_were_written) {
  size_t count = sizeof texts / sizeof texts[0];
  struct tree *map = tree_new(TREE_MAP, NULL);
  struct tree *list = tree_new(TREE_LIST, NULL);
  struct tree *inner = tree_new(TREE_MAP, NULL);
  for (size_t i = 0; i < count; i++) {
    cr_assert(tree_append(list, NULL, tree_new(TREE_TEXT, strdup(texts[i]))));
    cr_assert(tree_append(inner, tree_new(TREE_TEXT, strdup(texts[i])), tree_new(TREE_TEXT, strdup(texts[i]))));
  }
  cr_assert(tree_append(map, tree_new(TREE_TEXT, strdup("list")), list));
  cr_assert(tree_append(map, tree_new(TREE_TEXT, strdup("map")), inner));
  cr_assert(tree_append(map, tree_new(TREE_TEXT, strdup("none")), tree_new(TREE_NULL, NULL)));
  cr_assert(tree_append(map, tree_new(TREE_TEXT, strdup("empty")), tree_new(TREE_MAP, NULL)));
  struct buffer yaml;
  buffer_init(&yaml, YAML_FILE_LIMIT);
  yaml_add_map(&yaml, map);
  struct tree *again = read_text(yaml.data);
  cr_assert_not_null(again, "%s\n%s", error.message, yaml.data);
  const struct tree *read = tree_find(again, "list");
  for (size_t i = 0; i < count; i++)
    cr_assert_str_eq(read->items[i]->text, texts[i], "%s", yaml.data);
  cr_assert(tree_equal(map, again), "%s", yaml.data);
  struct buffer json;
  struct tree *of_json;
  buffer_init(&json, YAML_FILE_LIMIT);
  tree_add_json(&json, map);
  cr_assert(yaml_read_json(&of_json, json.data, &error), "%s", error.message);
  cr_assert(tree_equal(map, of_json), "%s", json.data);
}

Test(yaml, values_are_texts_and_only_null_is_none) {
  struct tree *tree = read_text("a: 007\nb: yes\nc:\nd: ~\ne: \"null\"\nf: 1.50\n");
  cr_assert_str_eq(tree_text(tree, "a"), "007");
  cr_assert_str_eq(tree_text(tree, "b"), "yes");
  cr_assert_eq(tree_find(tree, "c")->kind, TREE_NULL);
  cr_assert_eq(tree_find(tree, "d")->kind, TREE_NULL);
  cr_assert_str_eq(tree_text(tree, "e"), "null");
  struct buffer json;
  buffer_init(&json, 1024);
  tree_add_json(&json, tree);
  cr_assert_str_eq(json.data,
                   "{\"a\": \"007\", \"b\": \"yes\", \"c\": null, \"d\": null, \"e\": \"null\", \"f\": 1.50}");
}

Test(yaml, a_place_is_line_and_column) {
  struct tree *tree = read_text("a:\n  b: [c,\n      d]\n");
  const struct tree *list = tree_find(tree_find(tree, "a"), "b");
  cr_assert_eq(list->line, 2);
  cr_assert_eq(list->column, 6);
  cr_assert_eq(list->items[1]->line, 3);
  cr_assert_eq(list->items[1]->column, 7);
}

Test(yaml, what_cannot_be_read_is_named_by_its_place) {
  fails("a: [1, 2\nb: 3\n", "f.yaml:2:");
  fails("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: this name stands twice: a");
  fails("a: &x 1\nb: *x\n", "f.yaml:1:4: anchors");
  fails("a: 1\nb: *x\n", "f.yaml:2:4: anchors");
  fails("a: !!str 1\n", "f.yaml:1:4: tags");
  fails("a: 1\n---\nb: 1\n", "f.yaml:2:1: a file has one document");
  fails("? [a]\n: b\n", "f.yaml:1:3: a name must be a text");
  fails("a: \"x\\0y\"\n", "zero byte");
  fails("a: \x01\n", "f.yaml: byte 4");
  char deep[200];
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  fails(deep, "within one another");
}

Test(yaml, an_empty_file_is_an_empty_map) {
  struct tree *tree = read_text("# nothing\n");
  cr_assert_eq(tree->kind, TREE_MAP);
  cr_assert_eq(tree->count, 0);
}
