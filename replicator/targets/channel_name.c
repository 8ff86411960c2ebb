#include "targets/channel_name.h"

#include <ctype.h>
#include <string.h>

#include "common/text.h"

static bool is_legal(char c) {
  return (c & 0x80) == 0 && c != '\0' && (isalnum((unsigned char)c) || strchr("._-", c) != NULL);
}

static void add_name(struct buffer *buffer, const char *name) {
  while (*name != '\0') {
    size_t letter = text_length(name, strlen(name));
    if (is_legal(*name))
      buffer_add(buffer, name, 1);
    else if (*name != '"')
      buffer_add(buffer, "_", 1);
    name += letter > 0 ? letter : 1;
  }
}

void channel_name_add(struct buffer *buffer, const char *pattern, const struct route *route) {
  const char *found;
  while ((found = strstr(pattern, CHANNEL_NAME_TABLE)) != NULL) {
    buffer_add(buffer, pattern, (size_t)(found - pattern));
    add_name(buffer, route->into_table);
    pattern = found + strlen(CHANNEL_NAME_TABLE);
  }
  buffer_add_string(buffer, pattern);
}
