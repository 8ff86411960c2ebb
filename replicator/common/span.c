#include "common/span.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_KEPT ((size_t)2048)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct span *kept = NULL; /* a ring */
static size_t first = 0;
static size_t count = 0;
static atomic_bool wanted = false;

bool spans_begin(void) {
  kept = calloc(MOST_KEPT, sizeof *kept);
  atomic_store(&wanted, kept != NULL);
  return kept != NULL;
}

bool spans_are_wanted(void) {
  return atomic_load_explicit(&wanted, memory_order_relaxed);
}

void spans_end(void) {
  pthread_mutex_lock(&lock);
  atomic_store(&wanted, false);
  free(kept);
  kept = NULL;
  first = count = 0;
  pthread_mutex_unlock(&lock);
}

static void fill_at_random(unsigned char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    bytes[i] = (unsigned char)(random() >> 8);
}

void span_new_trace(struct span *span) {
  fill_at_random(span->id.trace, sizeof span->id.trace);
  fill_at_random(span->id.span, sizeof span->id.span);
  memset(span->parent, 0, sizeof span->parent);
}

void span_new_part(struct span *span, const struct span *parent) {
  memcpy(span->id.trace, parent->id.trace, sizeof span->id.trace);
  fill_at_random(span->id.span, sizeof span->id.span);
  memcpy(span->parent, parent->id.span, sizeof span->parent);
}

static void write_hex(char *text, const unsigned char *bytes, size_t length) {
  static const char DIGITS[] = "0123456789abcdef";
  for (size_t i = 0; i < length; i++) {
    *text++ = DIGITS[bytes[i] >> 4];
    *text++ = DIGITS[bytes[i] & 15];
  }
  *text = '\0';
}

void span_parent_text(const struct span *span, char text[TRACE_PARENT_SIZE]) {
  char trace[2 * sizeof span->id.trace + 1];
  char id[2 * sizeof span->id.span + 1];
  write_hex(trace, span->id.trace, sizeof span->id.trace);
  write_hex(id, span->id.span, sizeof span->id.span);
  snprintf(text, TRACE_PARENT_SIZE, "00-%s-%s-01", trace, id);
}

/* Of a lower-case digit; -1: it is none. */
static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: these are no digits, or nothing but 0. */
static bool read_hex(const char *text, unsigned char *bytes, size_t length) {
  int any = 0;
  for (size_t i = 0; i < length; i++) {
    int high = hex_digit(text[2 * i]);
    int low = high >= 0 ? hex_digit(text[2 * i + 1]) : -1;
    if (low < 0)
      return false;
    bytes[i] = (unsigned char)(high << 4 | low);
    any |= bytes[i];
  }
  return any != 0;
}

bool span_read_parent(const char *text, struct span_id *id) {
  return strlen(text) == TRACE_PARENT_SIZE - 1 && strncmp(text, "00-", 3) == 0 &&
         read_hex(text + 3, id->trace, sizeof id->trace) && text[35] == '-' &&
         read_hex(text + 36, id->span, sizeof id->span) && text[52] == '-' && hex_digit(text[53]) >= 0 &&
         hex_digit(text[54]) >= 0;
}

void span_link(struct span *span, const struct span_id *to) {
  for (size_t i = span->link_count; i > 0; i--)
    if (memcmp(&span->links[i - 1], to, sizeof *to) == 0)
      return;
  if (span->link_count < SPAN_LINKS)
    span->links[span->link_count++] = *to;
  else
    span->dropped_links++;
}

int64_t span_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void spans_add(const struct span *span) {
  pthread_mutex_lock(&lock);
  if (kept != NULL) {
    if (count == MOST_KEPT) {
      first = (first + 1) % MOST_KEPT;
      count--;
    }
    kept[(first + count++) % MOST_KEPT] = *span;
  }
  pthread_mutex_unlock(&lock);
}

size_t spans_take(struct span *spans, size_t most) {
  size_t taken = 0;
  pthread_mutex_lock(&lock);
  for (; kept != NULL && taken < most && count > 0; count--) {
    spans[taken++] = kept[first];
    first = (first + 1) % MOST_KEPT;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}
