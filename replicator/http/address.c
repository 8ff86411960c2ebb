#include "http/address.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

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

char *address_decode(const char *text) {
  int length = 0;
  char *decoded = curl_easy_unescape(NULL, text, 0, &length);
  char *copy = decoded != NULL && strlen(decoded) == (size_t)length ? strdup(decoded) : NULL;
  curl_free(decoded);
  return copy;
}
