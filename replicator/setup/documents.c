#include "setup/documents.h"

#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/shell.h"
#include "queries.h"
#include "setup/targets.h"

/* What makes a document, in the order of SETUP_DOCUMENT_KEYS. Another one of these makes it another document; options
 * and paused, which follow, can be set. */
enum { TARGET, KEY, QUERY, FROM, INTO, CREATE, SEARCH, SEARCH_PATH, DEFINITION_COUNT };

struct document {
  const struct tree *name; /* in the file */
  const struct tree *wanted;
  const struct tree *present; /* NULL: it is not there */
};

/* What the document will have; NULL: the default. */
static const struct tree *value_of(const struct document *document, int key) {
  const char *name = SETUP_DOCUMENT_KEYS[key].name;
  const struct tree *wanted = tree_find(document->wanted, name);
  if (wanted == NULL)
    wanted = tree_find(document->present, name);
  return wanted != NULL && wanted->kind != TREE_NULL ? wanted : NULL;
}

static const char *text_of(const struct document *document, int key) {
  const struct tree *value = value_of(document, key);
  return value != NULL ? value->text : NULL;
}

/* Reads one source as the database writes it; its table goes to `used` unless that is NULL. */
static bool read_source(struct setup *setup, struct tree *source, const char *path, struct tree *used,
                        struct error *error) {
  PGresult *reply = NULL;
  struct buffer array;
  const char *text = source->text;
  buffer_init(&array, LIST_LIMIT);
  array_add_texts(&array, 1, &text);
  bool ok = buffer_ok(&array, "a source", error);
  if (ok && !call_run(setup->source, &QUERY_setup_sources, VALUES(array.data, path), &reply, error)) {
    struct error cause = *error;
    ok = setup_fail(setup->file, source, error, "%s", cause.message);
    error_hint(error, "%s", cause.hint);
  }
  buffer_release(&array);
  if (!ok)
    return false;
  const char *table = PQgetvalue(reply, 0, DOCUMENT_SOURCE_RELATION);
  char *copy = strdup(PQgetvalue(reply, 0, DOCUMENT_SOURCE_TEXT));
  if (used != NULL && tree_find(used, table) == NULL)
    ok = tree_append(used, tree_new(TREE_TEXT, strdup(table)), tree_new(TREE_NULL, NULL));
  if (copy != NULL) {
    free(source->text);
    source->text = copy;
  }
  PQclear(reply);
  return (ok && copy != NULL) || error_set(error, FAILURE_RETRY, "out of memory");
}

static bool read_sources(struct setup *setup, const struct tree *document, struct tree *used, struct error *error) {
  const struct tree *sources = tree_find(document, "from");
  for (size_t i = 0; sources != NULL && i < sources->count; i++)
    if (!read_source(setup, sources->items[i], tree_text(document, "search_path"), used, error))
      return false;
  return true;
}

/* As the database keeps it: without semicolons and blanks at its end. */
static void trim_query(struct tree *query) {
  if (query == NULL || query->kind != TREE_TEXT)
    return;
  size_t length = strlen(query->text);
  while (length > 0 && strchr("; \t\r\n\f\v", query->text[length - 1]) != NULL)
    length--;
  query->text[length] = '\0';
}

/* These decide how the target is written to, so they are its own. */
static bool check_options(const struct setup *setup, const struct tree *options, struct error *error) {
  for (size_t i = 0; options != NULL && i < options->count; i++) {
    const struct tree *name = options->names[i];
    if (strcmp(name->text, "lanes") == 0 || strcmp(name->text, "mode") == 0)
      return setup_fail(setup->file, name, error, "a document has no option %s; its target has", name->text);
  }
  return targets_check_options(setup, options, error);
}

static bool check_needed(const struct setup *setup, const struct document *document, struct error *error) {
  for (int i = TARGET; i <= FROM; i++)
    if (value_of(document, i) == NULL) {
      setup_fail(setup->file, document->name, error, "document \"%s\" has no %s", document->name->text,
                 SETUP_DOCUMENT_KEYS[i].name);
      return error_hint(error, "a document that is not there yet needs target, key, query and from");
    }
  return true;
}

