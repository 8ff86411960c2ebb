#include "common/optional.h"
#if HAVE_LIBNATS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"
#include "targets/channel_name.h"
#include "targets/nats_session.h"

/* Of connecting to one server. Milliseconds. */
#define CONNECT_TIME 5000
/* How long the network may take nothing. Milliseconds. */
#define WRITE_TIME 20000
#define MOST_SERVERS 64

struct nats_session {
  const struct nats *nats;
  natsConnection *connection;
  natsSubscription *answers;
  char inbox[128]; /* answers come to INBOX.ROUND.NUMBER */
  unsigned long long round;
  pthread_mutex_t lock; /* guards what comes from the library's threads, which is the rest */
  pthread_cond_t arrived;
  char complaint[512];
  natsMsg **taken; /* answers, from `first` on */
  size_t first;
  size_t count;
  size_t capacity;
  bool ended;  /* no more come */
  bool closed; /* nor complaints */
};

/* ---- errors ---------------------------------------------------------------------------------------------------- */

bool nats_session_fails(natsStatus status, struct error *error) {
  natsStatus last = NATS_OK;
  const char *said = nats_GetLastError(&last);
  const char *why = said != NULL && said[0] != '\0' && last == status ? said : natsStatus_GetText(status);
  switch (status) {
  case NATS_CONNECTION_AUTH_FAILED:
    error_set(error, FAILURE_FATAL, "the server does not let us in: %s", why);
    return error_hint(error, "see user and password in the target's URL, options token and credentials, and the "
                             "environment of this process");
  case NATS_SSL_ERROR:
  case NATS_SECURE_CONNECTION_WANTED:
  case NATS_SECURE_CONNECTION_REQUIRED:
    error_set(error, FAILURE_FATAL, "no encrypted connection: %s", why);
    return error_hint(error, "a URL that begins with nats+tls: encrypts; see option ca_file; the server's certificate "
                             "must be valid for the host of the URL");
  default:
    return error_set(error, FAILURE_RETRY, "%s", why);
  }
}

/* One that there is no memory for is missed in the end. */
static void take_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
  struct nats_session *session = context;
  (void)connection;
  (void)subscription;
  pthread_mutex_lock(&session->lock);
  if (session->count == session->capacity) {
    size_t capacity = session->capacity == 0 ? 1024 : 2 * session->capacity;
    natsMsg **grown = realloc(session->taken, capacity * sizeof(natsMsg *));
    if (grown != NULL) {
      session->taken = grown;
      session->capacity = capacity;
    }
  }
  if (session->count < session->capacity)
    session->taken[session->count++] = message;
  else
    natsMsg_Destroy(message);
  pthread_cond_signal(&session->arrived);
  pthread_mutex_unlock(&session->lock);
}

/* The last that the library tells of a connection. */
static void take_close(natsConnection *connection, void *context) {
  struct nats_session *session = context;
  (void)connection;
  pthread_mutex_lock(&session->lock);
  session->closed = true;
  pthread_cond_signal(&session->arrived);
  pthread_mutex_unlock(&session->lock);
}

static void take_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
  struct nats_session *session = context;
  const char *text = NULL;
  (void)subscription;
  (void)status;
  natsConnection_GetLastError(connection, &text);
  pthread_mutex_lock(&session->lock);
  text_print(session->complaint, sizeof session->complaint, "%s", text != NULL ? text : natsStatus_GetText(status));
  pthread_mutex_unlock(&session->lock);
}

void nats_session_complaint(struct nats_session *session, char *text, size_t size) {
  pthread_mutex_lock(&session->lock);
  text_print(text, size, "%s", session->complaint);
  session->complaint[0] = '\0';
  pthread_mutex_unlock(&session->lock);
}

/* ---- connecting ------------------------------------------------------------------------------------------------ */

static natsStatus set_servers(natsOptions *options, const struct nats *nats) {
  const char *urls[MOST_SERVERS];
  char *texts[MOST_SERVERS];
  int count = 0;
  natsStatus status = NATS_OK;
  for (const char *host = nats->servers; status == NATS_OK && *host != '\0' && count < MOST_SERVERS;) {
    size_t length = strcspn(host, ",");
    if (asprintf(&texts[count], "%s://%.*s", nats->tls ? "tls" : "nats", (int)length, host) < 0)
      status = NATS_NO_MEMORY;
    else
      urls[count] = texts[count], count++;
    host += length + (host[length] == ',');
  }
  if (status == NATS_OK)
    status = natsOptions_SetServers(options, urls, count);
  while (count > 0)
    free(texts[--count]);
  return status;
}

static natsStatus set_login(natsOptions *options, const struct nats *nats) {
  const struct address *address = &nats->address;
  const char *credentials = target_values_text(&nats->values, "credentials");
  natsStatus status = NATS_OK;
  if (address->user != NULL)
    status = natsOptions_SetUserInfo(options, address->user, address->password != NULL ? address->password : "");
  if (status == NATS_OK && nats->token != NULL)
    status = natsOptions_SetToken(options, nats->token);
  if (status == NATS_OK && credentials != NULL)
    status = natsOptions_SetUserCredentialsFromFiles(options, credentials, NULL);
  return status;
}

