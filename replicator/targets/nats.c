/*
 * NATS: each change is a message in a stream of JetStream, by libnats. The program is built without that where it is
 * not installed; such a URL is then refused.
 */
#include "targets/nats.h"

#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "common/url.h"
#include "targets/channel_name.h"
#include "targets/tls_options.h"
#if HAVE_LIBNATS
#include "targets/nats_session.h"
#endif

static const struct target_option OWN_OPTIONS[] = {
    {.name = "stream",
     .help = "stream that must take the messages",
     .pattern = "^[^\\s.*>/\\\\]+$",
     .words = "a name without blanks and without any of .*>/\\"},
    {.name = "create_stream",
     .help = "whether to make that stream where it is missing, with the subjects of the URL",
     .choices = "true|false",
     .initial = "false"},
    {.name = "token",
     .help = "token to log in with",
     .pattern = "^" TARGET_OPTION_VARIABLE "$",
     .words = "${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    {.name = "credentials",
     .help = "credentials to log in with, as nsc makes them",
     .pattern = "^/",
     .words = "the absolute path of a file on the machine of rowrelay run"},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_ENVELOPE_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool nats_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

void nats_add_subject(struct buffer *buffer, const char *pattern, const struct route *route) {
  size_t begin = buffer->length;
  channel_name_add(buffer, pattern, route);
  /* The tokens between dots may not be empty. */
  for (size_t i = begin; i < buffer->length; i++)
    if (buffer->data[i] == '.' && (i == begin || i + 1 == buffer->length || buffer->data[i - 1] == '.'))
      buffer->data[i] = '_';
}

#if HAVE_LIBNATS
static void nats_close(void *handle) {
  struct nats *nats = handle;
  if (nats == NULL)
    return;
  nats_session_close(nats->session);
  target_values_release(&nats->values);
  envelope_release(&nats->envelope);
  address_release(&nats->address);
  free(nats->servers);
  free(nats->token);
  free(nats->subject);
  free(nats);
}

/* nats://USER:PASSWORD@HOST:PORT,HOST:PORT/SUBJECT, where all but the first host may be missing. */
static bool read_url(struct nats *nats, const char *url, struct error *error) {
  const char *authority = strstr(url, "://") + 3;
  const char *path = strchr(authority, '/');
  size_t length = path != NULL ? (size_t)(path - authority) : strlen(authority);
  const char *at = memchr(authority, '@', length);
  const char *hosts = at != NULL ? at + 1 : authority;
  char *first = strndup(url, (size_t)(hosts - url) + strcspn(hosts, ",/"));
  bool ok =
      first != NULL ? address_init(&nats->address, first, error) : error_set(error, FAILURE_RETRY, "out of memory");
  free(first);
  nats->tls = strncmp(url, "nats+tls:", 9) == 0;
  nats->servers = strndup(hosts, length - (size_t)(hosts - authority));
  nats->subject = strdup(path != NULL && path[1] != '\0' ? path + 1 : CHANNEL_NAME_TABLE);
  if (ok && (nats->servers == NULL || nats->subject == NULL))
    ok = error_set(error, FAILURE_RETRY, "out of memory");
  nats->per_table = ok && nats->subject != NULL && strstr(nats->subject, CHANNEL_NAME_TABLE) != NULL;
  return ok;
}

static bool read_options(struct nats *nats, struct error *error) {
  const char *token = target_values_text(&nats->values, "token");
  struct buffer filled;
  nats->stream = target_values_text(&nats->values, "stream");
  nats->create_stream = target_values_flag(&nats->values, "create_stream");
  envelope_init(&nats->envelope, nats->settings, &nats->values);
  nats->envelope.prefix = "ce-";
  if (token == NULL)
    return true;
  buffer_init(&filled, URL_LIMIT);
  bool ok = text_fill_in(token, "option token", &filled, error);
  nats->token = ok ? strdup(filled.data) : NULL;
  buffer_release(&filled);
  return ok && (nats->token != NULL || error_set(error, FAILURE_RETRY, "out of memory"));
}

static bool nats_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                      struct error *error) {
  struct nats *nats = calloc(1, sizeof *nats);
  if (nats == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  nats->settings = settings;
  nats->source = source;
  if (!read_url(nats, url, error) || !target_values_init(&nats->values, settings, OPTIONS, error) ||
      !read_options(nats, error) || !tls_options_check(&nats->values, error)) {
    nats_close(nats);
    return false;
  }
  *handle = nats;
  return true;
}

static bool nats_test(void *handle, struct buffer *answer, struct error *error) {
  struct nats *nats = handle;
  nats_session_close(nats->session);
  nats->session = NULL;
  return nats_session_open(&nats->session, nats, error) && nats_session_test(nats->session, answer, error);
}
#endif

static const struct target_url URLS[] = {
    {"nats", "nats://HOST:4222/SUBJECT", "NATS JetStream; without a subject, each table's own, SCHEMA.TABLE"},
    {"nats+tls", "nats+tls://HOST:4222/SUBJECT", "the same with TLS"},
    {NULL, NULL, NULL},
};

#define A_SUBJECT "([A-Za-z0-9._-]|[{]table[}]|[$][{]\\w+[}])*"
#define SUBJECT_HINT "Write letters, digits, '_' and '-', with dots in between; {table} is a table's name."

static const struct target_url_rule URL_RULES[] = {
    {.pattern = "^nats([+]tls)?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(,[^/?#@,]+)*(/|$)",
     .problem = "names no server",
     .hint = "Write SCHEME://HOST:4222/SUBJECT, with a comma between servers."},
    {.pattern = "^nats([+]tls)?://[^/]+(/" A_SUBJECT ")?$",
     .problem = "names a subject that cannot be",
     .hint = SUBJECT_HINT},
    {.pattern = "^[^/]+//[^/]+/([.]|.*[.]([.]|$))",
     .forbidden = true,
     .problem = "names a subject that cannot be",
     .hint = SUBJECT_HINT},
    {.pattern = NULL},
};

const struct target_kind TARGET_NATS = {.name = "nats",
                                        .urls = URLS,
                                        .url_rules = URL_RULES,
                                        .options = OPTIONS,
                                        .opens_alone = true,
                                        .test_sends_nothing = true,
                                        .wants_details = nats_wants_details,
#if HAVE_LIBNATS
                                        .open = nats_open,
                                        .push = nats_push,
                                        .test = nats_test,
                                        .close = nats_close
#else
                                        .lacks = "libnats"
#endif
};
