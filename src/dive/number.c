/* number.c: see csv.h. */
#include "dive/csv.h"

#include <math.h>
#include <stdlib.h>

#include <stdbool.h>

static bool number_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of what separates thousands and nothing else at `i`: a blank of some width, or a quote. */
static size_t grouping_length(struct str s, size_t i)
{
    static const char *const marks[] = {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};
    struct str rest = str_from(s.p + i, s.n - i);
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (str_starts(rest, marks[k])) return strlen(marks[k]);
    return 0;
}

/* End of the number that `s` begins with: digits, signs, separators followed by a digit. */
static size_t number_end(struct str s)
{
    size_t i = 0;
    while (i < s.n) {
        size_t step = 1;
        bool separator = s.p[i] == '.' || s.p[i] == ',';
        if (!number_is_digit(s.p[i]) && !separator) step = i ? grouping_length(s, i) : 0;
        if (i == 0 && (s.p[0] == '-' || s.p[0] == '+')) step = 1;
        if (!step || i + step > s.n) break;
        if (!number_is_digit(s.p[i]) && (i + step == s.n || !number_is_digit(s.p[i + step]))) break;
        i += step;
    }
    return i;
}

struct separators {
    int points, commas;
    size_t last;      /* place of the last one of either */
    size_t after;     /* digits behind it */
    bool other_group; /* thousands are separated by something else */
};

static struct separators count_separators(struct str s)
{
    struct separators c = {0};
    for (size_t i = 0; i < s.n; i++) {
        c.other_group |= i > 0 && !number_is_digit(s.p[i]) && grouping_length(s, i) > 0;
        if (s.p[i] != '.' && s.p[i] != ',') continue;
        c.points += s.p[i] == '.';
        c.commas += s.p[i] == ',';
        c.last = i;
        c.after = s.n - i - 1;
    }
    return c;
}

/* The decimal sign, '.' or ',', as far as this number alone tells; 0 when it does not. */
static char decimal_of(struct str s)
{
    struct separators c = count_separators(s);
    if (c.points + c.commas == 0) return 0;
    if (c.points && c.commas) return s.p[c.last];
    char only = c.points ? '.' : ',', other = c.points ? ',' : '.';
    if (c.points + c.commas > 1) return other; /* groups of thousands */
    bool group = c.after == 3 && c.last > 0 && c.last <= 3 && s.p[0] != '0' && !c.other_group;
    return group ? 0 : only;
}

void number_vote(struct number_style *style, struct str text)
{
    struct str s = str_trim(text);
    s.n = number_end(s);
    char decimal = decimal_of(s);
    style->point += decimal == '.';
    style->comma += decimal == ',';
}

double number_parse(struct number_style style, struct str text)
{
    char plain[64];
    struct str s = str_trim(text);
    size_t end = number_end(s), n = 0;
    char decimal = style.comma > style.point ? ',' : '.';
    for (size_t i = 0; i < end && n + 1 < sizeof plain; i++) {
        if (s.p[i] == decimal) plain[n++] = '.';
        else if (number_is_digit(s.p[i]) || s.p[i] == '-') plain[n++] = s.p[i];
    }
    if (end < s.n && (s.p[end] == 'e' || s.p[end] == 'E'))
        for (size_t i = end; i < s.n && n + 1 < sizeof plain && !strchr(" (", s.p[i]); i++)
            plain[n++] = s.p[i];
    plain[n] = 0;
    char *rest;
    double v = strtod(plain, &rest);
    return rest == plain || !isfinite(v) ? NAN : v;
}
