/* kernel_sort.c: choosing and ordering the rows of kernel_stats.h. */
#include <math.h>
#include <stdlib.h>

#include "analyze/kernels/kernel_stats.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/pattern.h"

static double kernel_sort_total(const struct kernel_row *r)
{
    return (double)r->total_ns;
}

static double kernel_sort_calls(const struct kernel_row *r)
{
    return (double)r->calls;
}

static double kernel_sort_mean(const struct kernel_row *r)
{
    return r->mean_ns;
}

static double kernel_sort_median(const struct kernel_row *r)
{
    return (double)r->median_ns;
}

static double kernel_sort_p95(const struct kernel_row *r)
{
    return (double)r->p95_ns;
}

static double kernel_sort_longest(const struct kernel_row *r)
{
    return (double)r->max_ns;
}

static double kernel_sort_occupancy(const struct kernel_row *r)
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

static double kernel_sort_headroom(const struct kernel_row *r)
{
    return r->wall_ns >= 0 ? (double)r->wall_ns : (double)r->headroom_ns;
}

struct sort_key {
    const char *word;
    double (*of)(const struct kernel_row *r); /* NULL: by name */
};

static const struct sort_key keys[] = {
    {"total", kernel_sort_total},
    {"calls", kernel_sort_calls},
    {"mean", kernel_sort_mean},
    {"median", kernel_sort_median},
    {"p95", kernel_sort_p95},
    {"max", kernel_sort_longest},
    {"occupancy", kernel_sort_occupancy},
    {"gb_per_s", gb_per_s},
    {"tflop_per_s", tflop_per_s},
    {"headroom", kernel_sort_headroom},
    {"name", NULL},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

static double kernel_sort_value(const struct kernel_row *r, const struct sort_key *key)
{
    double v = key->of(r);
    return isnan(v) ? -1 : v; /* what is not known comes last */
}

static int kernel_sort_compare(const void *pa, const void *pb, void *key)
{
    const struct kernel_row *a = pa, *b = pb;
    const struct sort_key *k = key;
    int order = 0;
    if (k->of)
        order = (kernel_sort_value(b, k) > kernel_sort_value(a, k)) -
                (kernel_sort_value(b, k) < kernel_sort_value(a, k));
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
        if (k->n_rows)
            qsort_r(k->rows, k->n_rows, sizeof *k->rows, kernel_sort_compare, (void *)&keys[i]);
        return 0;
    }
    const char *near = opt_nearest(word, words, N_KEYS);
    if (near) return FAIL(e, ERR_USAGE, "unknown sort key '%s'. Did you mean '%s'?", word, near);
    return FAIL(e, ERR_USAGE, "unknown sort key '%s'; see strata kernels --help", word);
}

int kernel_stats_families(const struct kernel_stats *k, struct kernel_family_sum list[FAMILY_COUNT])
{
    int n = 0;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        const struct kernel_row *r = &k->rows[i];
        int at = 0;
        while (at < n && list[at].family != r->family) at++;
        if (at == n) list[n++] = (struct kernel_family_sum){.family = r->family};
        list[at].total_ns += (double)r->total_ns;
        list[at].known_ns += (double)r->known_ns;
        list[at].roof_ns += r->known_ns ? r->roof_ns : 0;
        list[at].flops += (double)r->flops;
        list[at].bytes += r->bytes > 0 ? (double)r->bytes : 0;
    }
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && list[j].total_ns > list[j - 1].total_ns; j--) {
            struct kernel_family_sum x = list[j];
            list[j] = list[j - 1];
            list[j - 1] = x;
        }
    return n;
}

int kernel_stats_filter(struct kernel_stats *k, const char *regex, struct err *e)
{
    struct pattern re;
    TRY(pattern_init(&re, regex, e));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        const struct kernel_row *r = &k->rows[i];
        if (pattern_matches(&re, r->name) || pattern_matches(&re, r->short_name) ||
            pattern_matches(&re, str_c(kernel_family_name(r->family))))
            k->rows[kept++] = *r;
    }
    k->n_rows = kept;
    pattern_done(&re);
    return 0;
}
