/* ear: listens to changes over HTTP (GET /changes), by a socket that the test reads as it likes, and cuts anywhere. */
#ifndef ROWRELAY_TESTS_EAR_H
#define ROWRELAY_TESTS_EAR_H

#include <stdbool.h>
#include <stddef.h>

struct ear {
  int fd;
  int status;     /* of the answer; 0: none yet */
  bool is_events; /* else lines */
  bool ended;     /* nothing more comes */
  char *raw;      /* that came, and is not decoded yet */
  size_t raw_length;
  char *text; /* that was decoded, and is not read yet; a string */
  size_t text_length;
  long left; /* of a chunk; -1: not in one */
  bool is_chunked;
  char id[8192]; /* of the last event that was read */
  char *piece;   /* the event or line that was read last, without its end; owned */
  char *headers; /* owned */
  bool has_headers;
};

/*
 * Sends the request. `path` with its parameters; `token` NULL: none; `accept` NULL: events; `last_id` "": none. It may
 * not have an answer yet.
 */
void ear_open(struct ear *ear, int port, const char *path, const char *token, const char *accept, const char *last_id);
void ear_close(struct ear *ear);

/*
 * The next event or line, whatever it is; false when none has come within `seconds`, or none will. *data: that of an
 * event, NULL where it has none, or the line; valid until the next call.
 */
bool ear_hear(struct ear *ear, double seconds, const char **data);
/* The same of one that has data, or "" if it has not come within `seconds` (see give_up_at()). */
const char *ear_hear_data(struct ear *ear, double seconds);
/* Reads at most so many bytes of what is there; false when there is nothing, or no more. */
bool ear_read(struct ear *ear, size_t most, double seconds);
/* Waits until the answer has begun, and gives its status. */
int ear_status(struct ear *ear, double seconds);

/* The number of a member of an object, such as "change_id". -1: it has none. */
long ear_number(const char *data, const char *name);

#endif
