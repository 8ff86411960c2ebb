/* address: the parts of a URL of a server that does not speak HTTP, such as redis://user:password@host:6379/0/stream.
 */
#ifndef ROWRELAY_HTTP_ADDRESS_H
#define ROWRELAY_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct address {
  char *scheme;   /* as a URL has it, in lower case */
  char *user;     /* decoded, as is the password; NULL: none */
  char *password; /* NULL: none */
  char *host;     /* an IPv6 address with its brackets */
  int port;       /* 0: none */
  char *path;     /* as it is in the URL, without the slash that it begins with; "": none */
};

/* Reads a URL with the form SCHEME://…; on failure there is nothing to release. */
MUST_CHECK bool address_init(struct address *address, const char *url, struct error *error);
void address_release(struct address *address);

/* What %XX stands for; on the heap. NULL: not valid, or out of memory. */
char *address_decode(const char *text);

#endif
