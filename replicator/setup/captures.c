#include "setup/captures.h"

#include <string.h>

#include "cli/array.h"
#include "queries.h"
#include "setup/targets.h"

/* The options of a capture, in the order of SETUP_CAPTURE_KEYS; keep and routes follow them and are steps of their own.
 */
enum { KEY, LANE, COLUMNS, EXCLUDE, MASK, WHERE, BEFORE, ORIGIN, PER, OPTION_COUNT };

struct table {
  struct tree *name;          /* in the file */
  const struct tree *wanted;  /* NULL or null: nothing is said of it */
  const struct tree *present; /* NULL: it is not captured */
  const char *full_name;
};

/* What the step gives, or NULL where it is said nothing of or has the default. */
static const char *value_of(const struct table *table, int option, bool is_reset, struct buffer *text) {
  const struct setup_key *key = &SETUP_CAPTURE_KEYS[option];
  const struct tree *wanted = tree_find(table->wanted, key->name);
  const struct tree *present = tree_find(table->present, key->name);
  if (!setup_differs(key, wanted, present) && table->present != NULL)
    wanted = is_reset ? present : NULL;
  if (wanted == NULL || !setup_add_value(text, key, wanted))
    return NULL;
  return text->data;
}

/* Whether the file takes an option back to a default that has no value: capturing again then resets all, and gives the
 * others. */
static bool needs_reset(const struct table *table) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct setup_key *key = &SETUP_CAPTURE_KEYS[i];
    const struct tree *wanted = tree_find(table->wanted, key->name);
    if (wanted != NULL && wanted->kind == TREE_NULL && key->initial == NULL &&
        tree_find(table->present, key->name) != NULL)
      return true;
  }
  return false;
}

static bool add_requests(struct setup *setup, struct step *step, const struct table *table, struct error *error) {
  struct buffer texts[OPTION_COUNT];
  const char *values[OPTION_COUNT];
  bool is_reset = needs_reset(table);
  bool ok = true;
  for (int i = 0; i < OPTION_COUNT; i++) {
    buffer_init(&texts[i], LIST_LIMIT);
    values[i] = value_of(table, i, is_reset, &texts[i]);
    ok = ok && buffer_ok(&texts[i], SETUP_CAPTURE_KEYS[i].name, error);
  }
  const char *before = values[BEFORE];
  const struct capture_wanted wanted = {
      .table = table->full_name,
      .key = values[KEY],
      .lane = values[LANE],
      .columns = values[COLUMNS],
      .exclude = values[EXCLUDE],
      .mask = values[MASK],
      .where = values[WHERE],
      .before = before == NULL                ? NULL
                : strcmp(before, "true") == 0 ? "full"
                                              : "none",
      .capture_origin = values[ORIGIN],
      .per = values[PER],
      .lock_wait = setup->lock_wait,
      .reset = is_reset,
  };
  ok = ok && request_capture_statements(step_next_check(step), &wanted, error) &&
       request_capture(step_next_request(step), &wanted, error);
  for (int i = 0; i < OPTION_COUNT; i++)
    buffer_release(&texts[i]);
  return ok;
}

static bool plan_capture(struct setup *setup, const struct table *table, struct error *error) {
  bool differs = table->present == NULL;
  for (int i = 0; i < OPTION_COUNT && !differs; i++) {
    const struct setup_key *key = &SETUP_CAPTURE_KEYS[i];
    differs = setup_differs(key, tree_find(table->wanted, key->name), tree_find(table->present, key->name));
  }
  if (!differs)
    return true;
  struct step *step = steps_add(&setup->steps, table->present == NULL ? STEP_ADD : STEP_CHANGE, table->name, error);
  if (step == NULL)
    return false;
  buffer_add_format(&step->object, "capture %s", table->full_name);
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct setup_key *key = &SETUP_CAPTURE_KEYS[i];
    const struct tree *wanted = tree_find(table->wanted, key->name);
    const struct tree *present = tree_find(table->present, key->name);
    if (setup_differs(key, wanted, present) || (table->present == NULL && wanted != NULL))
      step_tell(step, key->name, wanted, present);
  }
  return add_requests(setup, step, table, error);
}