/* The lists that a document's functions take. */
struct lists {
  struct buffer sources;
  struct buffer search;
  struct buffer options; /* of the target, to check it */
  struct buffer own;     /* the document's own options */
};

static bool lists_read(struct lists *lists, const struct document *document, struct error *error) {
  buffer_init(&lists->sources, LIST_LIMIT);
  buffer_init(&lists->search, LIST_LIMIT);
  buffer_init(&lists->options, LIST_LIMIT);
  buffer_init(&lists->own, LIST_LIMIT);
  (void)setup_add_value(&lists->sources, &SETUP_DOCUMENT_KEYS[FROM], value_of(document, FROM));
  if (value_of(document, SEARCH) != NULL && value_of(document, SEARCH)->count > 0)
    (void)setup_add_value(&lists->search, &SETUP_DOCUMENT_KEYS[SEARCH], value_of(document, SEARCH));
  targets_add_options(&lists->own, tree_find(document->wanted, "options"), tree_find(document->present, "options"));
  return buffer_ok(&lists->sources, "the list of tables", error) &&
         buffer_ok(&lists->search, "the list of columns", error) && buffer_ok(&lists->own, "the options", error);
}

static void lists_release(struct lists *lists) {
  buffer_release(&lists->sources);
  buffer_release(&lists->search);
  buffer_release(&lists->options);
  buffer_release(&lists->own);
}

static bool will_be_paused(const struct document *document) {
  const char *paused = tree_text(document->wanted, "paused");
  if (paused == NULL)
    paused = tree_text(document->present, "paused");
  return paused != NULL && strcmp(paused, "true") == 0;
}

/* All in one transaction: a document is replaced, or stays as it was. */
static bool add_requests(struct setup *setup, struct step *step, const struct document *document,
                         const struct lists *lists, struct error *error) {
  const char *name = document->name->text;
  const char *create = text_of(document, CREATE);
  const struct document_wanted wanted = {.name = name,
                                         .target = text_of(document, TARGET),
                                         .key = text_of(document, KEY),
                                         .query = text_of(document, QUERY),
                                         .sources = lists->sources.data,
                                         .into = text_of(document, INTO),
                                         .create = create != NULL ? create : "false",
                                         .search = lists->search.data,
                                         .lock_wait = setup->lock_wait,
                                         .path = text_of(document, SEARCH_PATH)};
  return (document->present == NULL || step_call(step, &QUERY_cmd_document_drop, VALUES(name), error)) &&
         request_document_add(step_next_request(step), &wanted, error) &&
         (strcmp(lists->own.data, "{}") == 0 ||
          step_call(step, &QUERY_cmd_target_set, VALUES(name, NULL, lists->own.data), error)) &&
         (!will_be_paused(document) || step_call(step, &QUERY_cmd_target_pause, VALUES(name), error));
}

static void tell(struct step *step, const struct document *document) {
  const char *name = document->name->text;
  struct shell_word word;
  buffer_add_format(&step->object, "document %s", name);
  buffer_add_format(&step->advice, "to build the existing ones, run: rowrelay backfill --document %s",
                    shell_quote(&word, name));
  for (int i = 0; i < DEFINITION_COUNT; i++) {
    const struct setup_key *key = &SETUP_DOCUMENT_KEYS[i];
    const struct tree *wanted = tree_find(document->wanted, key->name);
    const struct tree *present = tree_find(document->present, key->name);
    if (document->present == NULL ? wanted != NULL : setup_differs(key, wanted, present))
      step_tell(step, key->name, wanted, present);
  }
  if (step->verb == STEP_REPLACE)
    buffer_add_string(&step->details, "; then its rows must be built again");
}

