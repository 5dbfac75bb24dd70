/* completion.h — what shells need to complete the words of `procession`, from the tables. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* A script for "bash" or "zsh". False: there is none for this shell. */
bool cli_completion_print(FILE *f, const char *shell);

#endif
