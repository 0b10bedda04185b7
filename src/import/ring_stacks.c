/* ring_stacks.c: see ring_stacks.h. */
#include "import/ring_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DEFAULT_PERIOD_US = 1000 };

static bool has_stacks(const struct ring_process *p)
{
    for (uint32_t id = 0; id < p->defs.n; id++)
        if (p->defs.entries[id].type == DEF_FRAME) return true;
    return false;
}

/* Two recorders (the package's and the injected one) in one process. */
static bool same_process(const struct ring_process *a, const struct ring_process *b)
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
            if (same_process(&s->processes[k], p)) p->twin = (uint32_t)k;
    }
}

/* How far samples are apart, from what the process noted. */
static int64_t period_ns(const struct ring_process *p)
{
    static const char key[] = "sample_period_us=";
    long us = DEFAULT_PERIOD_US;
    for (uint32_t id = 0; id < p->defs.n; id++) {
        struct str fact = defs_file_get(&p->defs, id, DEF_FACT, sizeof key);
        char text[32];
        if (!fact.p || memcmp(fact.p, key, sizeof key - 1) != 0) continue;
        snprintf(text, sizeof text, "%.*s", (int)(fact.n - (sizeof key - 1)),
                 fact.p + sizeof key - 1);
        long n = strtol(text, NULL, 10);
        if (n > 0 && n <= 1000000) us = n;
    }
    return (int64_t)us * 1000;
}

static int add_process(struct builder *b, struct ring_set *s, uint32_t i,
                       const struct defs_file *const *defs, struct err *e)
{
    const struct ring_process *p = &s->processes[i];
    struct part *part = part_new();
    struct stack_process of = {i, p->pid, period_ns(p), defs};
    if (part && p->pid_text) of.pid.text = intern_add(part_strings(part), str_c(p->pid_text));
    int rc = part ? stack_rows_add(&s->stacks, &of, part) : ERR_NOMEM;
    if (rc == 0) return builder_add_part(b, part, e);
    part_free(part);
    return FAIL(e, rc, "out of memory");
}

/* The shortest distance of samples that any process chose, in a meta: readers of the trace are to
 * know how good the times of functions are. */
static int add_meta(struct builder *b, const struct ring_set *s)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < s->n_processes; i++)
        if (has_stacks(&s->processes[i]) && period_ns(&s->processes[i]) < least)
            least = period_ns(&s->processes[i]);
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)(least / 1000));
    return builder_add_meta(b, str_c(TRACE_META_SAMPLED), str_c(text));
}

int ring_stacks_add(struct builder *b, struct ring_set *s, struct err *e)
{
    if (!s->stacks.n_seen) return 0;
    const struct defs_file **defs = mem_zalloc(s->n_processes, sizeof *defs);
    if (!defs) return FAIL(e, ERR_NOMEM, "out of memory");
    int rc = 0;
    for (size_t i = 0; i < s->n_processes; i++) defs[i] = &s->processes[i].defs;
    for (uint32_t i = 0; i < s->n_processes && rc == 0; i++)
        if (s->processes[i].twin == i) rc = add_process(b, s, i, defs, e);
    mem_free(defs);
    if (rc == 0 && add_meta(b, s) < 0) rc = FAIL(e, ERR_NOMEM, "out of memory");
    stack_rows_done(&s->stacks);
    return rc;
}