/* Of a new document, or one whose definition differs. */
static bool plan_definition(struct setup *setup, const struct document *document, struct error *error) {
  const char *url;
  struct lists lists = {0};
  if (!check_needed(setup, document, error))
    return false;
  struct step *step =
      steps_add(&setup->steps, document->present == NULL ? STEP_ADD : STEP_REPLACE, document->name, error);
  if (step == NULL)
    return false;
  tell(step, document);
  const struct tree *target = value_of(document, TARGET);
  bool ok = lists_read(&lists, document, error) && setup_find_target(setup, target, &url, &lists.options, error) &&
            step_check_by(step, &QUERY_setup_check_document,
                          VALUES(document->name->text, target->text, url, lists.options.data, text_of(document, KEY),
                                 text_of(document, QUERY), lists.sources.data, lists.search.data,
                                 text_of(document, SEARCH_PATH)),
                          error) &&
            step_check_by(step, &QUERY_setup_check_target, VALUES(document->name->text, url, lists.own.data), error) &&
            add_requests(setup, step, document, &lists, error);
  lists_release(&lists);
  return ok;
}

static bool plan_document(struct setup *setup, const struct document *document, struct error *error) {
  const struct targets_item item = {
      .name = document->name, .wanted = document->wanted, .present = document->present, .what = "document"};
  trim_query(tree_find(document->wanted, "query"));
  if (!read_sources(setup, document->wanted, NULL, error) ||
      !check_options(setup, tree_find(document->wanted, "options"), error))
    return false;
  if (setup_is_named(setup_section(setup->wanted, "targets"), document->name->text) ||
      setup_is_named(setup_section(setup->present, "targets"), document->name->text))
    return setup_fail(setup->file, document->name, error, "\"%s\" is a target; choose another name for the document",
                      document->name->text);
  bool differs = document->present == NULL;
  for (int i = 0; i < DEFINITION_COUNT && !differs; i++) {
    const struct setup_key *key = &SETUP_DOCUMENT_KEYS[i];
    differs = setup_differs(key, tree_find(document->wanted, key->name), tree_find(document->present, key->name));
  }
  if (differs)
    return plan_definition(setup, document, error);
  return targets_plan_change(setup, &item, error) && targets_plan_pause(setup, &item, error);
}

bool documents_plan(struct setup *setup, struct error *error) {
  const struct tree *documents = setup_section(setup->wanted, "documents");
  for (size_t i = 0; documents != NULL && i < documents->count; i++) {
    const struct document document = {
        .name = documents->names[i],
        .wanted = documents->items[i],
        .present = tree_find(setup_section(setup->present, "documents"), documents->names[i]->text)};
    if (!plan_document(setup, &document, error))
      return false;
  }
  return true;
}

bool documents_plan_removal(struct setup *setup, struct error *error) {
  const struct tree *documents = setup_section(setup->wanted, "documents");
  const struct tree *present = setup_section(setup->present, "documents");
  for (size_t i = 0; documents != NULL && i < present->count; i++) {
    const char *name = present->names[i]->text;
    if (setup_is_named(documents, name))
      continue;
    struct step *step = steps_add(&setup->steps, STEP_REMOVE, NULL, error);
    if (step != NULL) {
      buffer_add_format(&step->object, "document %s", name);
      buffer_add_string(&step->details, "the target keeps what it has");
    }
    if (!step_call(step, &QUERY_cmd_document_drop, VALUES(name), error))
      return false;
  }
  return true;
}

bool documents_find_tables(struct setup *setup, struct tree *used, struct error *error) {
  const struct tree *documents = setup_section(setup->wanted, "documents");
  const struct tree *present = setup_section(setup->present, "documents");
  for (size_t i = 0; documents != NULL && i < documents->count; i++)
    if (!read_sources(setup, documents->items[i], used, error))
      return false;
  for (size_t i = 0; i < present->count; i++) {
    const struct tree *wanted = tree_find(documents, present->names[i]->text);
    /* The file removes it, or says itself what it is built from. */
    if (documents != NULL && (wanted == NULL || tree_find(wanted, "from") != NULL))
      continue;
    /* A table that is gone cannot be released. */
    if (!read_sources(setup, present->items[i], used, error))
      error_clear(error);
  }
  return true;
}
