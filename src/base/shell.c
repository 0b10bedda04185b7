/* shell.c: see shell.h. */
#include "base/shell.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool shell_is_bare(const char *text)
{
    if (!*text || *text == '-' || *text == '=' || *text == '~') return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_./:=@%+,-~", *text) &&
            !((unsigned char)*text & 0x80))
            return false;
    return true;
}

/* In single quotes only the quote itself means something; a file that looks like an option gets a
 * folder in front. */
struct shell_word shell_word(const char *text)
{
    struct shell_word w = {"..."};
    bool bare = shell_is_bare(text);
    size_t n = 0, room = sizeof w.s - 8;
    const char *front = *text == '-' && text[1] ? "./" : "";
    if (!bare) w.s[n++] = '\'';
    for (; *front; front++) w.s[n++] = *front;
    for (const char *p = text; *p; p++) {
        if (n >= room) return (struct shell_word){"..."};
        if (*p != '\'') {
            w.s[n++] = *p;
            continue;
        }
        memcpy(w.s + n, "'\\''", 4);
        n += 4;
    }
    if (!bare) w.s[n++] = '\'';
    w.s[n] = 0;
    return w;
}
