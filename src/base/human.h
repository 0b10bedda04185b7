/* human.h: numbers as people read them: three significant digits, unit glued on. */
#ifndef STRATA_BASE_HUMAN_H
#define STRATA_BASE_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct human {
    char s[32];
};

struct human human_time(int64_t ns);     /* "564 ms", "10.7 ms", "4.1 us", "2.15 s", "12 ns" */
struct human human_bytes(int64_t bytes); /* "8.61 GB": powers of ten, as GPU vendors count */
struct human human_count(uint64_t n);    /* "218,570" */
struct human human_pct(double pct);      /* "98.4 %" */
struct human human_longer(double pct);   /* "94 % longer", from 100 % on "9.1 times as long" */

/* `ns` in a fixed unit chosen for a whole column: 0 = ns, 1 = us, 2 = ms, 3 = s. */
struct human human_time_in(int64_t ns, int unit);

/* `s` cut in the middle to at most `width` columns, both ends kept, the end favoured. Writes into
 * `out` of `cap` bytes and returns it. What is not safe to print becomes '?'. */
const char *human_cut(struct str s, int width, char *out, size_t cap);
/* The same for "package/folder/file.py:12 more": folders between the package and the file go first,
 * then the package, so that the file's name stays as long as it fits. */
const char *human_cut_path(struct str s, int width, char *out, size_t cap);

/* Makes a terminated string safe to print, in place: '?' for each control character, override or
 * stray byte. Returns `s`. */
char *human_clean(char *s);

/* The same for `n` bytes of lines: line breaks and tabs stay, and with `color` the codes that set
 * colours. Returns how many bytes are left. */
size_t human_clean_lines(char *s, size_t n, bool color);

#endif