static natsStatus set_tls(natsOptions *options, const struct nats *nats) {
  const char *ca_file = target_values_text(&nats->values, "ca_file");
  const char *certificate = target_values_text(&nats->values, "certificate");
  const char *private_key = target_values_text(&nats->values, "private_key");
  if (!nats->tls)
    return NATS_OK;
  natsStatus status = natsOptions_SetSecure(options, true);
  if (status == NATS_OK && ca_file != NULL)
    status = natsOptions_LoadCATrustedCertificates(options, ca_file);
  if (status == NATS_OK && certificate != NULL && private_key != NULL)
    status = natsOptions_LoadCertificatesChain(options, certificate, private_key);
  return status;
}

static int64_t part_of(const struct nats *nats, int64_t most) {
  int64_t half = nats->settings->push_timeout / 2;
  return half < most ? half : most;
}

static natsStatus connect_session(struct nats_session *session) {
  const struct nats *nats = session->nats;
  natsOptions *options = NULL;
  natsStatus status = natsOptions_Create(&options);
#define SET(call) status = status == NATS_OK ? (call) : status
  SET(set_servers(options, nats));
  SET(set_login(options, nats));
  SET(set_tls(options, nats));
  SET(natsOptions_SetName(options, "rowrelay"));
  SET(natsOptions_SetAllowReconnect(options, false));
  SET(natsOptions_SetTimeout(options, part_of(nats, CONNECT_TIME)));
  SET(natsOptions_SetWriteDeadline(options, part_of(nats, WRITE_TIME)));
  SET(natsOptions_SetErrorHandler(options, take_error, session));
  SET(natsOptions_SetClosedCB(options, take_close, session));
  SET(natsConnection_Connect(&session->connection, options));
#undef SET
  natsOptions_Destroy(options);
  return status;
}

/* The last that it tells of a subscription. */
static void end_subscription(void *context) {
  struct nats_session *session = context;
  pthread_mutex_lock(&session->lock);
  session->ended = true;
  pthread_cond_signal(&session->arrived);
  pthread_mutex_unlock(&session->lock);
}

static natsStatus listen_for_answers(struct nats_session *session) {
  natsInbox *inbox = NULL;
  char all[sizeof session->inbox + 8];
  natsStatus status = natsInbox_Create(&inbox);
  if (status != NATS_OK)
    return status;
  snprintf(session->inbox, sizeof session->inbox, "%s", inbox);
  natsInbox_Destroy(inbox);
  snprintf(all, sizeof all, "%s.>", session->inbox);
  status = natsConnection_Subscribe(&session->answers, session->connection, all, take_message, session);
  return status == NATS_OK ? natsSubscription_SetOnCompleteCB(session->answers, end_subscription, session) : status;
}

bool nats_session_open(struct nats_session **session, const struct nats *nats, struct error *error) {
  struct nats_session *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->nats = nats;
  pthread_mutex_init(&made->lock, NULL);
  clock_init_condition(&made->arrived);
  natsStatus status = connect_session(made);
  if (status == NATS_OK)
    status = listen_for_answers(made);
  if (status != NATS_OK) {
    nats_session_fails(status, error);
    if (status == NATS_NO_SERVER || status == NATS_IO_ERROR || status == NATS_TIMEOUT)
      error_set(error, FAILURE_RETRY, "no connection: %s", natsStatus_GetText(status));
    nats_session_close(made);
    return false;
  }
  *session = made;
  return true;
}

void nats_session_close(struct nats_session *session) {
  if (session == NULL)
    return;
  /* The library's threads may still be at work for it: they tell when they are not. */
  natsConnection_Close(session->connection);
  pthread_mutex_lock(&session->lock);
  while ((session->connection != NULL && !session->closed) || (session->answers != NULL && !session->ended))
    clock_wait(&session->arrived, &session->lock, clock_now() + 1000);
  pthread_mutex_unlock(&session->lock);
  natsSubscription_Destroy(session->answers);
  natsConnection_Destroy(session->connection);
  while (session->first < session->count)
    natsMsg_Destroy(session->taken[session->first++]);
  free(session->taken);
  pthread_cond_destroy(&session->arrived);
  pthread_mutex_destroy(&session->lock);
  free(session);
  nats_ReleaseThreadMemory();
}

bool nats_session_is_alive(const struct nats_session *session) {
  return !natsConnection_IsClosed(session->connection);
}

/* ---- the stream ------------------------------------------------------------------------------------------------ */

static bool begin_js(struct nats_session *session, jsCtx **js, struct error *error) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = part_of(session->nats, CONNECT_TIME);
  natsStatus status = natsConnection_JetStream(js, session->connection, &options);
  return status == NATS_OK || nats_session_fails(status, error);
}

