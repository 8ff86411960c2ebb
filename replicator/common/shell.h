/* shell: quotes words of commands in hints, so that the commands can be pasted. */
#ifndef ROWRELAY_COMMON_SHELL_H
#define ROWRELAY_COMMON_SHELL_H

#define SHELL_WORD_SIZE 512

struct shell_word {
  char text[SHELL_WORD_SIZE];
};

/* The word as a shell reads it, quoted if needed. Cut if it is too long. */
const char *shell_quote(struct shell_word *word, const char *text);

#endif
