#include "http/client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/version.h"
#include "http/address.h"

#define CONNECT_TIMEOUT 10000L /* milliseconds */
#define MOST_REDIRECTS 5
/* Of an answer, whatever is asked for: a tree that is made of it takes up to thirty times as much. Bytes. */
#define LONGEST_ANSWER ((size_t)16 * 1024 * 1024)
/* How often a wait checks for an interrupt. Milliseconds. */
#define INTERRUPT_INTERVAL 100
/* Where waiting itself fails, for want of memory. Milliseconds. */
#define FAILED_POLL_PAUSE 10

struct http {
  CURLM *multi;
  struct http_options options; /* texts are our own */
  CURL **idle;                 /* handles that can be used again */
  size_t idle_count;
  size_t idle_capacity;
  size_t in_flight;
};

static void begin_curl(void) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool copy(const char **into, const char *text) {
  *into = text != NULL ? strdup(text) : NULL;
  return text == NULL || *into != NULL;
}

bool http_new(struct http **http, const struct http_options *options, struct error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin_curl);
  struct http *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->options = *options;
  made->multi = curl_multi_init();
  bool ok = copy(&made->options.ca_file, options->ca_file);
  ok = copy(&made->options.certificate, options->certificate) && ok;
  ok = copy(&made->options.private_key, options->private_key) && ok;
  ok = copy(&made->options.proxy, options->proxy) && ok;
  if (!ok || made->multi == NULL) {
    http_free(made);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, (long)options->connections) != CURLM_OK ||
      curl_multi_setopt(made->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)options->connections) != CURLM_OK) {
    http_free(made);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  *http = made;
  return true;
}

void http_free(struct http *http) {
  if (http == NULL)
    return;
  for (size_t i = 0; i < http->idle_count; i++)
    curl_easy_cleanup(http->idle[i]);
  free(http->idle);
  curl_multi_cleanup(http->multi);
  free((char *)http->options.ca_file);
  free((char *)http->options.certificate);
  free((char *)http->options.private_key);
  free((char *)http->options.proxy);
  free(http);
}

/* ---- one request ----------------------------------------------------------------------------------------------- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *context) {
  struct http_request *request = context;
  size_t length = size * count;
  size_t room = request->answer.limit - request->answer.length;
  buffer_add(&request->answer, bytes, length < room ? length : room);
  request->received += (int64_t)length;
  /* Part of an answer must not be taken for all of it. */
  return request->answer.overflow ? 0 : length;
}

