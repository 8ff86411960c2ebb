#include "common/echo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What an escape stands for. */
struct letter {
  char bytes[4]; /* UTF-8 */
  size_t length;
};

/* Gives the bytes of the escape that `said` begins with; 0: none, CUT: its end is missing. */
typedef size_t decoder(const char *said, struct letter *letter);
#define CUT ((size_t)-1)

static void set_letter(struct letter *letter, unsigned long code) {
  char *bytes = letter->bytes;
  if (code < 0x80) {
    bytes[0] = (char)code;
    letter->length = 1;
  } else if (code < 0x800) {
    bytes[0] = (char)(0xC0 | code >> 6);
    bytes[1] = (char)(0x80 | (code & 0x3F));
    letter->length = 2;
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | code >> 12);
    bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[2] = (char)(0x80 | (code & 0x3F));
    letter->length = 3;
  } else {
    bytes[0] = (char)(0xF0 | (code >> 18 & 7));
    bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
    bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[3] = (char)(0x80 | (code & 0x3F));
    letter->length = 4;
  }
}

/* So many hexadecimal digits; 0, or CUT, if they are not all there. */
static size_t read_hex(const char *said, size_t digits, unsigned long *code) {
  char text[8] = "";
  for (size_t i = 0; i < digits; i++) {
    if (said[i] == '\0')
      return CUT;
    if (!isxdigit((unsigned char)said[i]))
      return 0;
    text[i] = said[i];
  }
  *code = strtoul(text, NULL, 16);
  return digits;
}

static size_t decode_unicode(const char *said, struct letter *letter) {
  unsigned long code;
  unsigned long low;
  size_t used = read_hex(said + 2, 4, &code);
  if (used == 0 || used == CUT)
    return used;
  used = 6;
  if (code >= 0xD800 && code < 0xDC00 && said[6] == '\\' && said[7] == 'u' && read_hex(said + 8, 4, &low) == 4) {
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    used = 12;
  }
  set_letter(letter, code);
  return used;
}

static size_t decode_json(const char *said, struct letter *letter) {
  static const char ESCAPES[] = "\"\\/nrtbf";
  static const char MEANT[] = "\"\\/\n\r\t\b\f";
  if (said[0] != '\\')
    return 0;
  if (said[1] == '\0')
    return CUT;
  if (said[1] == 'u')
    return decode_unicode(said, letter);
  const char *found = strchr(ESCAPES, said[1]);
  if (found == NULL)
    return 0;
  set_letter(letter, (unsigned char)MEANT[found - ESCAPES]);
  return 2;
}

static size_t decode_html(const char *said, struct letter *letter) {
  static const struct {
    const char *name;
    char meant;
  } NAMES[] = {{"amp;", '&'}, {"lt;", '<'},     {"gt;", '>'},     {"quot;", '"'},  {"apos;", '\''},
               {"sol;", '/'}, {"plus;", '+'},   {"equals;", '='}, {"colon;", ':'}, {"commat;", '@'},
               {"num;", '#'}, {"percnt;", '%'}, {"bsol;", '\\'},  {"excl;", '!'},  {"dollar;", '$'}};
  if (said[0] != '&')
    return 0;
  size_t length = strcspn(said, "; \n");
  if (length > 9)
    return 0;
  if (said[length] == '\0')
    return CUT;
  if (said[1] == '#') {
    int base = said[2] == 'x' || said[2] == 'X' ? 16 : 10;
    char *end;
    unsigned long code = strtoul(said + (base == 16 ? 3 : 2), &end, base);
    if (end != said + length || said[length] != ';' || code == 0)
      return 0;
    set_letter(letter, code);
    return length + 1;
  }
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
    if (strncmp(said + 1, NAMES[i].name, strlen(NAMES[i].name)) == 0) {
      set_letter(letter, (unsigned char)NAMES[i].meant);
      return length + 1;
    }
  return 0;
}

static size_t decode_percent(const char *said, struct letter *letter) {
  unsigned long code = 0;
  if (said[0] != '%')
    return 0;
  size_t used = read_hex(said + 1, 2, &code);
  if (used == 0 || used == CUT)
    return used;
  letter->bytes[0] = (char)code; /* one of several, maybe */
  letter->length = 1;
  return 3;
}

static size_t decode_none(const char *said, struct letter *letter) {
  (void)said;
  (void)letter;
  return 0;
}

static size_t decode_any(const char *said, struct letter *letter) {
  size_t used = decode_json(said, letter);
  used = used == 0 ? decode_html(said, letter) : used;
  return used == 0 ? decode_percent(said, letter) : used;
}

static size_t match(const char *said, const char *text, size_t least, decoder *decode) {
  size_t at = 0;
  size_t done = 0;
  while (text[done] != '\0') {
    struct letter letter = {.length = 0};
    size_t used = said[at] == '\0' ? CUT : decode(said + at, &letter);
    if (used == CUT)
      return done >= least ? at + strlen(said + at) : 0;
    if (used == 0) {
      letter = (struct letter){.bytes = {said[at]}, .length = 1};
      used = 1;
    }
    if (strncmp(text + done, letter.bytes, letter.length) != 0)
      return 0;
    at += used;
    done += letter.length;
  }
  return at;
}

size_t echo_at(const char *said, const char *text, size_t least) {
  static decoder *const DECODERS[] = {decode_none, decode_json, decode_html, decode_percent, decode_any};
  for (size_t i = 0; i < sizeof DECODERS / sizeof DECODERS[0]; i++) {
    size_t length = match(said, text, least, DECODERS[i]);
    if (length > 0)
      return length;
  }
  return 0;
}
