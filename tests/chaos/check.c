/*
 * check: compares what writers did with what targets got, and knows nothing of how it came there.
 *
 *   chaos-check DIR     prints a line for each violation, then how many there are; exit status 1 when there is one
 *
 * It reads these files of DIR, in which a line is a few words:
 *
 *   truth           table key n op mark token optional    what was committed; n counts the writes of a key. op: i, u,
 * d, t(runcate); mark: the n that an image of it shows (of d: the old row's); optional (t or f): a trigger wrote the
 * row again at once, so that nobody need have seen it acked.*         outcome token…      what a writer was told: ok,
 * failed, unknown targets         name rows table… | name events promise      exactly-once, at-least-once, at-most-once
 *   NAME.rows       table key n value   what the source, or such a target, has in the end
 *   NAME.events     table key op mark id    what such a target got, in order; key "-": each; s: a row as it is just now
 *   NAME.watched    table key n began ended   what readers of a target saw change, in order; n 0: the row is gone
 *   NAME.sums       sum time rows       what readers of a target saw as the sum of table bank
 *   given-up        name table key id   what a target was not sent, with somebody's knowledge
 *   pending, late   …                   what was not delivered at all, or not soon enough
 *   crashed         …                   processes that ended as nobody wanted
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define SHOWN 12 /* violations of a class at a target */

static const char *dir;

/* ---- violations -------------------------------------------------------------------------------------------------- */

static int violations;

