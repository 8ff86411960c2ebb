/* shell: words of commands that people are told to run, so that they can paste them. */
#ifndef ROWRELAY_COMMON_SHELL_H
#define ROWRELAY_COMMON_SHELL_H

#define SHELL_WORD_SIZE 512

struct shell_word {
  char text[SHELL_WORD_SIZE];
};

/* The word as a shell reads it: as it is, or in quotes where it has to be. Cut off where it is too long. */
const char *shell_quote(struct shell_word *word, const char *text);

#endif
