#include "common/json_tree.h"

#include <pthread.h>
#include <stdlib.h>

static _Thread_local bool lacked_memory;

static void *take(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL)
    lacked_memory = true;
  return memory;
}

static void lend_memory(void) {
  json_set_alloc_funcs(take, free);
}

json_t *json_tree_parse(const char *text, size_t length, size_t flags, bool *no_memory) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  json_error_t why;
  pthread_once(&once, lend_memory);
  lacked_memory = false;
  json_t *tree = json_loadb(text, length, flags, &why);
  *no_memory = tree == NULL && lacked_memory;
  return tree;
}
