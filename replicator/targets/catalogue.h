/*
 * catalogue: what kinds of targets there are, and what can be set of each, told to the schema, to people and to shells.
 * All of it is made of the tables of target.h and target_option.h. `kinds` ends with NULL.
 *
 * What is checked in of it (two functions of the schema, a table in README.md) is made anew by `make options`; a unit
 * test holds it against what this says.
 */
#ifndef ROWRELAY_TARGETS_CATALOGUE_H
#define ROWRELAY_TARGETS_CATALOGUE_H

#include "common/buffer.h"
#include "targets/target.h"

/* The file schema/functions/target/target_kinds.sql */
void catalogue_add_sql_kinds(struct buffer *text, const struct target_kind *const *kinds);
/* The file schema/functions/target/target_options.sql */
void catalogue_add_sql_options(struct buffer *text, const struct target_kind *const *kinds);
/* What stands in README.md between two markers */
void catalogue_add_markdown(struct buffer *text, const struct target_kind *const *kinds);

/* The kinds of URLs for people, a line each */
void catalogue_add_urls(struct buffer *text, const struct target_kind *const *kinds);
/* The options for people, a line each below whose they are */
void catalogue_add_options(struct buffer *text, const struct target_kind *const *kinds);

/* What a URL can begin with, and "NAME=" of each option: a blank before each */
void catalogue_add_url_words(struct buffer *text, const struct target_kind *const *kinds);
void catalogue_add_option_words(struct buffer *text, const struct target_kind *const *kinds);

#endif
