#include "http/wire.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdlib.h>

#include "common/buffer.h"
#include "common/interrupt.h"

struct wire {
  CURL *easy;
  curl_socket_t socket;
  char failure[CURL_ERROR_SIZE];
};

/* Called while it connects; anything but 0 ends that. */
static int look_for_interrupt(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)context;
  (void)a;
  (void)b;
  (void)c;
  (void)d;
  return interrupted() ? 1 : 0;
}

static bool set_up(struct wire *wire, const struct wire_options *options, const char *url) {
  CURL *easy = wire->easy;
  CURLcode code = CURLE_OK;
#define SET(option, value) code = code == CURLE_OK ? curl_easy_setopt(easy, option, value) : code
  SET(CURLOPT_ERRORBUFFER, wire->failure);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_URL, url);
  SET(CURLOPT_CONNECT_ONLY, 1L);
  SET(CURLOPT_PROXY, ""); /* whatever the environment says */
  SET(CURLOPT_SSL_ENABLE_ALPN, 0L);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->timeout);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, look_for_interrupt);
  if (options->ca_file != NULL)
    SET(CURLOPT_CAINFO, options->ca_file);
  if (options->certificate != NULL)
    SET(CURLOPT_SSLCERT, options->certificate);
  if (options->private_key != NULL)
    SET(CURLOPT_SSLKEY, options->private_key);
#undef SET
  return code == CURLE_OK;
}

static bool explain(const struct wire *wire, CURLcode code, struct error *error) {
  const char *why = wire->failure[0] != '\0' ? wire->failure : curl_easy_strerror(code);
  switch (code) {
  case CURLE_ABORTED_BY_CALLBACK:
    return error_set(error, FAILURE_STOP, "interrupted");
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_ISSUER_ERROR:
    error_set(error, FAILURE_FATAL, "no encrypted connection: %s", why);
    return error_hint(error, "see option ca_file; the server's certificate must be valid for the host of the URL");
  default:
    return error_set(error, FAILURE_RETRY, "no connection: %s", why);
  }
}

bool wire_open(struct wire **wire, const struct wire_options *options, struct error *error) {
  struct buffer url;
  struct wire *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&url, 4096);
  buffer_add_format(&url, "%s://%s:%d/", options->tls ? "https" : "http", options->host, options->port);
  made->easy = curl_easy_init();
  bool ok = buffer_ok(&url, "the server's address", error);
  if (ok && (made->easy == NULL || !set_up(made, options, url.data)))
    ok = error_set(error, FAILURE_RETRY, "out of memory");
  if (ok) {
    CURLcode code = curl_easy_perform(made->easy);
    if (code == CURLE_OK)
      code = curl_easy_getinfo(made->easy, CURLINFO_ACTIVESOCKET, &made->socket);
    ok = code == CURLE_OK || explain(made, code, error);
  }
  buffer_release(&url);
  if (!ok) {
    wire_close(made);
    return false;
  }
  *wire = made;
  return true;
}

void wire_close(struct wire *wire) {
  if (wire == NULL)
    return;
  curl_easy_cleanup(wire->easy);
  free(wire);
}

static bool lost(const struct wire *wire, CURLcode code, struct error *error) {
  return error_set(error, FAILURE_RETRY, "the connection is lost: %s",
                   wire->failure[0] != '\0' ? wire->failure : curl_easy_strerror(code));
}

bool wire_send(struct wire *wire, const char *bytes, size_t length, size_t *moved, struct error *error) {
  *moved = 0;
  wire->failure[0] = '\0';
  CURLcode code = curl_easy_send(wire->easy, bytes, length, moved);
  return code == CURLE_OK || code == CURLE_AGAIN || lost(wire, code, error);
}

bool wire_receive(struct wire *wire, char *bytes, size_t size, size_t *moved, struct error *error) {
  *moved = 0;
  wire->failure[0] = '\0';
  CURLcode code = curl_easy_recv(wire->easy, bytes, size, moved);
  if (code == CURLE_OK && *moved == 0)
    return error_set(error, FAILURE_RETRY, "the server has closed the connection");
  return code == CURLE_OK || code == CURLE_AGAIN || lost(wire, code, error);
}

void wire_wait(struct wire *wire, bool to_send, int milliseconds) {
  struct pollfd one = {.fd = wire->socket, .events = (short)(POLLIN | (to_send ? POLLOUT : 0))};
  poll(&one, 1, milliseconds);
}
