#include "targets/tls_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define A_FILE .pattern = "^/", .words = "the absolute path of a file on the machine of rowrelay run"

const struct target_option TARGET_TLS_OPTIONS[] = {
    {.name = "ca_file", .help = "certificate authorities to trust instead of this machine's", A_FILE},
    {.name = "certificate", .help = "client certificate", A_FILE},
    {.name = "private_key", .help = "private key of that certificate", A_FILE},
    TARGET_OPTION_END,
};

bool tls_options_check(const struct target_values *values, struct error *error) {
  for (const struct target_option *option = TARGET_TLS_OPTIONS; option->name != NULL; option++) {
    const char *path = target_values_text(values, option->name);
    if (path == NULL || access(path, R_OK) == 0)
      continue;
    error_set(error, FAILURE_FATAL, "option %s: cannot read %s: %s", option->name, path, strerror(errno));
    return error_hint(error, "the file must be on the machine of rowrelay run, and readable by it");
  }
  return true;
}
