/* long_recording_sum.c: see long_recording_sum.h. */
#include "analyze/compare/long_recording_sum.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/ops/op_table.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"
#include "format/xxh64.h"

enum { MOST_KINDS = 4096 }; /* of findings, and of kernels */

int whole_init(struct whole *w, uint32_t n_parts, struct arena *mem, struct err *e)
{
    *w = (struct whole){.mem = mem, .device = "", .step_min_ns = INT64_MAX};
    map_init(&w->seen);
    w->parts = arena_zalloc(mem, n_parts ? n_parts : 1, sizeof *w->parts);
    return w->parts ? 0 : err_nomem(e);
}

void whole_done(struct whole *w)
{
    map_done(&w->seen);
    mem_free(w->findings);
    mem_free(w->kernels);
}

static uint64_t mix_text(uint64_t key, const char *s)
{
    return map_mix(key ^ (s ? xxh64(s, strlen(s)) : 1));
}

static int take_finding(struct whole *w, const struct finding *f, uint32_t *slot)
{
    if (VEC_RESERVE(w->findings, w->n_findings, w->cap_findings, 1)) return ERR_NOMEM;
    struct whole_finding n = {
        .rule = f->rule->id,
        .title = arena_strdup(w->mem, str_c(f->title)),
        .subject = arena_strdup(w->mem, str_c(f->subject ? f->subject : "")),
        .file = f->file ? arena_strdup(w->mem, str_c(f->file)) : NULL,
        .line = f->line,
    };
    if (!n.title || !n.subject || (f->file && !n.file)) return ERR_NOMEM;
    *slot = (uint32_t)w->n_findings;
    w->findings[w->n_findings++] = n;
    return 0;
}

static int add_finding(struct whole *w, const struct finding *f)
{
    uint64_t key =
        mix_text(mix_text(mix_text(7 + (uint64_t)f->line, f->rule->id), f->subject), f->file);
    uint32_t *slot = map_at(&w->seen, key);
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE && w->n_findings >= MOST_KINDS) return 0;
    if (*slot == MAP_NONE) TRY(take_finding(w, f, slot));
    if (*slot >= w->n_findings) return 0;
    struct whole_finding *into = &w->findings[*slot];
    into->n_parts++;
    into->blocked_ns += f->blocked_ns;
    into->exposed_ns += f->exposed_ns;
    into->gain_ns += f->gain_ns;
    if (f->severity > into->severity) into->severity = f->severity;
    return 0;
}

/* The row called `name`; NULL in *ret when there are too many. */
static int kernel_at(struct whole *w, struct str name, struct whole_kernel **ret)
{
    uint32_t *slot = map_at(&w->seen, map_mix(xxh64(name.p, name.n) + 11));
    *ret = NULL;
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE) {
        w->more_kernels |= w->n_kernels >= MOST_KINDS;
        if (w->n_kernels >= MOST_KINDS) return 0;
        if (VEC_RESERVE(w->kernels, w->n_kernels, w->cap_kernels, 1)) return ERR_NOMEM;
        const char *own = arena_strdup(w->mem, name);
        if (!own) return ERR_NOMEM;
        *slot = (uint32_t)w->n_kernels;
        w->kernels[w->n_kernels++] = (struct whole_kernel){.name = own, .min_ns = INT64_MAX};
    }
    if (*slot < w->n_kernels) *ret = &w->kernels[*slot];
    return 0;
}

static int long_recording_sum_add_kernels(struct whole *w, struct context *cx, struct err *e)
{
    struct kernel_stats k;
    struct whole_kernel *into;
    TRY(kernel_stats_run(cx, KERNEL_BY_NAME, cx->mem, &k, e));
    for (uint32_t i = 0; i < k.n_rows; i++) {
        const struct kernel_row *r = &k.rows[i];
        if (kernel_at(w, r->name, &into) < 0) return err_nomem(e);
        if (!into) continue;
        into->calls += r->calls;
        into->total_ns += r->total_ns;
        if (r->min_ns < into->min_ns) into->min_ns = r->min_ns;
        if (r->max_ns > into->max_ns) into->max_ns = r->max_ns;
    }
    return 0;
}

static int long_recording_sum_add_table(struct whole *w, struct context *cx, struct err *e)
{
    struct op_table_opts how = {.by = OP_BY_NAME, .n_threads = 1};
    struct op_table table;
    struct whole_kernel *into;
    TRY(op_table_run(cx->t, &how, cx->mem, &table, e));
    for (uint32_t i = 0; i < table.n_rows; i++) {
        const struct op_row *r = &table.rows[i];
        if (r->is_annotation && strcmp(r->device, "cpu") != 0) continue; /* spans, not work */
        if (kernel_at(w, r->name, &into) < 0) return err_nomem(e);
        if (!into) continue;
        into->calls += r->calls;
        into->total_ns += r->self_device_ns;
        into->with_inside_ns += r->device_total_ns;
        into->self_cpu_ns += r->self_cpu_ns;
        into->cpu_ns += r->cpu_total_ns;
    }
    return 0;
}