static bool plan_keep(struct setup *setup, const struct table *table, struct error *error) {
  static const struct setup_key key = {.name = "keep", .kind = SETUP_TEXT, .initial = "default"};
  struct tree *wanted = tree_find(table->wanted, key.name);
  const struct tree *present = tree_find(table->present, key.name);
  if (wanted == NULL)
    return true;
  if (wanted->kind == TREE_TEXT && !setup_read_keep(setup, wanted, error))
    return false;
  if (table->present == NULL && (wanted->kind == TREE_NULL || strcmp(wanted->text, key.initial) == 0))
    return true;
  if (!setup_differs(&key, wanted, present))
    return true;
  struct step *step = steps_add(&setup->steps, STEP_CHANGE, wanted, error);
  if (step == NULL)
    return false;
  buffer_add_format(&step->object, "capture %s", table->full_name);
  step_tell(step, key.name, wanted, present);
  struct buffer tables;
  buffer_init(&tables, LIST_LIMIT);
  array_add_texts(&tables, 1, &table->full_name);
  bool ok = buffer_ok(&tables, "a table's name", error) &&
            step_call(step, &QUERY_cmd_keep,
                      VALUES(wanted->kind == TREE_NULL ? key.initial : wanted->text, tables.data), error);
  buffer_release(&tables);
  return ok;
}

struct route {
  const struct tree *name; /* of its target */
  const struct tree *wanted;
  const struct tree *present; /* NULL: there is none */
};

/* Whether into or create differ; whether a place may be shared is not a property of a route. */
static bool route_differs(const struct route *route) {
  for (const struct setup_key *key = SETUP_ROUTE_KEYS; key->name != NULL; key++)
    if (strcmp(key->name, "shared") != 0 &&
        setup_differs(key, tree_find(route->wanted, key->name), tree_find(route->present, key->name)))
      return true;
  return route->present == NULL;
}

static bool add_route(struct setup *setup, struct step *step, const struct table *table, const struct route *route,
                      struct error *error) {
  const char *target = route->name->text;
  const char *url;
  struct buffer options;
  buffer_init(&options, LIST_LIMIT);
  const struct route_wanted wanted = {.table = table->full_name,
                                      .target = target,
                                      .into = tree_text(route->wanted, "into"),
                                      .create = tree_text(route->wanted, "create"),
                                      .like = tree_text(route->wanted, "like"),
                                      .shared = tree_text(route->wanted, "shared")};
  bool ok = setup_find_target(setup, route->name, &url, &options, error) &&
            step_check_by(step, &QUERY_setup_check_route,
                          VALUES(table->full_name, target, url, options.data, wanted.into, wanted.shared), error) &&
            request_route(step_next_request(step), &wanted, error);
  buffer_release(&options);
  return ok;
}

static bool plan_route(struct setup *setup, const struct table *table, const struct route *route, struct error *error) {
  const char *url;
  struct buffer options;
  buffer_init(&options, LIST_LIMIT);
  bool is_there = setup_find_target(setup, route->name, &url, &options, error);
  buffer_release(&options);
  if (!is_there || !route_differs(route))
    return is_there;
  struct step *step = steps_add(&setup->steps, route->present == NULL ? STEP_ADD : STEP_CHANGE, route->name, error);
  if (step == NULL)
    return false;
  buffer_add_format(&step->object, "route %s to %s", table->full_name, route->name->text);
  step->is_new_place = route->present == NULL;
  for (const struct setup_key *key = SETUP_ROUTE_KEYS; key->name != NULL; key++) {
    const struct tree *wanted = tree_find(route->wanted, key->name);
    const struct tree *present = tree_find(route->present, key->name);
    if (wanted != NULL && (route->present == NULL || setup_differs(key, wanted, present)))
      step_tell(step, key->name, wanted, present);
    if (strcmp(key->name, "into") == 0)
      step->is_new_place = step->is_new_place || setup_differs(key, wanted, present);
  }
  return add_route(setup, step, table, route, error);
}