static void violation(const char *class, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void violation(const char *class, const char *where, const char *format, ...) {
  static char last[100];
  static int same;
  char this[sizeof last];
  va_list values;
  violations++;
  snprintf(this, sizeof this, "%s %s", class, where);
  same = strcmp(this, last) == 0 ? same + 1 : 1;
  strcpy(last, this);
  if (same > SHOWN)
    return;
  printf("%s: %s: ", class, where);
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf("%s\n", same == SHOWN ? " (and maybe more)" : "");
}

/* ---- the truth --------------------------------------------------------------------------------------------------- */

struct deed {
  char op;
  long long mark;
  const char *token;
  bool is_optional;
  bool is_seen; /* by the target that is looked at */
};

struct event {
  char op;
  long long mark;
  long long id;
};

/* A key of a table, with what was done to it, and what the target that is looked at got of it. */
struct key {
  const char *table;
  const char *name;
  struct deed *deeds;
  size_t deed_count;
  struct event *events;
  size_t event_count;
  int given_up;
};

static struct lines truth;
static struct key *keys; /* in the order of table and name */
static size_t key_count;

static int compare_names(const char *table_a, const char *name_a, const char *table_b, const char *name_b) {
  int order = strcmp(table_a, table_b);
  return order != 0 ? order : strcmp(name_a, name_b);
}

static int compare_keys(const void *a, const void *b) {
  const struct key *left = a;
  const struct key *right = b;
  return compare_names(left->table, left->name, right->table, right->name);
}

static int compare_truth(const void *a, const void *b) {
  const struct line *left = a;
  const struct line *right = b;
  int order = compare_names(left->words[0], left->words[1], right->words[0], right->words[1]);
  long long n = atoll(left->words[2]) - atoll(right->words[2]);
  return order != 0 ? order : n < 0 ? -1 : n > 0;
}

static void read_truth(void) {
  truth = lines_read(dir, "truth");
  if (truth.count > 0)
    qsort(truth.lines, truth.count, sizeof *truth.lines, compare_truth);
  for (size_t i = 0; i < truth.count; i++) {
    char **words = truth.lines[i].words;
    struct key *key = key_count == 0 ? NULL : &keys[key_count - 1];
    if (key == NULL || compare_names(key->table, key->name, words[0], words[1]) != 0) {
      keys = grown(keys, key_count, sizeof *keys);
      key = &keys[key_count++];
      *key = (struct key){.table = words[0], .name = words[1]};
    }
    key->deeds = grown(key->deeds, key->deed_count, sizeof *key->deeds);
    key->deeds[key->deed_count++] =
        (struct deed){.op = *words[3], .mark = atoll(words[4]), .token = words[5], .is_optional = *words[6] == 't'};
  }
}

static struct key *find_key(const char *table, const char *name) {
  struct key wanted = {.table = table, .name = name};
  return key_count == 0 ? NULL : bsearch(&wanted, keys, key_count, sizeof *keys, compare_keys);
}

/* ---- what writers were told -------------------------------------------------------------------------------------- */

static int compare_tokens(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_words(const struct lines *acked, const char **tokens, size_t count) {
  for (size_t i = 0; i < acked->count; i++) {
    char **words = acked->lines[i].words;
    for (int w = 1; w < WORDS && *words[w] != '\0'; w++) {
      bool is_there = count > 0 && bsearch(&words[w], tokens, count, sizeof *tokens, compare_tokens) != NULL;
      if (strcmp(words[0], "ok") == 0 && !is_there)
        violation("lost", "source", "%s was committed and is not there", words[w]);
      if (strcmp(words[0], "failed") == 0 && is_there)
        violation("invented", "source", "%s failed and is there", words[w]);
    }
  }
}

static void check_acknowledged(void) {
  const char **tokens = calloc(truth.count + 1, sizeof *tokens);
  for (size_t i = 0; i < truth.count; i++)
    tokens[i] = truth.lines[i].words[5];
  qsort(tokens, truth.count, sizeof *tokens, compare_tokens);
  DIR *files = opendir(dir);
  for (struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
    if (strncmp(file->d_name, "acked.", 6) != 0)
      continue;
    struct lines acked = lines_read(dir, file->d_name);
    check_words(&acked, tokens, truth.count);
    lines_free(&acked);
  }
  if (files != NULL)
    closedir(files);
  free(tokens);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void add_event(struct key *key, struct event event) {
  key->events = grown(key->events, key->event_count, sizeof *key->events);
  key->events[key->event_count++] = event;
}

static void forget_target(void) {
  for (size_t i = 0; i < key_count; i++) {
    keys[i].event_count = 0;
    free(keys[i].events);
    keys[i].events = NULL;
    keys[i].given_up = 0;
    for (size_t j = 0; j < keys[i].deed_count; j++)
      keys[i].deeds[j].is_seen = false;
  }
}

/* Does `what` for a key of a table, or for each of them where it is named "-"; false when there is none. */
static bool for_keys(const char *table, const char *name, void (*what)(struct key *, const struct event *),
                     const struct event *event) {
  bool any = false;
  for (size_t i = 0; strcmp(name, "-") == 0 && i < key_count; i++)
    if (strcmp(keys[i].table, table) == 0) {
      what(&keys[i], event);
      any = true;
    }
  struct key *key = any ? NULL : find_key(table, name);
  if (key != NULL)
    what(key, event);
  return any || key != NULL;
}

static void keep_event(struct key *key, const struct event *event) {
  add_event(key, *event);
}

static void count_given_up(struct key *key, const struct event *event) {
  (void)event;
  key->given_up++;
}

static void read_events(const char *target) {
  char path[100];
  snprintf(path, sizeof path, "%s.events", target);
  struct lines lines = lines_read(dir, path);
  for (size_t i = 0; i < lines.count; i++) {
    char **words = lines.lines[i].words;
    struct event event = {.op = *words[2], .mark = atoll(words[3]), .id = atoll(words[4])};
    if (!for_keys(words[0], words[1], keep_event, &event))
      violation("invented", target, "an event of %s %s, which nobody has written", words[0], words[1]);
  }
  lines_free(&lines);
  struct lines given_up = lines_read(dir, "given-up");
  for (size_t i = 0; i < given_up.count; i++)
    if (strcmp(given_up.lines[i].words[0], target) == 0)
      (void)for_keys(given_up.lines[i].words[1], given_up.lines[i].words[2], count_given_up, NULL);
  lines_free(&given_up);
}

/* Whether the key has had the event before this one. */
static bool is_again(const struct key *key, size_t index) {
  for (size_t i = index; i > 0; i--)
    if (key->events[i - 1].id == key->events[index].id)
      return true;
  return false;
}

static bool is_deed(const struct deed *deed, const struct event *event) {
  return deed->op == event->op && (deed->op == 't' || deed->mark == event->mark);
}

/* The deed that an event tells of: one from `next` on, if there is one, and none that was told of. */
static size_t find_deed(const struct key *key, const struct event *event, size_t next) {
  for (size_t i = next; i < key->deed_count; i++)
    if (is_deed(&key->deeds[i], event) && !key->deeds[i].is_seen)
      return i;
  for (size_t i = next; i > 0; i--)
    if (is_deed(&key->deeds[i - 1], event) && !key->deeds[i - 1].is_seen)
      return i - 1;
  return key->deed_count;
}

static bool was_told(const struct key *key, const struct event *event) {
  for (size_t i = 0; i < key->deed_count; i++)
    if (is_deed(&key->deeds[i], event) && key->deeds[i].is_seen)
      return true;
  return false;
}

/* A row as it is just now must be the one that the last event has left. */
static void check_snapshot(const char *target, const struct key *key, const struct event *event, size_t next) {
  const struct deed *last = next == 0 ? NULL : &key->deeds[next - 1];
  if (last == NULL || last->op == 'd' || last->op == 't')
    violation("resurrected", target, "%s %s: a snapshot of n=%lld where the row is gone (id %lld)", key->table,
              key->name, event->mark, event->id);
  else if (last->mark != event->mark)
    violation("stale", target, "%s %s: a snapshot of n=%lld after n=%lld (id %lld)", key->table, key->name, event->mark,
              last->mark, event->id);
}

/* `next` is the deed after the last one that was told of. */
static void check_event(const char *target, const struct key *key, const struct event *event, size_t *next) {
  if (event->op == 's') {
    check_snapshot(target, key, event, *next);
    return;
  }
  size_t found = find_deed(key, event, *next);
  if (found == key->deed_count) {
    violation(was_told(key, event) ? "repeated" : "invented", target, "%s %s: %c n=%lld (id %lld)", key->table,
              key->name, event->op, event->mark, event->id);
    return;
  }
  key->deeds[found].is_seen = true;
  if (found < *next)
    violation("reordered", target, "%s %s: %c n=%lld (%s, id %lld) came after %c n=%lld", key->table, key->name,
              event->op, event->mark, key->deeds[found].token, event->id, key->deeds[*next - 1].op,
              key->deeds[*next - 1].mark);
  else
    *next = found + 1;
}

static void check_key(const char *target, struct key *key, const char *promise) {
  size_t next = 0;
  bool may_repeat = strcmp(promise, "at-least-once") == 0;
  int may_lack = strcmp(promise, "at-most-once") == 0 ? key->given_up : 0;
  for (size_t i = 0; i < key->event_count; i++) {
    if (!is_again(key, i))
      check_event(target, key, &key->events[i], &next);
    else if (!may_repeat)
      violation("repeated", target, "%s %s: %c n=%lld (id %lld)", key->table, key->name, key->events[i].op,
                key->events[i].mark, key->events[i].id);
  }
  for (size_t i = 0; i < key->deed_count; i++)
    if (!key->deeds[i].is_seen && !key->deeds[i].is_optional && may_lack-- <= 0)
      violation("lost", target, "%s %s: %c n=%lld (%s)", key->table, key->name, key->deeds[i].op, key->deeds[i].mark,
                key->deeds[i].token);
}

/* Tables that a target never gets are not asked for: of them it has no event. */
static void check_events(const char *target, const char *promise) {
  forget_target();
  read_events(target);
  for (size_t i = 0; i < key_count; i++)
    if (strcmp(keys[i].table, "spare") != 0)
      check_key(target, &keys[i], promise);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
  const struct line *left = a;
  const struct line *right = b;
  return compare_names(left->words[0], left->words[1], right->words[0], right->words[1]);
}

static struct lines read_rows(const char *name) {
  char path[100];
  snprintf(path, sizeof path, "%s.rows", name);
  struct lines rows = lines_read(dir, path);
  if (rows.count > 0)
    qsort(rows.lines, rows.count, sizeof *rows.lines, compare_rows);
  return rows;
}

static void check_row(const char *target, char **source, char **there) {
  if (strcmp(source[2], there[2]) != 0 || strcmp(source[3], there[3]) != 0)
    violation("stale", target, "%s %s is n=%s %.60s, at the source n=%s %.60s", there[0], there[1], there[2], there[3],
              source[2], source[3]);
}

static bool is_among(const char *table, char *const *tables, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(tables[i], table) == 0)
      return true;
  return false;
}

static bool is_given_up(const struct lines *given_up, const char *target, char **row) {
  for (size_t i = 0; i < given_up->count; i++) {
    char **words = given_up->lines[i].words;
    if (strcmp(words[0], target) == 0 && strcmp(words[1], row[0]) == 0 &&
        (strcmp(words[2], row[1]) == 0 || strcmp(words[2], "-") == 0))
      return true;
  }
  return false;
}

static void check_rows(const char *target, char *const *tables, int count) {
  struct lines source = read_rows("source");
  struct lines there = read_rows(target);
  struct lines given_up = lines_read(dir, "given-up");
  size_t s = 0;
  size_t t = 0;
  while (s < source.count || t < there.count) {
    if (s < source.count && !is_among(source.lines[s].words[0], tables, count)) {
      s++;
      continue;
    }
    if (t < there.count && !is_among(there.lines[t].words[0], tables, count)) {
      t++;
      continue;
    }
    int order = s == source.count ? 1 : t == there.count ? -1 : compare_rows(&source.lines[s], &there.lines[t]);
    if (is_given_up(&given_up, target, order <= 0 ? source.lines[s].words : there.lines[t].words))
      ; /* somebody knows */
    else if (order == 0)
      check_row(target, source.lines[s].words, there.lines[t].words);
    else if (order < 0)
      violation("lost", target, "%s %s (n=%s) is missing", source.lines[s].words[0], source.lines[s].words[1],
                source.lines[s].words[2]);
    else
      violation("resurrected", target, "%s %s (n=%s) should not be there", there.lines[t].words[0],
                there.lines[t].words[1], there.lines[t].words[2]);
    s += order <= 0;
    t += order >= 0;
  }
  lines_free(&source);
  lines_free(&there);
  lines_free(&given_up);
}

/* ---- what readers saw -------------------------------------------------------------------------------------------- */

static int compare_watched(const void *a, const void *b) {
  const struct line *left = a;
  const struct line *right = b;
  int order = compare_rows(a, b);
  return order != 0
             ? order
             : (left->words[WORDS - 1] > right->words[WORDS - 1]) - (left->words[WORDS - 1] < right->words[WORDS - 1]);
}

static void check_watched(const char *target) {
  char path[100];
  long long most = 0;
  snprintf(path, sizeof path, "%s.watched", target);
  struct lines seen = lines_read(dir, path);
  for (size_t i = 0; i < seen.count; i++) /* keeps the order of lines of a key */
    seen.lines[i].words[WORDS - 1] = seen.lines[i].words[0];
  if (seen.count > 0)
    qsort(seen.lines, seen.count, sizeof *seen.lines, compare_watched);
  for (size_t i = 0; i < seen.count; i++) {
    char **words = seen.lines[i].words;
    long long n = atoll(words[2]);
    if (i == 0 || compare_rows(&seen.lines[i - 1], &seen.lines[i]) != 0)
      most = 0;
    if (n != 0 && n <= most)
      violation(atoll(seen.lines[i - 1].words[2]) == 0 ? "resurrected" : "went-back", target,
                "%s %s: readers saw n=%lld after n=%lld", words[0], words[1], n, most);
    if (n == 0 && strcmp(words[0], "churn") != 0)
      violation("vanished", target, "%s %s: readers saw no row after n=%lld", words[0], words[1], most);
    most = n > most ? n : most;
  }
  lines_free(&seen);
}

static void check_sums(const char *target) {
  char path[100];
  long long sum = 0;
  struct lines source = read_rows("source");
  for (size_t i = 0; i < source.count; i++)
    if (strcmp(source.lines[i].words[0], "bank") == 0)
      sum += atoll(source.lines[i].words[3]);
  snprintf(path, sizeof path, "%s.sums", target);
  struct lines seen = lines_read(dir, path);
  for (size_t i = 0; i < seen.count; i++)
    if (atoll(seen.lines[i].words[0]) != sum)
      violation("torn", target, "readers saw the sum %s instead of %lld at %s: %s", seen.lines[i].words[0], sum,
                seen.lines[i].words[1], seen.lines[i].words[2]);
  lines_free(&seen);
  lines_free(&source);
}

static void check_file(const char *name, const char *class) {
  struct lines lines = lines_read(dir, name);
  for (size_t i = 0; i < lines.count; i++)
    violation(class, lines.lines[i].words[0], "%s %s %s", lines.lines[i].words[1], lines.lines[i].words[2],
              lines.lines[i].words[3]);
  lines_free(&lines);
}

int main(int count, char *words[]) {
  if (count != 2) {
    fprintf(stderr, "usage: chaos-check DIR\n");
    return 2;
  }
  dir = words[1];
  read_truth();
  check_acknowledged();
  struct lines targets = lines_read(dir, "targets");
  for (size_t i = 0; i < targets.count; i++) {
    char **target = targets.lines[i].words;
    if (strcmp(target[1], "events") == 0)
      check_events(target[0], target[2]);
    else
      check_rows(target[0], target + 2, WORDS - 2);
    check_watched(target[0]);
    check_sums(target[0]);
  }
  check_file("pending", "undelivered");
  check_file("late", "late");
  check_file("crashed", "crashed");
  if (truth.count == 0 || targets.count == 0)
    violation("empty", "run", "there is nothing to check");
  printf("%zu writes of %zu keys, %zu targets: %d violations\n", truth.count, key_count, targets.count, violations);
  forget_target();
  lines_free(&targets);
  return violations == 0 ? 0 : 1;
}
