/* view_memory.c: see view_memory.h. */
#include "report/view_memory.h"

#include <stdio.h>

#include "base/human.h"
#include "base/jout.h"
#include "report/source_out.h"
#include "report/view_quality.h"

static const char *device_name(const struct memory_line *l, char *out, size_t cap)
{
    if (l->device_type == 0) snprintf(out, cap, "CPU");
    else snprintf(out, cap, "GPU %d", l->device_id);
    return out;
}

static void bytes_or_null(struct jout *j, const char *key, int64_t bytes)
{
    if (bytes >= 0) jout_int(j, key, bytes);
    else jout_null(j, key);
}

static void json_growth(struct jout *j, const struct memory_growth *g)
{
    jout_obj(j, "growth");
    jout_bool(j, "judged", g->judged);
    jout_bool(j, "grows", g->grows);
    jout_uint(j, "steps", g->n_steps);
    jout_uint(j, "rises", g->n_rises);
    jout_int(j, "per_step_bytes", g->per_step);
    jout_int(j, "total_bytes", g->total_bytes);
    jout_end_obj(j);
}

static void json_line(struct jout *j, const struct view_memory *v, const struct memory_line *l)
{
    const struct trace *t = v->cx->t;
    jout_obj(j, NULL);
    jout_cstr(j, "device", l->device_type == 0 ? "cpu" : "gpu");
    jout_int(j, "device_id", l->device_id);
    jout_bool(j, "relative", l->relative);
    jout_int(j, "begin_bytes", l->begin_bytes);
    jout_int(j, "end_bytes", l->end_bytes);
    jout_int(j, "peak_bytes", l->peak_bytes);
    jout_us(j, "peak_at_us", trace_since_ns(t, t->ts_ns[l->peak]));
    jout_cstr(j, "peak_stage",
              l->peak_stage == STAGE_NONE ? NULL : v->stages->list[l->peak_stage].path);
    bytes_or_null(j, "reserved_bytes", l->reserved_bytes);
    bytes_or_null(j, "unused_bytes", l->unused_bytes);
    json_growth(j, &l->growth);
    jout_arr(j, "steps");
    for (uint32_t i = 0; i < steps_of(v->cx)->n_steps && i < v->most_steps; i++) {
        jout_obj(j, NULL);
        jout_uint(j, "index", i);
        jout_int(j, "end_bytes", l->steps[i].end_bytes);
        jout_int(j, "peak_bytes", l->steps[i].peak_bytes);
        jout_uint(j, "allocations", l->steps[i].allocations);
        jout_int(j, "alloc_bytes", l->steps[i].alloc_bytes);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void json_site(struct jout *j, const struct trace *t, const struct alloc_site *s)
{
    jout_obj(j, NULL);
    if (s->op != STR_NONE) jout_str(j, "op", trace_str(t, s->op));
    else jout_null(j, "op");
    source_json(j, t, &s->place);
    jout_uint(j, "count", s->count);
    jout_int(j, "bytes", s->bytes);
    jout_int(j, "largest_bytes", s->largest_bytes);
    jout_int(j, "kept_bytes", s->kept_bytes);
    jout_end_obj(j);
}

static void json_call(struct jout *j, const struct trace *t, const struct driver_alloc *c)
{
    jout_obj(j, NULL);
    jout_str(j, "call", trace_str(t, c->name));
    jout_uint(j, "count", c->count);
    jout_uint(j, "in_steps", c->in_steps);
    jout_us(j, "total_us", c->total_ns);
    jout_us(j, "in_steps_us", c->in_steps_ns);
    jout_end_obj(j);
}

static void json_stages(struct jout *j, const struct stages *stages)
{
    jout_arr(j, "stages");
    for (uint32_t i = 0; i < stages->n; i++) {
        const struct stage *s = &stages->list[i];
        jout_obj(j, NULL);
        jout_cstr(j, "path", s->path);
        bytes_or_null(j, "peak_bytes", s->peak_bytes);
        jout_uint(j, "allocations", s->allocations);
        jout_int(j, "alloc_bytes", s->alloc_bytes);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void view_memory_json(struct buf *out, const struct view_memory *v)
{
    const struct memory *m = v->memory;
    const struct trace *t = v->cx->t;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_bool(&j, "recorded", m->recorded);
    jout_arr(&j, "devices");
    for (uint32_t i = 0; i < m->n_lines; i++) json_line(&j, v, &m->lines[i]);
    jout_end_arr(&j);
    json_stages(&j, v->stages);
    jout_arr(&j, "sites");
    for (uint32_t i = 0; i < m->n_sites; i++) json_site(&j, t, &m->sites[i]);
    jout_end_arr(&j);
    jout_arr(&j, "driver_calls");
    for (uint32_t i = 0; i < m->n_calls; i++) json_call(&j, t, &m->calls[i]);
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", t, v->integrity);
    jout_end_obj(&j);
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
    buf_printf(s->out, "%s  %s%s -> %s, peak %s", device_name(l, name, sizeof name),
               l->relative ? "(relative to the start) " : "", human_bytes(l->begin_bytes).s,
               human_bytes(l->end_bytes).s, human_bytes(l->peak_bytes).s);
    if (l->peak_stage != STAGE_NONE)
        buf_printf(s->out, " in %s",
                   human_cut(str_c(v->stages->list[l->peak_stage].path), 40, stage, sizeof stage));
    buf_addc(s->out, '\n');
    if (l->device_type == 0) return;
    if (l->reserved_bytes >= 0)
        buf_printf(s->out, "  the allocator holds up to %s, up to %s of it unused\n",
                   human_bytes(l->reserved_bytes).s, human_bytes(l->unused_bytes).s);
    say_growth(s, l);
}

static void show_steps(const struct screen *s, const struct view_memory *v,
                       const struct memory_line *l)
{
    uint32_t n = steps_of(v->cx)->n_steps;
    if (!n) return;
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "step", TEXT_RIGHT);
    text_table_col(&tt, "at end", TEXT_RIGHT);
    text_table_col(&tt, "change", TEXT_RIGHT);
    text_table_col(&tt, "peak", TEXT_RIGHT);
    text_table_col(&tt, "allocations", TEXT_RIGHT);
    text_table_col(&tt, "allocated", TEXT_RIGHT);
    for (uint32_t i = 0; i < n && i < s->limit; i++) {
        const struct memory_step *m = &l->steps[i];
        text_table_row(&tt, TEXT_PLAIN);
        text_table_cellf(&tt, 0, "%u", i);
        text_table_cell(&tt, 1, human_bytes(m->end_bytes).s);
        if (i) screen_bytes(&tt, 2, m->end_bytes - m[-1].end_bytes);
        screen_bytes(&tt, 3, m->peak_bytes);
        screen_count(&tt, 4, m->allocations);
        screen_bytes(&tt, 5, m->alloc_bytes);
    }
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
    screen_more(s, n);
}

static void site_cell(struct text_table *tt, const struct trace *t, const struct alloc_site *a)
{
    char op[64], file[256];
    if (a->op == STR_NONE) snprintf(op, sizeof op, "(no operator)");
    else human_cut(trace_str(t, a->op), 40, op, sizeof op);
    if (a->place.frame == ROW_NONE) text_table_cell(tt, 0, op);
    else
        text_table_cellf(tt, 0, "%s  %s:%d", op,
                         human_cut(a->place.source.file, 80, file, sizeof file),
                         a->place.source.line);
}

static void show_sites(const struct screen *s, const struct view_memory *v)
{
    const struct memory *m = v->memory;
    if (!m->n_sites) return;
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "allocations in the loop", TEXT_LEFT);
    text_table_col(&tt, "count", TEXT_RIGHT);
    text_table_col(&tt, "bytes", TEXT_RIGHT);
    text_table_col(&tt, "largest", TEXT_RIGHT);
    text_table_col(&tt, "kept", TEXT_RIGHT);
    for (uint32_t i = 0; i < m->n_sites && i < s->limit && i < 12; i++) {
        const struct alloc_site *a = &m->sites[i];
        text_table_row(&tt, TEXT_PLAIN);
        site_cell(&tt, v->cx->t, a);
        screen_count(&tt, 1, a->count);
        screen_bytes(&tt, 2, a->bytes);
        screen_bytes(&tt, 3, a->largest_bytes);
        screen_bytes(&tt, 4, a->kept_bytes);
    }
    buf_addc(s->out, '\n');
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
    buf_adds(s->out,
             "  kept: allocated before the last step and not freed by the end of the trace\n");
}

static void show_calls(const struct screen *s, const struct view_memory *v)
{
    const struct memory *m = v->memory;
    uint32_t in_steps = 0;
    if (!v->cx->t->n_calls) return; /* calls were not recorded, or there is no driver */
    for (uint32_t i = 0; i < m->n_calls; i++) in_steps += m->calls[i].in_steps;
    if (!m->n_calls) {
        buf_adds(
            s->out,
            "\n  no calls to the driver's allocator (cudaMalloc, cudaFree), which is healthy\n");
        return;
    }
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "driver's allocator", TEXT_LEFT);
    text_table_col(&tt, "calls", TEXT_RIGHT);
    text_table_col(&tt, "total", TEXT_RIGHT);
    text_table_col(&tt, "in steps", TEXT_RIGHT);
    text_table_col(&tt, "time in steps", TEXT_RIGHT);
    int unit = screen_unit(m->calls[0].total_ns);
    for (uint32_t i = 0; i < m->n_calls; i++) {
        char name[64];
        text_table_row(&tt, TEXT_PLAIN);
        text_table_cell(&tt, 0,
                        human_cut(trace_str(v->cx->t, m->calls[i].name), 40, name, sizeof name));
        screen_count(&tt, 1, m->calls[i].count);
        screen_time(&tt, 2, m->calls[i].total_ns, unit);
        screen_count(&tt, 3, m->calls[i].in_steps);
        screen_time(&tt, 4, m->calls[i].in_steps_ns, unit);
    }
    buf_addc(s->out, '\n');
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
    if (in_steps) buf_adds(s->out, "  such calls may wait for the GPU; a steady loop makes none\n");
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
    show_sites(s, v);
    show_calls(s, v);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"stages %s", "peak memory by stage"},
        {"report %s", "what is slow and why"},
    };
    screen_next(s, next, 2);
}
