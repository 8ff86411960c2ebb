/* tls_options: the files that targets which speak TLS take. */
#ifndef ROWRELAY_TARGETS_TLS_OPTIONS_H
#define ROWRELAY_TARGETS_TLS_OPTIONS_H

#include "targets/target_values.h"

/* ca_file, certificate and private_key */
extern const struct target_option TARGET_TLS_OPTIONS[];

/* Whether those that are named can be read here. */
MUST_CHECK bool tls_options_check(const struct target_values *values, struct error *error);

#endif