/* The value of a header, if the line is that header. */
static const char *header_value(const char *line, size_t length, const char *name, char *value, size_t size) {
  size_t name_length = strlen(name);
  if (length <= name_length || line[name_length] != ':' || strncasecmp(line, name, name_length) != 0)
    return NULL;
  const char *begin = line + name_length + 1;
  const char *end = line + length;
  while (begin < end && (*begin == ' ' || *begin == '\t'))
    begin++;
  while (end > begin && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
    end--;
  snprintf(value, size, "%.*s", (int)(end - begin), begin);
  return value;
}

static size_t take_header(char *line, size_t size, size_t count, void *context) {
  struct http_request *request = context;
  size_t length = size * count;
  char value[128];
  if (header_value(line, length, "retry-after", value, sizeof value) != NULL) {
    char *end;
    long long seconds = strtoll(value, &end, 10);
    if (end != value && *end == '\0' && seconds >= 0 && seconds < 1000000000)
      request->retry_after = seconds * 1000;
    else
      request->asked_at = (int64_t)curl_getdate(value, NULL);
  } else if (header_value(line, length, "date", value, sizeof value) != NULL) {
    request->answer_at = (int64_t)curl_getdate(value, NULL);
  } else if (length > 5 && strncmp(line, "HTTP/", 5) == 0) {
    /* After a redirect, or status 100, the headers begin again. */
    buffer_clear(&request->answer);
    request->received = 0;
    request->headers_end = false;
    request->retry_after = request->asked_at = request->answer_at = -1;
  }
  if (line[0] == '\r' || line[0] == '\n') /* the last line; trailers may follow the body */
    request->headers_end = true;
  return length;
}

static CURL *take_handle(struct http *http) {
  if (http->idle_count > 0)
    return http->idle[--http->idle_count];
  return curl_easy_init();
}

static void give_handle(struct http *http, CURL *easy) {
  if (http->idle_count == http->idle_capacity) {
    size_t capacity = http->idle_capacity == 0 ? 16 : 2 * http->idle_capacity;
    CURL **grown = realloc(http->idle, capacity * sizeof(CURL *));
    if (grown == NULL) {
      curl_easy_cleanup(easy);
      return;
    }
    http->idle = grown;
    http->idle_capacity = capacity;
  }
  curl_easy_reset(easy);
  http->idle[http->idle_count++] = easy;
}

/*
 * Called when there is a connection, also through a proxy and with TLS, right before the first byte of the request: so
 * it tells, whatever code an error has, whether anything was sent. Making a connection may take as long as others need
 * to take the claim over.
 */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's
static int ask_owner(void *data, char *address, char *own_address, int port, int own_port) {
  (void)address;
  (void)own_address;
  (void)port;
  (void)own_port;
  struct http_request *request = data;
  if (request->may_send != NULL && !request->may_send(request->asked, &request->withheld))
    return CURL_PREREQFUNC_ABORT;
  request->unsent = false;
  return CURL_PREREQFUNC_OK;
}

static void end(struct http *http, struct http_request *request) {
  curl_multi_remove_handle(http->multi, request->easy);
  give_handle(http, request->easy);
  request->easy = NULL;
  http->in_flight--;
}

#define SET(option, value) (code = code == CURLE_OK ? curl_easy_setopt(easy, option, value) : code)

/* Over plain HTTP/2, versions 7.88.0 and 7.88.1 of libcurl fail each request but the first of a connection. */
static bool spoils_connections(void) {
  unsigned int version = curl_version_info(CURLVERSION_NOW)->version_num;
  return version >= 0x075800 && version < 0x080000;
}

/* What is not set would be the library's own choice: another method, no body, other authorities. */
static CURLcode set_options(const struct http *http, struct http_request *request) {
  const struct http_options *options = &http->options;
  const char *url = request->redirected != NULL ? request->redirected : request->url;
  bool encrypted = strncasecmp(url, "https:", 6) == 0;
  int64_t left = request->until - clock_now();
  CURL *easy = request->easy;
  CURLcode code = CURLE_OK;
  SET(CURLOPT_PRIVATE, request);
  SET(CURLOPT_ERRORBUFFER, request->failure);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_USERAGENT, "rowrelay/" ROWRELAY_VERSION);
  SET(CURLOPT_URL, url);
  SET(CURLOPT_HTTPHEADER, request->headers);
  if (request->body != NULL) {
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDS, request->body);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
  }
  SET(CURLOPT_CUSTOMREQUEST, request->method);
  SET(CURLOPT_TIMEOUT_MS, (long)(left > 1 ? left : 1));
  SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_WRITEFUNCTION, take_answer);
  SET(CURLOPT_WRITEDATA, request);
  SET(CURLOPT_HEADERFUNCTION, take_header);
  SET(CURLOPT_HEADERDATA, request);
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* a proxy's answer is not the server's */
  SET(CURLOPT_PREREQFUNCTION, ask_owner);
  SET(CURLOPT_PREREQDATA, request);
  SET(CURLOPT_FOLLOWLOCATION, 0L); /* see follow() */
  if (options->http2) {
    SET(CURLOPT_HTTP_VERSION, encrypted ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    SET(CURLOPT_PIPEWAIT, 1L);
  } else {
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  }
  if (options->never_twice || (options->http2 && !encrypted && spoils_connections())) {
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
  }
  if (options->ca_file != NULL)
    SET(CURLOPT_CAINFO, options->ca_file);
  if (options->certificate != NULL)
    SET(CURLOPT_SSLCERT, options->certificate);
  if (options->private_key != NULL)
    SET(CURLOPT_SSLKEY, options->private_key);
  if (options->proxy != NULL)
    SET(CURLOPT_PROXY, options->proxy);
  return code;
}

