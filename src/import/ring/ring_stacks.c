/* ring_stacks.c: see ring_set.h. */
#include "import/ring/ring_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    DEFAULT_PERIOD_US = 1000,
    MOST_PERIODS = 4,     /* between samples of a thread that ran */
    DEFAULT_FRAMES = 192, /* what recorders take that do not say it */
};

static bool has_stacks(const struct ring_process *p)
{
    for (uint32_t id = 0; id < p->defs.n; id++)
        if (p->defs.entries[id].type == DEF_FRAME) return true;
    return false;
}

/* Two recorders (the package's and the injected one) in one process. */
static bool ring_stacks_same_process(const struct ring_process *a, const struct ring_process *b)
{
    return a->proc.head.pid == b->proc.head.pid &&
           strcmp(a->proc.head.host, b->proc.head.host) == 0;
}

void ring_stacks_begin(struct ring_set *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n_processes; i++) any |= has_stacks(&s->processes[i]);
    for (size_t i = 0; i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        p->number = p->twin = (uint32_t)i;
        p->stacks = any ? &s->stacks : NULL;
        for (size_t k = 0; k < i && p->twin == i; k++)
            if (ring_stacks_same_process(&s->processes[k], p)) p->twin = (uint32_t)k;
    }
}

/* A number the process noted as KEY=NUMBER, from 1 to 1,000,000. */
static long ring_stacks_noted(const struct ring_process *p, const char *key, long otherwise)
{
    size_t n_key = strlen(key);
    for (uint32_t id = 0; id < p->defs.n; id++) {
        struct str fact = defs_file_get(&p->defs, id, DEF_FACT, n_key + 2);
        char text[32];
        if (!fact.p || !str_starts(fact, key) || fact.p[n_key] != '=') continue;
        snprintf(text, sizeof text, "%.*s", (int)(fact.n - n_key - 1), fact.p + n_key + 1);
        long n = strtol(text, NULL, 10);
        if (n > 0 && n <= 1000000) otherwise = n;
    }
    return otherwise;
}

/* How far samples are apart. */
static int64_t period_ns(const struct ring_process *p)
{
    return (int64_t)ring_stacks_noted(p, "sample_period_us", DEFAULT_PERIOD_US) * 1000;
}

static struct stack_source source_of(const struct ring_process *p)
{
    long n = ring_stacks_noted(p, RING_FACT_FRAMES, DEFAULT_FRAMES);
    return (struct stack_source){&p->defs, n < STACK_DEEPEST ? (int)n : STACK_DEEPEST};
}

static int ring_stacks_add_process(struct builder *b, struct ring_set *s, uint32_t i,
                                   const struct stack_source *sources, struct err *e)
{
    const struct ring_process *p = &s->processes[i];
    struct batch *part = batch_new();
    struct stack_process of = {i, p->pid, period_ns(p), sources};
    if (part && p->pid_text) of.pid.text = intern_add(batch_strings(part), str_c(p->pid_text));
    int rc = part ? stack_rows_add(&s->stacks, &of, part) : ERR_NOMEM;
    if (rc == 0) return builder_add_part(b, part, e);
    batch_free(part);
    return err_grow(e, rc);
}

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median distance of the samples of one thread, from at most MOST of them; 0 when there are
 * none. Where they are further apart than that it stood, and nothing is uncertain. */
static int64_t usual_distance(const struct stack_seen *seen, size_t n, int64_t furthest)
{
    enum { MOST = 1000 };
    int64_t apart[MOST];
    size_t n_apart = 0, step = n / MOST + 1;
    for (size_t i = 0; i + 1 < n && n_apart < MOST; i += step) {
        int64_t distance = seen[i + 1].begin_ns - seen[i].begin_ns;
        if (!seen[i].exact && !seen[i + 1].exact && distance <= furthest)
            apart[n_apart++] = distance;
    }
    if (n_apart) qsort(apart, n_apart, sizeof *apart, by_length);
    return n_apart ? apart[n_apart / 2] : 0;
}

/* How far the samples of the thread that has most of them are apart: a recorder that reads stacks
 * slowly reads them less often than it meant to. They are sorted by thread. */
static int64_t sampled_ns(const struct stack_rows *s, int64_t period)
{
    size_t most = 0, first = 0;
    for (size_t i = 0, n; i < s->n_seen; i += n) {
        for (n = 1; i + n < s->n_seen && stack_seen_same_thread(&s->seen[i], &s->seen[i + n]);) n++;
        if (n <= most) continue;
        most = n;
        first = i;
    }
    return most ? usual_distance(&s->seen[first], most, period * MOST_PERIODS) : 0;
}

/* The distance of samples, at least the shortest that any process chose, in a meta: readers of the
 * trace are to know how good the times of functions are. 0 where all stacks are of calls that
 * waited. */
static int add_meta(struct builder *b, const struct ring_set *s, bool sampled)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < s->n_processes; i++)
        if (has_stacks(&s->processes[i]) && period_ns(&s->processes[i]) < least)
            least = period_ns(&s->processes[i]);
    int64_t real = sampled ? sampled_ns(&s->stacks, least) : 0;
    if (real > least) least = real;
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)(sampled ? least / 1000 : 0));
    return builder_add_meta(b, str_c(TRACE_META_SAMPLED), str_c(text));
}

int ring_stacks_add(struct builder *b, struct ring_set *s, struct err *e)
{
    if (!s->stacks.n_seen) return 0;
    bool sampled = false;
    for (size_t i = 0; i < s->stacks.n_seen && !sampled; i++) sampled = !s->stacks.seen[i].exact;
    struct stack_source *sources = mem_zalloc(s->n_processes, sizeof *sources);
    if (!sources) return err_nomem(e);
    int rc = 0;
    for (size_t i = 0; i < s->n_processes; i++) sources[i] = source_of(&s->processes[i]);
    for (uint32_t i = 0; i < s->n_processes && rc == 0; i++)
        if (s->processes[i].twin == i) rc = ring_stacks_add_process(b, s, i, sources, e);
    mem_free(sources);
    if (rc == 0 && add_meta(b, s, sampled) < 0) rc = err_nomem(e);
    stack_rows_done(&s->stacks);
    return rc;
}
