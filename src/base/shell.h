/* shell.h: words as a shell reads them. Whatever is offered for copying into one goes through here:
 * names of files and of what is in them are written by others. */
#ifndef STRATA_BASE_SHELL_H
#define STRATA_BASE_SHELL_H

struct shell_word {
    char s[2048];
};

/* `text` as one word: bare where no shell sees anything in it, else in quotes. What does not fit
 * becomes `...`, which names no file. */
struct shell_word shell_word(const char *text);

#endif