static bool begin(struct http *http, struct http_request *request, struct error *error) {
  request->easy = take_handle(http);
  if (request->easy == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  CURLcode set = set_options(http, request);
  CURLMcode added = set == CURLE_OK ? curl_multi_add_handle(http->multi, request->easy) : CURLM_LAST;
  if (added == CURLM_OK) {
    http->in_flight++;
    return true;
  }
  curl_easy_cleanup(request->easy);
  request->easy = NULL;
  return error_set(error, FAILURE_RETRY, "cannot send a request: %s",
                   set != CURLE_OK ? curl_easy_strerror(set) : curl_multi_strerror(added));
}

static void forget_redirects(struct http_request *request) {
  free(request->redirected);
  free(request->elsewhere);
  request->redirected = request->elsewhere = NULL;
  request->redirects = 0;
}

bool http_start(struct http *http, struct http_request *request, struct error *error) {
  request->status = 0;
  request->untrusted = request->headers_end = false;
  request->unsent = true;
  request->until = clock_now() + http->options.timeout;
  error_clear(&request->withheld);
  request->failure[0] = '\0';
  request->received = 0;
  request->retry_after = request->asked_at = request->answer_at = -1;
  forget_redirects(request);
  buffer_release(&request->answer);
  buffer_init(&request->answer, request->answer_limit < LONGEST_ANSWER ? request->answer_limit + 1 : LONGEST_ANSWER);
  return begin(http, request, error);
}

/* What the verification of the server's certificate found is the same in all versions; codes are not. */
static bool is_about_trust(const struct http_request *request, CURLcode code) {
  long verified = 0;
  curl_easy_getinfo(request->easy, CURLINFO_SSL_VERIFYRESULT, &verified);
  if (request->unsent && verified != 0)
    return true;
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_CRL_BADFILE;
}

/*
 * An HTTP/2 server may answer before it has read the whole request, and then end the stream; others end a connection
 * without TLS's goodbye. Some versions of libcurl call that an error, though the answer is there.
 */
static bool is_whole(const struct http_request *request, CURLcode code) {
  curl_off_t length = -1;
  curl_easy_getinfo(request->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  return code != CURLE_WRITE_ERROR && request->headers_end && request->status >= 200 &&
         (request->status == 204 || (length >= 0 && request->received == length));
}

static void read_outcome(struct http_request *request, CURLcode code) {
  curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &request->status);
  if (is_whole(request, code))
    code = CURLE_OK;
  else if (code == CURLE_OK && !request->headers_end)
    code = CURLE_PARTIAL_FILE; /* libcurl takes a connection's end for that of the headers */
  if (code != CURLE_OK) {
    /* An incomplete answer counts as none. */
    request->status = 0;
    request->untrusted = is_about_trust(request, code);
    if (request->failure[0] == '\0')
      snprintf(request->failure, sizeof request->failure, "%s", curl_easy_strerror(code));
    return;
  }
  if (request->retry_after < 0 && request->asked_at >= 0) {
    int64_t from = request->answer_at >= 0 ? request->answer_at : (int64_t)time(NULL);
    request->retry_after = request->asked_at > from ? (request->asked_at - from) * 1000 : 0;
  }
}

/*
 * Follows a redirect, as option follow_redirects asks, if it does not leave the server: the headers, which may hold
 * secrets, and the body go along. False: it is the answer.
 */
static bool follow(struct http *http, struct http_request *request) {
  char *to = NULL;
  struct error ignored;
  bool is_redirect = request->status >= 301 && request->status <= 308 && request->status != 304;
  if (!http->options.follow_redirects || !is_redirect || request->redirects == MOST_REDIRECTS ||
      curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || to == NULL)
    return false;
  char *next = address_on_server(to, request->url, &request->elsewhere);
  if (next == NULL)
    return false;
  free(request->redirected);
  request->redirected = next;
  request->redirects++;
  end(http, request);
  request->status = 0;
  request->headers_end = false;
  if (!begin(http, request, &ignored))
    snprintf(request->failure, sizeof request->failure, "out of memory");
  return request->easy != NULL;
}

/* Gives a finished request that was not given out yet, if there is one. */
static struct http_request *take_done(struct http *http) {
  int queued = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(http->multi, &queued)) != NULL) {
    if (message->msg != CURLMSG_DONE)
      continue;
    struct http_request *request = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
    CURLcode code = message->data.result;
    read_outcome(request, code);
    if (follow(http, request))
      continue;
    if (request->easy == NULL) /* it could not */
      return request;
    end(http, request);
    return request;
  }
  return NULL;
}

struct http_request *http_wait(struct http *http, int64_t deadline) {
  for (;;) {
    int running = 0;
    /* This is checked before curl_multi_perform(), which costs time for each request in flight. */
    struct http_request *request = take_done(http);
    if (request != NULL)
      return request;
    /* Where it fails, for want of memory, it is tried again. */
    (void)curl_multi_perform(http->multi, &running);
    if ((request = take_done(http)) != NULL)
      return request;
    int64_t left = deadline - clock_now();
    if (http->in_flight == 0 || left <= 0 || interrupted())
      return NULL;
    if (curl_multi_poll(http->multi, NULL, 0, left < INTERRUPT_INTERVAL ? (int)left : INTERRUPT_INTERVAL, NULL) !=
        CURLM_OK)
      clock_sleep(FAILED_POLL_PAUSE);
  }
}

void http_cancel(struct http *http, struct http_request *request) {
  if (request->easy == NULL)
    return;
  end(http, request);
}

void http_request_release(struct http_request *request) {
  forget_redirects(request);
  buffer_release(&request->answer);
}
