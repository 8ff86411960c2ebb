/*
 * catalogue: lists the kinds of targets and their options for the schema, for people and for shells, all generated from
 * the tables of target.h and target_option.h. `kinds` ends with NULL.
 *
 * `make options` regenerates what is checked in of it (two functions of the schema, a table in README.md); a unit test
 * fails where that is out of date.
 */
#ifndef ROWRELAY_TARGETS_CATALOGUE_H
#define ROWRELAY_TARGETS_CATALOGUE_H

#include "common/buffer.h"
#include "targets/target.h"

/* The file schema/functions/target/target_kinds.sql */
void catalogue_add_sql_kinds(struct buffer *text, const struct target_kind *const *kinds);
/* The file schema/functions/target/target_options.sql */
void catalogue_add_sql_options(struct buffer *text, const struct target_kind *const *kinds);
/* The part of README.md between two markers */
void catalogue_add_markdown(struct buffer *text, const struct target_kind *const *kinds);

/* The kinds of URLs for people, a line each */
void catalogue_add_urls(struct buffer *text, const struct target_kind *const *kinds);
/* The options for people, grouped by the kinds that have them */
void catalogue_add_options(struct buffer *text, const struct target_kind *const *kinds);

/* What a URL can begin with; "NAME=" of each option, and "NAME=VALUE" where it has few values. A space before each.
 * `kind`: only options of such targets; NULL: of all. */
void catalogue_add_url_words(struct buffer *text, const struct target_kind *const *kinds);
void catalogue_add_option_words(struct buffer *text, const struct target_kind *const *kinds,
                                const struct target_kind *kind);

#endif
