/* yaml_writer: writes a tree as YAML for people to read and edit; yaml_reader reads the same tree from it. */
#ifndef ROWRELAY_COMMON_YAML_WRITER_H
#define ROWRELAY_COMMON_YAML_WRITER_H

#include "common/tree.h"

/* Appends the items of a map, one to a line or block. Texts of several lines are written as blocks. */
void yaml_add_map(struct buffer *yaml, const struct tree *map);

/* Appends JSON, with an escape for each character that YAML does not allow as it is. Such stand only in strings. */
void yaml_add_escaped(struct buffer *yaml, const char *json);

#endif
