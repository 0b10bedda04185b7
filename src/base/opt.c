/* opt.c: see opt.h. */
#include "base/opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/units.h"

static const struct opt *find_long(const struct opt *const *tables, const char *name, size_t n)
{
    for (; *tables; tables++)
        for (const struct opt *o = *tables; o->name; o++)
            if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    return NULL;
}

static const struct opt *find_short(const struct opt *const *tables, char letter)
{
    for (; *tables; tables++)
        for (const struct opt *o = *tables; o->name; o++)
            if (o->letter == letter) return o;
    return NULL;
}

/* Letters to add, take away, replace, or swap with their neighbour. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(b);
    if (strlen(a) > LONGEST || n > LONGEST) return 1000;
    int rows[3][LONGEST + 1]; /* two letters ago, one letter ago, now */
    int *older = rows[0], *old = rows[1], *now = rows[2];
    for (size_t j = 0; j <= n; j++) old[j] = (int)j;
    for (size_t i = 1; a[i - 1]; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int best = old[j - 1] + (a[i - 1] != b[j - 1]);
            if (old[j] + 1 < best) best = old[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && older[j - 2] + 1 < best) best = older[j - 2] + 1;
            now[j] = best;
        }
        int *free_row = older;
        older = old;
        old = now;
        now = free_row;
    }
    return old[n];
}

const char *opt_nearest(const char *word, const char *const *candidates, int n)
{
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 2;
    for (int i = 0; i < n; i++) {
        int d = edit_distance(word, candidates[i]);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best;
}

static int opt_unknown(const struct opt *const *tables, const char *word, struct err *e)
{
    const char *names[OPT_MAX];
    int n = 0;
    for (; *tables; tables++)
        for (const struct opt *o = *tables; o->name && n < OPT_MAX; o++) names[n++] = o->name;
    char bare[64];
    int len = (int)strcspn(word, "=");
    snprintf(bare, sizeof bare, "%.*s", len - (int)strspn(word, "-"), word + strspn(word, "-"));
    const char *near = opt_nearest(bare, names, n);
    if (near)
        return FAIL(e, ERR_USAGE, "unknown option '%.*s'. Did you mean '--%s'?", len, word, near);
    return FAIL(e, ERR_USAGE, "unknown option '%.*s'", len, word);
}

static bool opt_is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *c = choices; *c;) {
        size_t len = strcspn(c, "|");
        if (len == n && memcmp(c, value, n) == 0) return true;
        c += len + (c[len] == '|');
    }
    return false;
}

static int opt_take(struct opts *o, const struct opt *opt, const char *value, struct err *e)
{
    if (o->n == OPT_MAX) return FAIL(e, ERR_USAGE, "more than %d options", OPT_MAX);
    if (value && opt->choices && !opt_is_choice(opt->choices, value))
        return FAIL(e, ERR_USAGE, "--%s takes one of %s, not '%s'", opt->name, opt->choices, value);
    o->opt[o->n] = opt;
    o->value[o->n++] = value;
    return 0;
}

static int take_long(struct opts *o, const struct opt *const *tables, char **argv, int argc, int *i,
                     struct err *e)
{
    const char *word = argv[*i];
    size_t n = strcspn(word + 2, "=");
    const struct opt *opt = find_long(tables, word + 2, n);
    if (!opt) return opt_unknown(tables, word, e);
    const char *value = word[2 + n] == '=' ? word + 3 + n : NULL;
    if (!opt->arg && value) return FAIL(e, ERR_USAGE, "--%s takes no value", opt->name);
    if (opt->arg && !value) {
        if (*i + 1 >= argc)
            return FAIL(e, ERR_USAGE, "--%s needs a value (%s)", opt->name, opt->arg);
        value = argv[++*i];
    }
    return opt_take(o, opt, value, e);
}

static int take_short(struct opts *o, const struct opt *const *tables, char **argv, int argc,
                      int *i, struct err *e)
{
    const char *word = argv[*i];
    for (const char *c = word + 1; *c; c++) {
        const struct opt *opt = find_short(tables, *c);
        if (!opt) return opt_unknown(tables, word, e);
        if (!opt->arg) {
            TRY(opt_take(o, opt, NULL, e));
            continue;
        }
        const char *value = c[1] ? c + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value) return FAIL(e, ERR_USAGE, "-%c needs a value (%s)", *c, opt->arg);
        return opt_take(o, opt, value, e);
    }
    return 0;
}

int opt_parse(struct opts *o, const struct opt *const *tables, int argc, char **argv,
              bool stop_at_operand, struct err *e)
{
    *o = (struct opts){.args = argv};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0) {
            for (i++; i < argc; i++) argv[o->n_args++] = argv[i];
        } else if (word[0] == '-' && word[1] == '-') {
            TRY(take_long(o, tables, argv, argc, &i, e));
        } else if (word[0] == '-' && word[1]) {
            TRY(take_short(o, tables, argv, argc, &i, e));
        } else if (stop_at_operand) {
            for (; i < argc; i++) argv[o->n_args++] = argv[i];
        } else {
            argv[o->n_args++] = argv[i];
        }
    }
    return 0;
}

const char *opt_nth(const struct opts *o, const char *name, int n)
{
    for (int i = 0; i < o->n; i++)
        if (strcmp(o->opt[i]->name, name) == 0 && n-- == 0) return o->value[i] ? o->value[i] : "";
    return NULL;
}

bool opt_has(const struct opts *o, const char *name)
{
    return opt_nth(o, name, 0) != NULL;
}

const char *opt_get(const struct opts *o, const char *name, const char *otherwise)
{
    for (int i = o->n - 1; i >= 0; i--)
        if (strcmp(o->opt[i]->name, name) == 0) return o->value[i] ? o->value[i] : "";
    return otherwise;
}

int opt_long(const struct opts *o, const char *name, long lo, long hi, long *ret, struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    if (!text) return 0;
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < lo || v > hi)
        return FAIL(e, ERR_USAGE, "--%s takes a whole number from %ld to %ld, not '%s'", name, lo,
                    hi, text);
    *ret = v;
    return 0;
}

int opt_double(const struct opts *o, const char *name, double lo, double hi, double *ret,
               struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    if (!text) return 0;
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || v < lo || v > hi)
        return FAIL(e, ERR_USAGE, "--%s takes a number from %g to %g, not '%s'", name, lo, hi,
                    text);
    *ret = v;
    return 0;
}

int opt_time_ns(const struct opts *o, const char *name, int64_t lo_ns, int64_t hi_ns,
                int64_t *ret_ns, struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    char what[64];
    int64_t ns;
    if (!text) return 0;
    snprintf(what, sizeof what, "--%s", name);
    TRY(units_time_ns(text, what, &ns, e));
    if (ns < lo_ns || ns > hi_ns)
        return FAIL(e, ERR_USAGE, "--%s takes a time from %s to %s, not '%s'", name,
                    human_time(lo_ns).s, human_time(hi_ns).s, text);
    *ret_ns = ns;
    return 0;
}
