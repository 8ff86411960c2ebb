/*
 * span: what a trace is made of: that something was done, from when to when, as a part of what. Spans are kept until
 * somebody takes them, up to a limit, and only while somebody wants them.
 */
#ifndef ROWRELAY_COMMON_SPAN_H
#define ROWRELAY_COMMON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span_id {
  unsigned char trace[16];
  unsigned char span[8];
};

#define SPAN_LINKS ((size_t)16)

struct span {
  struct span_id id;
  unsigned char parent[8]; /* all zero: it is the trace's first */
  const char *name;        /* static */
  char target[64];
  char table[128]; /* "": of several, or of none */
  int64_t began;   /* microseconds since 1970 */
  int64_t ended;
  int64_t changes; /* that it was about; -1: this says nothing of it, here and below */
  int64_t delivered;
  int64_t refused;
  char error[256];                  /* "": none */
  struct span_id links[SPAN_LINKS]; /* spans of other traces that led to this one */
  size_t link_count;
  int64_t dropped_links; /* for which there was no room */
};

/* From now on spans are kept. False: out of memory. Once, before threads start. */
bool spans_begin(void);
bool spans_are_wanted(void);
/* Nobody takes them any more. */
void spans_end(void);

/* A trace's first. */
void span_new_trace(struct span *span);
/* A part of `parent`. */
void span_new_part(struct span *span, const struct span *parent);
/* The span as W3C's header traceparent names it: 00-TRACE-SPAN-01. */
#define TRACE_PARENT_SIZE 56
void span_parent_text(const struct span *span, char text[TRACE_PARENT_SIZE]);
/* The reverse, of version 00; false: it is no such text. */
bool span_read_parent(const char *text, struct span_id *id);
/* Adds a link, once. */
void span_link(struct span *span, const struct span_id *to);
/* Now, for began and ended. */
int64_t span_now(void);

/* Any thread may add one. The oldest is dropped when nobody takes them in time. */
void spans_add(const struct span *span);
/* Takes up to `most` of them, oldest first; returns how many. */
size_t spans_take(struct span *spans, size_t most);

#endif