static bool plan_routes(struct setup *setup, const struct table *table, struct error *error) {
  const struct tree *routes = setup_section(table->wanted, "routes");
  const struct tree *present = setup_section(table->present, "routes");
  for (size_t i = 0; routes != NULL && i < routes->count; i++) {
    const struct route route = {
        .name = routes->names[i], .wanted = routes->items[i], .present = tree_find(present, routes->names[i]->text)};
    if (!plan_route(setup, table, &route, error))
      return false;
  }
  return true;
}

static bool plan_table(struct setup *setup, size_t i, struct error *error) {
  const struct tree *captures = setup_section(setup->wanted, "captures");
  struct table table = {.name = captures->names[i], .wanted = captures->items[i]};
  struct buffer full_name;
  buffer_init(&full_name, LIST_LIMIT);
  bool ok = setup_find_table(setup, table.name, &full_name, error);
  table.full_name = full_name.data;
  for (size_t j = 0; ok && j < i; j++)
    if (strcmp(captures->names[j]->text, table.full_name) == 0)
      ok = setup_fail(setup->file, table.name, error, "table %s is named twice: line %d names it too", table.full_name,
                      captures->names[j]->line);
  if (ok) {
    table.present = tree_find(setup_section(setup->present, "captures"), table.full_name);
    /* From now on it is found by the name that the source gives it. */
    ok = setup_rename(table.name, table.full_name, error) && plan_capture(setup, &table, error) &&
         plan_routes(setup, &table, error) && plan_keep(setup, &table, error);
  }
  buffer_release(&full_name);
  return ok;
}

bool captures_plan(struct setup *setup, struct error *error) {
  const struct tree *captures = setup_section(setup->wanted, "captures");
  for (size_t i = 0; captures != NULL && i < captures->count; i++)
    if (!plan_table(setup, i, error))
      return false;
  return true;
}

static bool plan_route_removal(struct setup *setup, const char *table, const char *target, struct error *error) {
  struct step *step = steps_add(&setup->steps, STEP_REMOVE, NULL, error);
  if (step != NULL) {
    buffer_add_format(&step->object, "route %s to %s", table, target);
    buffer_add_string(&step->details, "what is queued is still delivered");
  }
  return step_call(step, &QUERY_cmd_unroute, VALUES(table, target), error);
}

static bool plan_end(struct setup *setup, const char *table, struct error *error) {
  struct step *step = steps_add(&setup->steps, STEP_REMOVE, NULL, error);
  if (step != NULL) {
    buffer_add_format(&step->object, "capture %s", table);
    buffer_add_string(&step->details, "its triggers are dropped");
  }
  return step_call(step, &QUERY_cmd_release, VALUES(table, setup->lock_wait), error);
}

bool captures_plan_removal(struct setup *setup, const struct tree *used, struct error *error) {
  const struct tree *captures = setup_section(setup->wanted, "captures");
  const struct tree *present = setup_section(setup->present, "captures");
  for (size_t i = 0; captures != NULL && i < present->count; i++) {
    const char *table = present->names[i]->text;
    const struct tree *routes = setup_section(tree_find(captures, table), "routes");
    const struct tree *present_routes = setup_section(present->items[i], "routes");
    if (!setup_is_named(captures, table)) {
      if (tree_find(used, table) == NULL && !plan_end(setup, table, error))
        return false;
      continue;
    }
    for (size_t j = 0; routes != NULL && present_routes != NULL && j < present_routes->count; j++)
      if (!setup_is_named(routes, present_routes->names[j]->text) &&
          !plan_route_removal(setup, table, present_routes->names[j]->text, error))
        return false;
  }
  return true;
}