static int64_t busiest_ns(const struct timeline *t)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct device_line *d = &t->devices[i];
        if (d->busy_before_ns[d->n_busy] > most) most = d->busy_before_ns[d->n_busy];
    }
    return most;
}

/* Steps that lie in the part as a whole. */
static void long_recording_sum_add_steps(struct whole *w, const struct context *cx,
                                         struct long_excerpt *part)
{
    const struct steps *s = steps_of(cx);
    part->step_ns = s->n_steps ? s->each_ns : 0;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        struct span c = s->steps[i].cpu;
        if (c.begin_ns <= cx->t->begin_ns && w->n_parts) continue; /* the part before has it */
        part->n_steps++;
        if (i == 0 || i + 1 == s->n_steps) continue;
        if (c.end_ns - c.begin_ns < w->step_min_ns) w->step_min_ns = c.end_ns - c.begin_ns;
        if (c.end_ns - c.begin_ns > w->step_max_ns) w->step_max_ns = c.end_ns - c.begin_ns;
    }
    w->n_steps += part->n_steps;
}

static int add_findings(struct whole *w, struct context *cx, struct err *e)
{
    TRY(context_need(cx, &findings_pass, e));
    const struct findings *f = findings_of(cx);
    for (uint32_t i = 0; i < f->n; i++)
        if (add_finding(w, f->items[i]) < 0) return err_nomem(e);
    return 0;
}

static int long_recording_sum_add_rows(struct whole *w, struct context *cx,
                                       struct long_excerpt *part, struct err *e)
{
    TRY(context_need(cx, &timeline_pass, e));
    part->busy_ns = busiest_ns(timeline_of(cx));
    if (w->what == WHOLE_TABLE) return long_recording_sum_add_table(w, cx, e);
    if (w->what == WHOLE_REPORT) TRY(add_findings(w, cx, e));
    if (w->what != WHOLE_KERNELS) {
        TRY(context_need(cx, &steps_pass, e));
        long_recording_sum_add_steps(w, cx, part);
    }
    return w->what == WHOLE_STEPS ? 0 : long_recording_sum_add_kernels(w, cx, e);
}

int whole_add(struct whole *w, struct context *cx, int64_t begin_ns, int64_t end_ns, struct err *e)
{
    struct long_excerpt part = {.begin_ns = begin_ns, .end_ns = end_ns};
    w->wall_ns += end_ns - begin_ns;
    w->n_rows += cx->t->n_rows;
    if (cx->t->n_rows) TRY(long_recording_sum_add_rows(w, cx, &part, e));
    if (!*w->device && cx->t->n_devices)
        w->device = arena_strdup(w->mem, trace_str(cx->t, cx->t->devices[0].name));
    w->busy_ns += part.busy_ns;
    w->parts[w->n_parts++] = part;
    return w->device ? 0 : err_nomem(e);
}

static int by_gain(const void *a, const void *b)
{
    const struct whole_finding *x = a, *y = b;
    if (x->gain_ns != y->gain_ns) return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

static int long_recording_sum_by_time(const void *a, const void *b)
{
    const struct whole_kernel *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    if (x->self_cpu_ns != y->self_cpu_ns) return x->self_cpu_ns > y->self_cpu_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

double whole_part_busy_pct(const struct long_excerpt *p)
{
    return stats_pct((double)p->busy_ns, (double)(p->end_ns - p->begin_ns));
}

/* The parts in which the device idles most, the most idle one first. */
static void long_recording_sum_idlest(struct whole *w)
{
    for (uint32_t i = 0; w->n_parts > 1 && i < w->n_parts; i++) {
        const struct long_excerpt *p = &w->parts[i];
        uint32_t at = w->n_idlest;
        while (at > 0 && whole_part_busy_pct(w->idlest[at - 1]) > whole_part_busy_pct(p)) at--;
        if (w->n_idlest < WHOLE_IDLEST) w->n_idlest++;
        if (at >= w->n_idlest) continue;
        memmove(&w->idlest[at + 1], &w->idlest[at], (w->n_idlest - at - 1) * sizeof *w->idlest);
        w->idlest[at] = p;
    }
}

void whole_finish(struct whole *w)
{
    long_recording_sum_idlest(w);
    for (size_t i = 0; i < w->n_kernels; i++) w->kernels_ns += w->kernels[i].total_ns;
    if (w->n_findings) qsort(w->findings, w->n_findings, sizeof *w->findings, by_gain);
    if (w->n_kernels)
        qsort(w->kernels, w->n_kernels, sizeof *w->kernels, long_recording_sum_by_time);
    if (w->step_min_ns > w->step_max_ns) w->step_min_ns = w->step_max_ns = 0;
}
