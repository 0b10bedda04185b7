/* view_memory.c: see views_memory.h. */
#include "report/lists/views_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "report/lists/views_file.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

static const char *device_name(const struct memory_line *l, char *out, size_t cap)
{
    if (l->device_type == 0) snprintf(out, cap, "CPU");
    else snprintf(out, cap, "GPU %d", l->device_id);
    return out;
}

static const struct memory *document_at(const struct rows *r, uint32_t i)
{
    return ((const struct view_memory *)rows_at(r, i))->memory;
}

static struct value document_recorded(const struct rows *r, uint32_t i)
{
    return value_int(document_at(r, i)->recorded);
}

static struct rows document_devices(const struct rows *r, uint32_t i)
{
    const struct view_memory *v = rows_at(r, i);
    return (struct rows){.list = v->memory->lines, .n = v->memory->n_lines, .with = &v->most_steps};
}

static struct rows document_stages(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_stages(r->cx, stages_of(r->cx), r->text);
}

static struct rows document_sites(const struct rows *r, uint32_t i)
{
    return rows_alloc_sites(r->cx, document_at(r, i));
}

static struct rows document_calls(const struct rows *r, uint32_t i)
{
    return rows_driver_calls(r->cx, document_at(r, i));
}

/* clang-format off */
static const struct field document_fields[] = {
    FIELD_GET(FLAG, "recorded", "", document_recorded, "false: profile_memory was off, and only `driver_calls` is known"),
    FIELD_IN(LIST, "devices", "", &result_memory, document_devices, "one per device"),
    FIELD_IN(LIST, "stages", "", &result_stage_memory, document_stages, "memory by stage"),
    FIELD_IN(LIST, "sites", "", &result_alloc_sites, document_sites, "allocations in the loop"),
    FIELD_IN(LIST, "driver_calls", "", &result_driver_calls, document_calls, "calls to the driver's allocator"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_memory =
    RESULT("memory", "memory over the steps of the loop", document_fields, struct view_memory);

void view_memory_json(struct jout *j, const char *key, const struct view_memory *v)
{
    document_json(j, key, v->cx, &document_memory, v, NULL);
}

static void say_growth(const struct screen *s, const struct memory_line *l)
{
    const struct memory_growth *g = &l->growth;
    if (!g->judged) {
        buf_adds(s->out, "  growth: too few steps to tell (3 are needed)\n");
        return;
    }
    if (!g->grows) {
        buf_printf(s->out, "  steady: no consistent growth over %s steps\n",
                   human_count(g->n_steps).s);
        return;
    }
    buf_adds(s->out, "  ");
    text_styled(s->out, TEXT_YELLOW, s->color, "grows");
    buf_printf(s->out, " by %s per step: %s of %s changes are upwards, %s in total\n",
               human_bytes(g->per_step).s, human_count(g->n_rises).s, human_count(g->n_steps - 1).s,
               human_bytes(g->total_bytes).s);
}

static void show_line(const struct screen *s, const struct view_memory *v,
                      const struct memory_line *l)
{
    char name[32], stage[96];
    buf_printf(s->out, "%s: %s at most", device_name(l, name, sizeof name),
               human_bytes(l->peak_bytes).s);
    if (l->peak_stage != STAGE_NONE)
        buf_printf(s->out, ", in %s",
                   human_cut(str_c(v->stages->list[l->peak_stage].path), 40, stage, sizeof stage));
    struct human begin = human_bytes(l->begin_bytes), end = human_bytes(l->end_bytes);
    if (strcmp(begin.s, end.s) == 0) buf_printf(s->out, "; %s at start and end", end.s);
    else buf_printf(s->out, "; %s at the start, %s at the end", begin.s, end.s);
    buf_adds(s->out, l->relative ? " (relative to the start)\n" : "\n");
    if (l->device_type == 0) return;
    if (l->reserved_bytes >= 0)
        buf_printf(s->out, "  the allocator holds up to %s, up to %s of it unused\n",
                   human_bytes(l->reserved_bytes).s, human_bytes(l->unused_bytes).s);
    say_growth(s, l);
}

static void show_steps(const struct screen *s, const struct view_memory *v,
                       const struct memory_line *l)
{
    static const char *const keys[] = {
        "index", "end_bytes", "change_bytes", "peak_bytes", "allocations", "alloc_bytes", NULL};
    struct rows rows = rows_memory_steps(v->cx, l);
    if (rows.n) result_text_show(s, &rows, keys, s->limit);
    screen_more(s, rows.n);
}

static uint32_t view_memory_enough(const struct screen *s, const struct rows *sites, double total,
                                   double *ret_sum)
{
    uint32_t n = 0;
    double sum = 0;
    for (; n < sites->n && !screen_full(s, n, sum, total); n++)
        sum += (double)((const struct alloc_site *)rows_at(sites, n))->bytes;
    *ret_sum = sum;
    return screen_rows(s, n, sites->n);
}

static void view_memory_show_sites(const struct screen *s, const struct view_memory *v)
{
    static const char *const keys[] = {"op", "count", "bytes", "largest_bytes", "kept_bytes", NULL};
    struct rows rows = rows_alloc_sites(v->cx, v->memory);
    struct result_text t;
    if (!rows.n) return;
    result_text_begin(&t, rows.of, NULL, keys);
    double sum = 0, total = 0;
    uint32_t i = 0;
    for (uint32_t k = 0; k < rows.n; k++)
        total += (double)((const struct alloc_site *)rows_at(&rows, k))->bytes;
    uint32_t n = view_memory_enough(s, &rows, total, &sum);
    for (; i < n; i++) {
        const struct alloc_site *a = rows_at(&rows, i);
        char op[64], file[256], name[512];
        if (a->op == STR_NONE && a->place.frame != ROW_NONE)
            human_cut(a->place.source.function, 40, op, sizeof op);
        else if (a->op == STR_NONE) snprintf(op, sizeof op, "(outside operators)");
        else human_cut(trace_str(v->cx->t, a->op), 40, op, sizeof op);
        if (a->place.frame == ROW_NONE) snprintf(name, sizeof name, "%s", op);
        else
            snprintf(name, sizeof name, "%s  %s:%d", op,
                     human_cut(a->place.source.file, 80, file, sizeof file), a->place.source.line);
        result_text_add(&t, &rows, i, name, TEXT_PLAIN);
    }
    buf_addc(s->out, '\n');
    result_text_print(&t, s);
    result_text_done(&t);
    screen_rest(s, i, rows.n, sum, total);
    buf_adds(s->out,
             "  kept: allocated before the last step and not freed by the end of the trace\n");
}

static void view_memory_show_calls(const struct screen *s, const struct view_memory *v)
{
    const struct memory *m = v->memory;
    if (!v->cx->t->n_calls) return; /* calls were not recorded, or there is no driver */
    if (!m->n_calls) {
        buf_adds(
            s->out,
            "\n  no calls to the driver's allocator (cudaMalloc, cudaFree), which is healthy\n");
        return;
    }
    static const char *const keys[] = {"call",     "count",       "total_us",
                                       "in_steps", "in_steps_us", NULL};
    struct rows rows = rows_driver_calls(v->cx, m);
    buf_addc(s->out, '\n');
    result_text_show(s, &rows, keys, rows.n);
    if (m->calls_in_steps)
        buf_adds(s->out, "  such calls may wait for the GPU; a steady loop makes none\n");
}

void view_memory_text(const struct screen *s, const struct view_memory *v)
{
    const struct memory *m = v->memory;
    view_quality_warn(s, v->integrity);
    if (!m->recorded)
        buf_adds(s->out,
                 "memory was not recorded, so levels, peaks and growth are unknown. Record with\n"
                 "  torch.profiler.profile(..., profile_memory=True)\n");
    for (uint32_t i = 0; i < m->n_lines; i++) {
        show_line(s, v, &m->lines[i]);
        if (!m->lines[i].device_type) continue;
        show_steps(s, v, &m->lines[i]);
    }
    view_memory_show_sites(s, v);
    view_memory_show_calls(s, v);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"stages %s", "peak memory by stage"},
        {"report %s", "what is slow and why"},
    };
    screen_next(s, next + !m->recorded, m->recorded ? 2 : 1);
}
