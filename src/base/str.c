/* str.c: comparing and searching borrowed byte runs. */
#include "base/str.h"

#include <ctype.h>

bool str_starts(struct str a, const char *s)
{
    size_t n = strlen(s);
    return n == 0 || (a.n >= n && memcmp(a.p, s, n) == 0);
}

bool str_ends(struct str a, const char *s)
{
    size_t n = strlen(s);
    return n == 0 || (a.n >= n && memcmp(a.p + a.n - n, s, n) == 0);
}

bool str_ends_in_one_of(struct str path, const char *extensions)
{
    while (*extensions) {
        size_t n = strcspn(extensions, " ");
        if (path.n > n && memcmp(path.p + path.n - n, extensions, n) == 0) return true;
        extensions += n + (extensions[n] == ' ');
    }
    return false;
}

long str_find(struct str a, const char *s)
{
    size_t n = strlen(s);
    if (n == 0) return 0;
    for (size_t i = 0; i + n <= a.n; i++) {
        const char *hit = memchr(a.p + i, s[0], a.n - i - n + 1);
        if (!hit) return -1;
        i = (size_t)(hit - a.p);
        if (memcmp(hit, s, n) == 0) return (long)i;
    }
    return -1;
}

bool str_has(struct str a, const char *s)
{
    return str_find(a, s) >= 0;
}

struct str str_trim(struct str a)
{
    while (a.n && isspace((unsigned char)a.p[0])) a.p++, a.n--;
    while (a.n && isspace((unsigned char)a.p[a.n - 1])) a.n--;
    return a;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c) return c;
    return a.n < b.n ? -1 : a.n > b.n;
}
