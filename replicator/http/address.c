#include "http/address.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A part as a text of our own; one that is not there is NULL. */
static bool take(CURLU *url, CURLUPart part, unsigned int flags, char **into) {
  char *text = NULL;
  CURLUcode code = curl_url_get(url, part, &text, flags);
  *into = code == CURLUE_OK && text != NULL ? strdup(text) : NULL;
  curl_free(text);
  return code == CURLUE_OUT_OF_MEMORY ? false : code != CURLUE_OK || *into != NULL;
}

bool address_init(struct address *address, const char *url, struct error *error) {
  char *path = NULL;
  char *port = NULL;
  *address = (struct address){.port = 0};
  CURLU *parts = curl_url();
  if (parts == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS);
  bool ok = code == CURLUE_OK && take(parts, CURLUPART_SCHEME, 0, &address->scheme) &&
            take(parts, CURLUPART_USER, CURLU_URLDECODE, &address->user) &&
            take(parts, CURLUPART_PASSWORD, CURLU_URLDECODE, &address->password) &&
            take(parts, CURLUPART_HOST, 0, &address->host) && take(parts, CURLUPART_PORT, 0, &port) &&
            take(parts, CURLUPART_PATH, 0, &path);
  curl_url_cleanup(parts);
  if (ok) {
    address->port = port != NULL ? (int)strtol(port, NULL, 10) : 0;
    address->path = strdup(path != NULL && path[0] == '/' ? path + 1 : "");
  }
  free(path);
  free(port);
  if (ok && address->host != NULL && address->path != NULL)
    return true;
  address_release(address);
  /* The URL is not shown: it may hold a password. */
  return code != CURLUE_OK ? error_set(error, FAILURE_FATAL, "the URL is not valid: %s", curl_url_strerror(code))
                           : error_set(error, FAILURE_RETRY, "out of memory");
}

void address_release(struct address *address) {
  free(address->scheme);
  free(address->user);
  free(address->password);
  free(address->host);
  free(address->path);
  *address = (struct address){.port = 0};
}

/* SCHEME://HOST:PORT, in lower case but for the host; on the heap. NULL: not valid, or out of memory. */
static char *server_of(CURLU *parts) {
  static const CURLUPart PARTS[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
  char *texts[] = {NULL, NULL, NULL};
  char *server = NULL;
  bool ok = true;
  for (int i = 0; i < 3; i++)
    ok = take(parts, PARTS[i], CURLU_DEFAULT_PORT, &texts[i]) && texts[i] != NULL && ok;
  size_t size = ok ? strlen(texts[0]) + strlen(texts[1]) + strlen(texts[2]) + sizeof "://:" : 0;
  if (ok && (server = malloc(size)) != NULL)
    snprintf(server, size, "%s://%s:%s", texts[0], texts[1], texts[2]);
  for (int i = 0; i < 3; i++)
    free(texts[i]);
  return server;
}

static bool copy_part(CURLU *from, CURLU *into, CURLUPart part) {
  char *text = NULL;
  bool ok = take(from, part, 0, &text) && (text == NULL || curl_url_set(into, part, text, 0) == CURLUE_OK);
  free(text);
  return ok;
}

char *address_on_server(const char *url, const char *server_url, char **elsewhere) {
  char *whole = NULL;
  CURLU *to = curl_url();
  CURLU *from = curl_url();
  char *server = NULL;
  *elsewhere = NULL;
  if (to != NULL && from != NULL && curl_url_set(to, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
      curl_url_set(from, CURLUPART_URL, server_url, 0) == CURLUE_OK) {
    server = server_of(from);
    *elsewhere = server_of(to);
  }
  if (server != NULL && *elsewhere != NULL && strcasecmp(server, *elsewhere) == 0) {
    free(*elsewhere);
    *elsewhere = NULL;
    if (copy_part(from, to, CURLUPART_USER) && copy_part(from, to, CURLUPART_PASSWORD))
      whole = take(to, CURLUPART_URL, 0, &whole) ? whole : NULL;
  }
  free(server);
  curl_url_cleanup(from);
  curl_url_cleanup(to);
  return whole;
}

char *address_decode(const char *text) {
  int length = 0;
  char *decoded = curl_easy_unescape(NULL, text, 0, &length);
  char *copy = decoded != NULL && strlen(decoded) == (size_t)length ? strdup(decoded) : NULL;
  curl_free(decoded);
  return copy;
}
