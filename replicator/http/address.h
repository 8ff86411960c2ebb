/*
 * address: the parts of a URL of a server that does not speak HTTP, such as redis://user:password@host:6379/0/stream;
 * and whether a URL is of the same server as another.
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

/*
 * A URL to which a server redirects, with the user and password of the server's URL, if it has the same scheme, host
 * and port; on the heap. Otherwise NULL, and *elsewhere is the other server as SCHEME://HOST:PORT, on the heap, unless
 * there is no memory.
 */
char *address_on_server(const char *url, const char *server_url, char **elsewhere);

/* What %XX stands for; on the heap. NULL: not valid, or out of memory. */
char *address_decode(const char *text);

#endif
