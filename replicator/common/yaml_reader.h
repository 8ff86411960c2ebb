/*
 * yaml_reader: reads a file of YAML, or of JSON, which is YAML, into a tree.
 *
 * Anchors and aliases, tags and a second document in one file are errors. So is a name that stands twice in a map: a
 * parser would take one of both.
 */
#ifndef ROWRELAY_COMMON_YAML_READER_H
#define ROWRELAY_COMMON_YAML_READER_H

#include "common/tree.h"

#define YAML_FILE_LIMIT ((size_t)16 * 1024 * 1024) /* bytes */

/* `file` names it in errors, which begin with FILE:LINE:COLUMN. An empty file is an empty map. The caller owns *tree.
 */
MUST_CHECK bool yaml_read(struct tree **tree, const char *file, const struct buffer *text, struct error *error);

/* Reads the file; "-" is standard input, and what errors call it then is told by yaml_file_name(). */
MUST_CHECK bool yaml_read_file(struct tree **tree, const char *path, struct error *error);
const char *yaml_file_name(const char *path);

/*
 * Reads JSON from the source, in which a character may stand that YAML wants escaped. What it says has no place in a
 * file. The caller owns *tree.
 */
MUST_CHECK bool yaml_read_json(struct tree **tree, const char *json, struct error *error);

#endif
