#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *grown(void *array, size_t count, size_t size) {
  if ((count & (count - 1)) != 0)
    return array;
  void *more = realloc(array, (count == 0 ? 1 : 2 * count) * size);
  if (more == NULL)
    abort();
  return more;
}

static char *read_text(const char *dir, const char *name) {
  char path[512];
  size_t length = 0;
  char *text = calloc(1, 1);
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "r");
  while (file != NULL && text != NULL) {
    text = realloc(text, length + 65537);
    size_t got = text == NULL ? 0 : fread(text + length, 1, 65536, file);
    length += got;
    if (text != NULL)
      text[length] = '\0';
    if (got == 0)
      break;
  }
  if (file != NULL)
    fclose(file);
  if (text == NULL)
    abort();
  return text;
}

static void split_line(char *text, struct line *line) {
  static char nothing[] = "";
  for (int i = 0; i < WORDS; i++) {
    line->words[i] = text == NULL ? nothing : text;
    char *blank = text == NULL || i + 1 == WORDS ? NULL : strchr(text, ' ');
    if (blank != NULL)
      *blank++ = '\0';
    text = blank;
  }
}

struct lines lines_read(const char *dir, const char *name) {
  struct lines lines = {.text = read_text(dir, name)};
  for (char *next = lines.text; *next != '\0';) {
    char *end = strchr(next, '\n');
    if (end == NULL) /* who wrote it was interrupted */
      break;
    *end = '\0';
    lines.lines = grown(lines.lines, lines.count, sizeof *lines.lines);
    split_line(next, &lines.lines[lines.count++]);
    next = end + 1;
  }
  return lines;
}

void lines_free(struct lines *lines) {
  free(lines->lines);
  free(lines->text);
}
