/*
 * AMQP 0-9-1, which RabbitMQ speaks: each change is a message to an exchange, by librabbitmq. The program is built
 * without that where it is not installed; such a URL is then refused.
 */
#include "targets/rabbit.h"

#include <stdlib.h>
#include <string.h>

#include "common/optional.h"
#include "targets/channel_name.h"
#include "targets/tls_options.h"
#if HAVE_LIBRABBITMQ
#include "common/clock.h"
#include "targets/rabbit_session.h"
#endif

static const struct target_option OWN_OPTIONS[] = {
    {.name = "routing_key",
     .help = "routing key of a message; {table} stands for the table's name",
     .pattern = "^([A-Za-z0-9._:-]|\\{table\\})*$",
     .words = "letters, digits, any of ._:- and {table}",
     .initial = CHANNEL_NAME_TABLE},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_ENVELOPE_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool rabbit_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

#if HAVE_LIBRABBITMQ
static void rabbit_close(void *handle) {
  struct rabbit *rabbit = handle;
  if (rabbit == NULL)
    return;
  rabbit_session_close(rabbit->session);
  target_values_release(&rabbit->values);
  envelope_release(&rabbit->envelope);
  address_release(&rabbit->address);
  free(rabbit->virtual_host);
  free(rabbit->exchange);
  free(rabbit);
}

/* amqp://USER:PASSWORD@HOST:PORT/VIRTUAL_HOST/EXCHANGE, where all but the host may be missing. */
static bool read_url(struct rabbit *rabbit, const char *url, struct error *error) {
  if (!address_init(&rabbit->address, url, error))
    return false;
  char *path = rabbit->address.path;
  char *slash = strchr(path, '/');
  if (slash != NULL)
    *slash = '\0';
  rabbit->virtual_host = slash != NULL ? address_decode(path) : strdup("/");
  rabbit->exchange = address_decode(slash != NULL ? slash + 1 : path);
  return (rabbit->virtual_host != NULL && rabbit->exchange != NULL) || error_set(error, FAILURE_RETRY, "out of memory");
}

static bool rabbit_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                        struct error *error) {
  struct rabbit *rabbit = calloc(1, sizeof *rabbit);
  if (rabbit == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  rabbit->settings = settings;
  rabbit->source = source;
  bool ok = read_url(rabbit, url, error) && target_values_init(&rabbit->values, settings, OPTIONS, error);
  if (ok) {
    rabbit->routing_key = target_values_text(&rabbit->values, "routing_key");
    envelope_init(&rabbit->envelope, settings, &rabbit->values);
    rabbit->envelope.prefix = "cloudEvents:";
  }
  if (!ok || !tls_options_check(&rabbit->values, error)) {
    rabbit_close(rabbit);
    return false;
  }
  *handle = rabbit;
  return true;
}

/* A new session logs in, and looks for the exchange. */
static bool rabbit_test(void *handle, struct buffer *answer, struct error *error) {
  struct rabbit *rabbit = handle;
  rabbit_session_close(rabbit->session);
  rabbit->session = NULL;
  if (!rabbit_session_open(&rabbit->session, rabbit, clock_now() + rabbit->settings->push_timeout, error))
    return false;
  buffer_add_string(answer, "the broker answered; nothing was sent");
  return true;
}
#endif

static const struct target_url URLS[] = {
    {"amqp", "amqp://USER:${PASSWORD}@HOST:5672/VHOST/EXCHANGE", "RabbitMQ; VHOST may be missing"},
    {"amqps", "amqps://USER:${PASSWORD}@HOST:5671/VHOST/EXCHANGE", "the same with TLS"},
    {NULL, NULL, NULL},
};

#define A_NAME "([A-Za-z0-9._:%-]|[$][{]\\w+[}])"

static const struct target_url_rule URL_RULES[] = {
    {.pattern = "^amqps?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(/|$)",
     .problem = "names no host, or more than one",
     .hint = "Write SCHEME://USER:${PASSWORD}@HOST/EXCHANGE."},
    {.pattern = "^amqps?://[^/]+(/" A_NAME "+)?(/" A_NAME "*)?$",
     .problem = "names an exchange that cannot be",
     .hint = "Write /VHOST/EXCHANGE or /EXCHANGE: letters, digits, ._:- and %XX for all else."},
    {.pattern = NULL},
};

const struct target_kind TARGET_AMQP = {.name = "amqp",
                                        .urls = URLS,
                                        .url_rules = URL_RULES,
                                        .options = OPTIONS,
                                        .opens_alone = true,
                                        .test_sends_nothing = true,
                                        .wants_details = rabbit_wants_details,
#if HAVE_LIBRABBITMQ
                                        .open = rabbit_open,
                                        .push = rabbit_push,
                                        .test = rabbit_test,
                                        .close = rabbit_close
#else
                                        .lacks = "librabbitmq"
#endif
};
