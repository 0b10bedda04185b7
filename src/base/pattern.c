/* pattern.c: see pattern.h. The size of an expression is the number of its characters and classes
 * with repetitions written out, which is what the library makes of it: (ab){3} has 6. */
#include "base/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN_DEEPEST = 50,     /* groups inside of each other: the library calls itself for each */
    PATTERN_LARGEST = 10000,  /* with repetitions written out */
    PATTERN_NAME_BYTES = 4096 /* that are matched: a search may take the square of it */
};

struct pattern_size {
    uint64_t group[PATTERN_DEEPEST + 1]; /* of what is open, innermost last */
    int depth;
    uint64_t last; /* of the last character, class or group: what a repetition repeats */
};

/* The place after a bracket expression; `at` is its '['. A ']' that comes first belongs to it. */
static const char *pattern_skip_class(const char *at)
{
    at++;
    if (*at == '^') at++;
    if (*at == ']') at++;
    while (*at && *at != ']') {
        const char *end = at[0] == '[' && strchr(":.=", at[1]) && at[1] ? strchr(at + 2, at[1]) : 0;
        at = end && end[1] == ']' ? end + 2 : at + 1;
    }
    return *at ? at + 1 : at;
}

static void pattern_add(struct pattern_size *s, uint64_t n)
{
    s->group[s->depth] += n;
    s->last = n;
}

/* What stands in braces at `at`: the larger of the two numbers, 1 where there is none. */
static uint64_t pattern_times(const char *at)
{
    unsigned long low = strtoul(at + 1, NULL, 10), high = low;
    const char *comma = strchr(at, ','), *end = strchr(at, '}');
    if (comma && end && comma < end) high = strtoul(comma + 1, NULL, 10);
    unsigned long most = high > low ? high : low;
    return most > PATTERN_LARGEST ? PATTERN_LARGEST : most ? most : 1;
}

static const char *pattern_step(struct pattern_size *s, const char *at)
{
    switch (*at) {
    case '(': s->group[++s->depth] = 0; return at + 1;
    case ')':
        if (s->depth) pattern_add(s, (s->depth--, s->group[s->depth + 1]));
        return at + 1;
    case '[': pattern_add(s, 1); return pattern_skip_class(at);
    case '{':
        s->group[s->depth] += s->last * (pattern_times(at) - 1);
        s->last *= pattern_times(at);
        return at + 1 + strcspn(at + 1, "}");
    case '\\': pattern_add(s, 1); return at + (at[1] ? 2 : 1);
    case '*':
    case '+':
    case '?': return at + 1;
    default: pattern_add(s, 1); return at + 1;
    }
}

/* Why an expression is not given to the library, or NULL. */
static const char *pattern_refused(const char *text)
{
    struct pattern_size s = {.last = 1};
    for (const char *at = text; *at;) {
        if (*at == '\\' && at[1] >= '1' && at[1] <= '9') return "it has a back-reference";
        if (*at == '(' && s.depth == PATTERN_DEEPEST) return "its groups are nested too deeply";
        at = pattern_step(&s, at);
        if (s.group[s.depth] > PATTERN_LARGEST) return "it is too large";
    }
    return NULL;
}

int pattern_init(struct pattern *p, const char *text, struct err *e)
{
    char why[128];
    const char *refused = pattern_refused(text);
    if (refused)
        return FAIL(e, ERR_USAGE, "the regular expression '%.60s' is refused: %s", text, refused);
    int rc = regcomp(&p->re, text, REG_EXTENDED | REG_NOSUB);
    if (!rc) return 0;
    regerror(rc, &p->re, why, sizeof why);
    return FAIL(e, ERR_USAGE, "'%s' is not a regular expression: %s", text, why);
}

void pattern_done(struct pattern *p)
{
    regfree(&p->re);
}

bool pattern_matches(const struct pattern *p, struct str s)
{
    char text[PATTERN_NAME_BYTES + 1];
    size_t n = s.n < PATTERN_NAME_BYTES ? s.n : PATTERN_NAME_BYTES;
    if (n) memcpy(text, s.p, n);
    text[n] = 0;
    return regexec(&p->re, text, 0, NULL, 0) == 0;
}
