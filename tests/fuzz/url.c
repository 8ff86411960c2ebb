/* URLs and options of targets: a line with the URL, in which ${SECRET} may stand, one with its options, and a secret.
 */
#include "common/url.h"

#include <jansson.h>

#include "fuzz.h"
#include "targets/signature.h"
#include "targets/target.h"

static void hide(const char *url, const char *secret) {
  struct buffer filled;
  struct error error;
  buffer_init(&filled, URL_LIMIT);
  if (url_fill_in(url, "URL", &filled, &error) && strlen(secret) >= 8) {
    error_set(&error, FAILURE_RETRY, "cannot connect to %s", filled.data);
    url_hide(url, &error);
    /* What stands there by itself was not taken from the environment. */
    PROMISE(strstr(url, secret) != NULL || strstr("cannot connect to ", secret) != NULL ||
                strstr(error.message, secret) == NULL || strstr(url, "${SECRET}") == NULL,
            "an error does not show a secret");
  }
  buffer_release(&filled);
}

/* The database keeps nothing but an object whose values are of the kinds that the options have. */
static void check_target(const char *url, const char *options) {
  struct error error;
  struct settings settings = {
      .name = "target", .url = url, .options = options, .source_id = "", .reason = "", .push_timeout = 1000};
  const struct target_kind *kind = NULL;
  const char *host = strstr(url, "://");
  json_t *object = json_loads(options, 0, NULL);
  /* Nor a URL of a server without a host. */
  if (target_find_kind(url, &kind, &error) && json_is_object(object) &&
      (kind->is_path || (host != NULL && host[3] != '\0' && strchr("/?#", host[3]) == NULL)))
    (void)!target_check(&settings, &error);
  json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  char *rest = text;
  const char *url = cut_line(&rest);
  const char *options = cut_line(&rest);
  struct signer signer;
  struct error error;
  setenv("SECRET", rest, 1);
  hide(url, rest);
  check_target(url, options);
  if (signer_read(&signer, rest, &error))
    PROMISE(signer.count > 0 && signer.count <= SIGNATURE_KEYS, "a signer has keys");
  free(text);
  return 0;
}
