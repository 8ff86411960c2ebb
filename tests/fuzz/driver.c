/*
 * Where there is no libFuzzer: runs a harness with the files of a corpus, and with changes of them that a seed decides,
 * for some seconds. It does not see which code runs, so it finds less.
 *
 *   HARNESS -max_total_time=SECONDS -seed=NUMBER DIR-OR-FILE…
 */
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define LONGEST 4096
#define MOST_INPUTS 256

static struct {
  uint8_t bytes[LONGEST];
  size_t size;
} inputs[MOST_INPUTS];
static size_t count;

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || count == MOST_INPUTS) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  inputs[count].size = fread(inputs[count].bytes, 1, LONGEST, file);
  count++;
  fclose(file);
}

static void read_path(const char *path) {
  DIR *dir = opendir(path);
  if (dir == NULL) {
    read_file(path);
    return;
  }
  for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    char name[4096];
    if (entry->d_name[0] == '.')
      continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    read_file(name);
  }
  closedir(dir);
}

static size_t roll(size_t sides) {
  return (size_t)random() % sides;
}

/* One change: a byte becomes another, some are cut out, or some of another input are put in. */
static size_t change(uint8_t *bytes, size_t size) {
  static const uint8_t LIKED[] = "\"\\{}[]:,$%&?=/@ \n\r\t0-9eE.\x00\x7f\x80\xc3\xff";
  size_t at = size > 0 ? roll(size) : 0;
  size_t other = roll(count);
  size_t length;
  switch (roll(4)) {
  case 0:
    if (size > 0)
      bytes[at] = (uint8_t)roll(256);
    return size;
  case 1:
    if (size > 0)
      bytes[at] = LIKED[roll(sizeof LIKED)];
    return size;
  case 2:
    length = size > at ? 1 + roll(size - at) : 0;
    memmove(bytes + at, bytes + at + length, size - at - length);
    return size - length;
  default:
    if (inputs[other].size == 0)
      return size;
    length = 1 + roll(inputs[other].size);
    if (size + length > LONGEST)
      return size;
    memmove(bytes + at + length, bytes + at, size - at);
    memcpy(bytes + at, inputs[other].bytes + roll(inputs[other].size - length + 1), length);
    return size + length;
  }
}

static uint8_t bytes[LONGEST];
static size_t size;

/* What broke it, as libFuzzer leaves it. */
void __asan_on_error(void);
void __asan_on_error(void) {
  FILE *file = fopen("crash", "wb");
  if (file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0)
    fprintf(stderr, "the input is in file crash\n");
}

int main(int argc, char **argv) {
  time_t until = time(NULL);
  unsigned seed = (unsigned)until;
  unsigned long runs = 0;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "-max_total_time=", 16) == 0)
      until += strtol(argv[i] + 16, NULL, 10);
    else if (strncmp(argv[i], "-seed=", 6) == 0)
      seed = (unsigned)strtoul(argv[i] + 6, NULL, 10);
    else if (argv[i][0] != '-')
      read_path(argv[i]);
  }
  srandom(seed);
  for (size_t i = 0; i < count; i++, runs++) {
    memcpy(bytes, inputs[i].bytes, size = inputs[i].size);
    LLVMFuzzerTestOneInput(bytes, size);
  }
  while (count > 0 && time(NULL) < until) {
    size_t from = roll(count);
    memcpy(bytes, inputs[from].bytes, size = inputs[from].size);
    for (size_t changes = 1 + roll(6); changes > 0; changes--)
      size = change(bytes, size);
    LLVMFuzzerTestOneInput(bytes, size);
    runs++;
  }
  fprintf(stderr, "Done %lu runs\n", runs);
  return 0;
}
