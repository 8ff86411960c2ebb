/* escape: prints texts of unknown origin so that they can neither break the layout nor control the terminal. */
#ifndef ROWRELAY_TERMINAL_ESCAPE_H
#define ROWRELAY_TERMINAL_ESCAPE_H

/* Control characters are shown as \xNN. */
void escape_print(const char *text);
/* As a JSON string; null for NULL. */
void escape_print_json(const char *text);

#endif
