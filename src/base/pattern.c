/* pattern.c: see pattern.h. The size of an expression is the number of its characters, classes and
 * groups with repetitions written out, which is what the library makes of it: (ab){3} has 9. What
 * may match nothing and is repeated without end has the library go round in circles. */
#include "base/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN_DEEPEST = 50,     /* groups inside of each other: the library calls itself for each */
    PATTERN_LARGEST = 2000,   /* with repetitions written out: memory grows with the square of it */
    PATTERN_NAME_BYTES = 4096 /* that are matched: a search may take the square of it */
};

struct pattern_group {
    uint64_t size;
    bool branch_is_empty; /* what stands since the last '|' may match nothing */
    bool other_is_empty;  /* and so may a branch before */
};

/* What has been read of an expression. The last item is a character, class or group: what a
 * repetition repeats. */
struct pattern_size {
    struct pattern_group group[PATTERN_DEEPEST + 1]; /* those that are open, innermost last */
    int depth;
    uint64_t last;          /* size of the last item, with its repetitions so far */
    bool last_is_empty;     /* it may match nothing */
    bool before_is_empty;   /* and what its branch has before it */
    bool repeats_the_empty; /* without end */
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

static void pattern_add(struct pattern_size *s, uint64_t n, bool is_empty)
{
    struct pattern_group *g = &s->group[s->depth];
    g->size += n;
    s->last = n;
    s->last_is_empty = is_empty;
    s->before_is_empty = g->branch_is_empty;
    g->branch_is_empty = g->branch_is_empty && is_empty;
}

static void pattern_open(struct pattern_size *s)
{
    s->group[++s->depth] = (struct pattern_group){.branch_is_empty = true};
}

static void pattern_close(struct pattern_size *s)
{
    const struct pattern_group *inner = &s->group[s->depth];
    if (!s->depth) return;
    s->depth--;
    pattern_add(s, inner->size + 1, inner->branch_is_empty || inner->other_is_empty);
}

static void pattern_other_branch(struct pattern_size *s)
{
    struct pattern_group *g = &s->group[s->depth];
    g->other_is_empty |= g->branch_is_empty;
    g->branch_is_empty = true;
    g->size++;
    s->last = 1;
    s->last_is_empty = false;
}

/* The last item may come `least` times, and without end or `most` times. */
static void pattern_repeat(struct pattern_size *s, uint64_t least, uint64_t most, bool endless)
{
    struct pattern_group *g = &s->group[s->depth];
    uint64_t times = most > least ? most : least;
    if (times < 1) times = 1;
    if (endless && s->last_is_empty) s->repeats_the_empty = true;
    g->size += s->last * (times - 1);
    s->last *= times;
    if (least) return;
    s->last_is_empty = true;
    g->branch_is_empty = s->before_is_empty;
}

static uint64_t pattern_number(const char *at)
{
    unsigned long n = strtoul(at, NULL, 10);
    return n > PATTERN_LARGEST ? PATTERN_LARGEST + 1 : n;
}

/* Reads what stands in braces at `at`: {3}, {3,}, {,3}, {3,5}. What follows may repeat it again. */
static const char *pattern_times(struct pattern_size *s, const char *at)
{
    const char *end = at + strcspn(at, "}"), *comma = memchr(at, ',', (size_t)(end - at));
    uint64_t least = pattern_number(at + 1), most = comma ? pattern_number(comma + 1) : least;
    pattern_repeat(s, least, most, comma && comma + 1 == end);
    return *end ? end + 1 : end;
}

/* Borders of words and of the name match nothing by themselves. */
static bool pattern_is_border(const char *at)
{
    return *at == '^' || *at == '$' || (*at == '\\' && at[1] && strchr("bB<>`'", at[1]));
}

static const char *pattern_step(struct pattern_size *s, const char *at)
{
    switch (*at) {
    case '(': pattern_open(s); return at + 1;
    case ')': pattern_close(s); return at + 1;
    case '|': pattern_other_branch(s); return at + 1;
    case '[': pattern_add(s, 1, false); return pattern_skip_class(at);
    case '{': return pattern_times(s, at);
    case '*': pattern_repeat(s, 0, 1, true); return at + 1;
    case '+': pattern_repeat(s, 1, 1, true); return at + 1;
    case '?': pattern_repeat(s, 0, 1, false); return at + 1;
    default: pattern_add(s, 1, pattern_is_border(at)); return at + (*at == '\\' && at[1] ? 2 : 1);
    }
}

/* Why an expression is not given to the library, or NULL. */
static const char *pattern_refused(const char *text)
{
    struct pattern_size s = {.last = 1};
    s.group[0].branch_is_empty = true;
    for (const char *at = text; *at;) {
        if (*at == '\\' && at[1] >= '1' && at[1] <= '9') return "it has a back-reference";
        if (*at == '(' && s.depth == PATTERN_DEEPEST) return "its groups are nested too deeply";
        at = pattern_step(&s, at);
        if (s.group[s.depth].size > PATTERN_LARGEST) return "it is too large";
        if (s.repeats_the_empty) return "it repeats without end what may match nothing";
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