static bool no_stream(const struct nats_session *session, natsStatus status, struct error *error) {
  nats_session_fails(status, error);
  struct error why = *error;
  const char *stream = session->nats->stream;
  if (status == NATS_NO_RESPONDERS)
    error_set(error, FAILURE_FATAL, "the server has no JetStream");
  else if (status == NATS_NOT_FOUND)
    error_set(error, FAILURE_FATAL, "there is no stream %s", stream);
  else
    error_set(error, FAILURE_FATAL, "stream %s: %s", stream, why.message);
  return error_hint(error, "make the stream, with the subjects of the target's URL, or set option create_stream=true");
}

bool nats_session_test(struct nats_session *session, struct buffer *answer, struct error *error) {
  jsCtx *js = NULL;
  jsStreamInfo *info = NULL;
  if (session->nats->stream == NULL) {
    buffer_add_string(answer, "the server answered; nothing was sent");
    return true;
  }
  if (!begin_js(session, &js, error))
    return false;
  natsStatus status = js_GetStreamInfo(&info, js, session->nats->stream, NULL, NULL);
  bool ok = status == NATS_OK || (status == NATS_NOT_FOUND && session->nats->create_stream);
  if (ok)
    buffer_add_format(answer, "%s stream %s; nothing was sent", status == NATS_OK ? "there is" : "there is not yet",
                      session->nats->stream);
  else
    no_stream(session, status, error);
  jsStreamInfo_Destroy(info);
  jsCtx_Destroy(js);
  return ok;
}

/* All subjects of the target: what follows {table} is matched, too. */
static void add_filter(struct buffer *filter, const char *pattern) {
  const char *table = strstr(pattern, CHANNEL_NAME_TABLE);
  if (table == NULL) {
    buffer_add_string(filter, pattern);
    return;
  }
  while (table > pattern && table[-1] != '.')
    table--;
  buffer_add(filter, pattern, (size_t)(table - pattern));
  buffer_add_string(filter, ">");
}

bool nats_session_make_stream(struct nats_session *session, struct error *error) {
  jsCtx *js = NULL;
  jsStreamInfo *info = NULL;
  jsStreamConfig config;
  struct buffer filter;
  if (!begin_js(session, &js, error))
    return false;
  buffer_init(&filter, 65536);
  natsStatus status = js_GetStreamInfo(&info, js, session->nats->stream, NULL, NULL);
  if (status == NATS_NOT_FOUND) {
    add_filter(&filter, session->nats->subject);
    const char *subjects[] = {filter.data};
    jsStreamConfig_Init(&config);
    config.Name = session->nats->stream;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    status = filter.data != NULL ? js_AddStream(NULL, js, &config, NULL, NULL) : NATS_NO_MEMORY;
  }
  bool ok = status == NATS_OK || no_stream(session, status, error);
  buffer_release(&filter);
  jsStreamInfo_Destroy(info);
  jsCtx_Destroy(js);
  return ok;
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

void nats_session_begin_round(struct nats_session *session) {
  session->round++;
}

bool nats_session_message(struct nats_session *session, const char *subject, size_t number, const struct buffer *value,
                          natsMsg **message) {
  char reply[sizeof session->inbox + 48];
  snprintf(reply, sizeof reply, "%s.%llu.%zu", session->inbox, session->round, number);
  return natsMsg_Create(message, subject, reply, value->data != NULL ? value->data : "", (int)value->length) == NATS_OK;
}

natsStatus nats_session_publish(struct nats_session *session, natsMsg *message) {
  return natsConnection_PublishMsg(session->connection, message);
}

static natsMsg *next_message(struct nats_session *session, int milliseconds) {
  int64_t until = clock_now() + milliseconds;
  natsMsg *message = NULL;
  pthread_mutex_lock(&session->lock);
  while (session->first == session->count && clock_now() < until)
    clock_wait(&session->arrived, &session->lock, until);
  if (session->first < session->count)
    message = session->taken[session->first++];
  if (session->first == session->count)
    session->first = session->count = 0;
  pthread_mutex_unlock(&session->lock);
  return message;
}

bool nats_session_answer(struct nats_session *session, int milliseconds, natsMsg **answer, size_t *number,
                         struct error *error) {
  error_clear(error);
  *answer = next_message(session, milliseconds);
  if (*answer == NULL) {
    if (!nats_session_is_alive(session))
      error_set(error, FAILURE_RETRY, "the server has closed the connection");
    return false;
  }
  unsigned long long round = 0;
  char *end = NULL;
  const char *subject = natsMsg_GetSubject(*answer);
  if (strlen(subject) > strlen(session->inbox)) {
    round = strtoull(subject + strlen(session->inbox) + 1, &end, 10);
    *number = *end == '.' ? strtoull(end + 1, NULL, 10) : 0;
  }
  if (end != NULL && round == session->round)
    return true;
  natsMsg_Destroy(*answer);
  return false;
}
#else
typedef int nats_session_is_not_built;
#endif
