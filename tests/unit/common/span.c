/* Ids of traces as W3C's header traceparent has them. */
#include "common/span.h"

#include <criterion/criterion.h>
#include <string.h>

Test(span, a_traceparent_is_read_as_it_is_written) {
  struct span span = {.name = "x"};
  struct span_id id;
  char text[TRACE_PARENT_SIZE];
  span_new_trace(&span);
  span_parent_text(&span, text);
  cr_assert(span_read_parent(text, &id));
  cr_expect(memcmp(&id, &span.id, sizeof id) == 0);
}

Test(span, what_is_no_traceparent_of_version_00_is_refused) {
  static const char *const OTHERS[] = {"",
                                       "00-",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\n",
                                       "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                       "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                       "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"};
  struct span_id id;
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    cr_expect_not(span_read_parent(OTHERS[i], &id), "%s", OTHERS[i]);
}

Test(span, each_span_is_linked_once_and_what_has_no_room_is_counted) {
  struct span span = {.name = "x"};
  struct span_id id = {.trace = {1}};
  for (unsigned char i = 0; i < SPAN_LINKS + 3; i++) {
    id.span[0] = i;
    span_link(&span, &id);
    id.span[0] = 0;
    span_link(&span, &id);
  }
  cr_expect_eq(span.link_count, SPAN_LINKS);
  cr_expect_eq(span.dropped_links, 3);
}
