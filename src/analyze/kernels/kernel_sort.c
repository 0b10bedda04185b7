/* kernel_sort.c: choosing and ordering the rows of kernel_stats.h. */
#include <math.h>
#include <regex.h>
#include <stdlib.h>

#include "analyze/kernels/kernel_stats.h"
#include "base/mem.h"
#include "base/opt.h"

static double total(const struct kernel_row *r)
{
    return (double)r->total_ns;
}

static double calls(const struct kernel_row *r)
{
    return (double)r->calls;
}

static double mean(const struct kernel_row *r)
{
    return r->mean_ns;
}

static double median(const struct kernel_row *r)
{
    return (double)r->median_ns;
}

static double p95(const struct kernel_row *r)
{
    return (double)r->p95_ns;
}

static double longest(const struct kernel_row *r)
{
    return (double)r->max_ns;
}

static double occupancy(const struct kernel_row *r)
{
    return r->occupancy_pct;
}

static double gb_per_s(const struct kernel_row *r)
{
    return r->gb_per_s;
}

static double tflop_per_s(const struct kernel_row *r)
{
    return r->tflop_per_s;
}

static double headroom(const struct kernel_row *r)
{
    return r->wall_ns >= 0 ? (double)r->wall_ns : (double)r->headroom_ns;
}

struct sort_key {
    const char *word;
    double (*of)(const struct kernel_row *r); /* NULL: by name */
};

static const struct sort_key keys[] = {
    {"total", total},         {"calls", calls},       {"mean", mean},
    {"median", median},       {"p95", p95},           {"max", longest},
    {"occupancy", occupancy}, {"gb_per_s", gb_per_s}, {"tflop_per_s", tflop_per_s},
    {"headroom", headroom},   {"name", NULL},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

static double value(const struct kernel_row *r, const struct sort_key *key)
{
    double v = key->of(r);
    return isnan(v) ? -1 : v; /* what is not known comes last */
}

static int compare(const void *pa, const void *pb, void *key)
{
    const struct kernel_row *a = pa, *b = pb;
    const struct sort_key *k = key;
    int order = 0;
    if (k->of) order = (value(b, k) > value(a, k)) - (value(b, k) < value(a, k));
    if (!order && !k->of) order = str_cmp(a->name, b->name);
    if (!order) order = (b->total_ns > a->total_ns) - (b->total_ns < a->total_ns);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

int kernel_stats_sort(struct kernel_stats *k, const char *word, struct err *e)
{
    const char *words[N_KEYS];
    for (int i = 0; i < N_KEYS; i++) {
        words[i] = keys[i].word;
        if (strcmp(word, words[i]) != 0) continue;
        if (k->n_rows) qsort_r(k->rows, k->n_rows, sizeof *k->rows, compare, (void *)&keys[i]);
        return 0;
    }
    const char *near = opt_nearest(word, words, N_KEYS);
    if (near) return FAIL(e, ERR_USAGE, "unknown sort key '%s'. Did you mean '%s'?", word, near);
    return FAIL(e, ERR_USAGE, "unknown sort key '%s'; see strata kernels --help", word);
}

static bool matches(const regex_t *re, struct str s)
{
    regmatch_t whole = {0, (regoff_t)s.n};
    return regexec(re, s.p, 1, &whole, REG_STARTEND) == 0;
}

int kernel_stats_filter(struct kernel_stats *k, const char *regex, struct err *e)
{
    regex_t re;
    int rc = regcomp(&re, regex, REG_EXTENDED);
    if (rc) {
        char why[128];
        regerror(rc, &re, why, sizeof why);
        return FAIL(e, ERR_USAGE, "'%s' is not a regular expression: %s", regex, why);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        const struct kernel_row *r = &k->rows[i];
        if (matches(&re, r->name) || matches(&re, r->short_name) ||
            matches(&re, str_c(kernel_family_name(r->family))))
            k->rows[kept++] = *r;
    }
    k->n_rows = kept;
    regfree(&re);
    return 0;
}
