/*
 * fuzz: what the harnesses share. Each is a program of its own with libFuzzer's entry, LLVMFuzzerTestOneInput(): it is
 * given bytes as a stranger may send them, and aborts where a promise about them is broken; sanitizers see the rest.
 */
#ifndef ROWRELAY_TESTS_FUZZ_H
#define ROWRELAY_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, with what it is called. */
#define PROMISE(holds, what)                                                                                           \
  do {                                                                                                                 \
    if (!(holds)) {                                                                                                    \
      fprintf(stderr, "broken: %s\n", what);                                                                           \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* The bytes up to a NUL, as a text of its own, so that a read behind its end is seen. The caller frees it. */
static inline char *text_of(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL)
    abort();
  memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* Cuts the part before the first line break off, and returns it; *rest is what follows, "" where nothing does. */
static inline char *cut_line(char **rest) {
  char *line = *rest;
  size_t length = strcspn(line, "\n");
  *rest = line + length + (line[length] == '\n');
  line[length] = '\0';
  return line;
}

#endif
