/* view_diff.c: the change of the wall clock first, then what it is made of, then the proof. */
#include "report/view_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/jout.h"
#include "report/view_part.h"
#include "report/view_quality.h"

#define STAGES_SHOWN 10
#define SYNCS_SHOWN  6

static double change_pct(double before, double after)
{
    return before > 0 ? 100 * (after / before - 1) : 0;
}

/* "2,149" with enough digits that a change of a percent shows. */
static const char *ms(int64_t ns, char *out, size_t cap)
{
    double v = (double)ns / 1e6;
    snprintf(out, cap, "%.*f", v >= 1000 ? 0 : v >= 100 ? 1 : v >= 1 ? 2 : 3, v);
    return out;
}

/* Which part of a recording each side is: the wall times of different calls do not compare. */
static void put_sides(const struct screen *s, const struct view_diff *v)
{
    static const char *const names[] = {"before", "after"};
    for (int i = 0; i < 2; i++) {
        if (!view_part_is(v->d->side[i]->t)) continue;
        buf_printf(s->out, "  %-7s ", names[i]);
        view_part_shown(s->out, v->d->side[i]->t);
        buf_addc(s->out, '\n');
    }
}

static void put_wall(const struct screen *s, const struct view_diff *v)
{
    int64_t before = wall_of(v->d->side[0])->wall_ns, after = wall_of(v->d->side[1])->wall_ns;
    const struct diff_stats *st = v->stats;
    char a[32], b[32];
    buf_printf(s->out, "  wall %s -> %s ms  (%+.2f ms, %+.1f %%)\n", ms(before, a, sizeof a),
               ms(after, b, sizeof b), (double)(after - before) / 1e6,
               change_pct((double)before, (double)after));
    if (st->known)
        buf_printf(s->out,
                   "  means of %u and %u runs: %+.1f %%, 99 %% interval %+.1f ... %+.1f %%: %s\n",
                   st->n[0], st->n[1], st->change_pct, st->low_pct, st->high_pct,
                   st->real ? "real" : "within noise");
    else
        buf_adds(s->out,
                 "  too few traces to rule out noise: give three or more per side for a verdict\n");
}

static void put_part_name(struct buf *out, const struct diff_part *p)
{
    char cut[128];
    if (strcmp(p->kind, "outside") == 0)
        buf_adds(out, "before the first and after the last GPU work");
    for (int k = 0; k < CAUSE_KINDS; k++)
        if (strcmp(p->kind, gap_cause_kind_name((enum gap_cause_kind)k)) == 0)
            buf_printf(out, "idle, %s", gap_cause_kind_words((enum gap_cause_kind)k));
    if (strcmp(p->kind, "kernels") == 0) buf_adds(out, "kernels");
    if (strcmp(p->kind, "copies") == 0) buf_adds(out, "copies that no kernel overlaps");
    if (strcmp(p->kind, "stage") == 0) buf_adds(out, "stage");
    if (strcmp(p->kind, "between") == 0) buf_adds(out, "outside the stages");
    if (strcmp(p->kind, "overlap") == 0) buf_adds(out, "kernels that overlap");
    if (p->name[0]) buf_printf(out, ": %s", human_cut(str_c(p->name), 44, cut, sizeof cut));
}

static void put_parts(const struct screen *s, const struct diff *d)
{
    int64_t rest = 0;
    char a[32], b[32];
    for (uint32_t i = 0; i < d->n_parts; i++) {
        const struct diff_part *p = &d->parts[i];
        int64_t change = p->ns[1] - p->ns[0];
        if (i >= s->limit || change == 0) {
            rest += change;
            continue;
        }
        buf_printf(s->out, "  %+10.2f  ", (double)change / 1e6);
        put_part_name(s->out, p);
        buf_printf(s->out, "  %s -> %s ms\n", ms(p->ns[0], a, sizeof a), ms(p->ns[1], b, sizeof b));
    }
    buf_printf(s->out, "  %+10.2f  everything else\n", (double)rest / 1e6);
}

static void stage_cells(struct text_table *t, const struct diff_stage *st, bool device)
{
    static const int64_t none = 0;
    int64_t cpu[2], gpu[2];
    for (int i = 0; i < 2; i++) {
        cpu[i] = st->side[i] ? st->side[i]->cpu_ns : none;
        gpu[i] = st->side[i] ? st->side[i]->gpu.sum_ns : none;
        char text[32];
        text_table_cell(t, 1 + i, st->side[i] ? ms(cpu[i], text, sizeof text) : "-");
        if (device) text_table_cell(t, 4 + i, st->side[i] ? ms(gpu[i], text, sizeof text) : "-");
    }
    bool both = st->side[0] && st->side[1];
    if (both) text_table_cellf(t, 3, "%+.1f %%", change_pct((double)cpu[0], (double)cpu[1]));
    if (!device) return;
    if (both) text_table_cellf(t, 6, "%+.1f %%", change_pct((double)gpu[0], (double)gpu[1]));
    text_table_cellf(t, 7, "%u -> %u", st->side[0] ? st->side[0]->gpu.kernels : 0,
                     st->side[1] ? st->side[1]->gpu.kernels : 0);
    text_table_cellf(t, 8, "%u -> %u", st->side[0] ? st->side[0]->syncs : 0,
                     st->side[1] ? st->side[1]->syncs : 0);
}

static void put_stages(const struct screen *s, const struct diff *d)
{
    static const char *const heads[] = {"stage", "CPU ms", "after",   "",     "GPU ms",
                                        "after", "",       "kernels", "syncs"};
    struct text_table t;
    text_table_init(&t);
    bool device = d->device;
    for (int i = 0; i < (device ? 9 : 4); i++)
        text_table_col(&t, heads[i], i ? TEXT_RIGHT : TEXT_LEFT);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < d->n_stages && shown < STAGES_SHOWN; i++, shown++) {
        text_table_row(&t, TEXT_PLAIN);
        const struct stage *st = d->stages[i].side[0] ? d->stages[i].side[0] : d->stages[i].side[1];
        const char *leaf = strrchr(st->path, '/');
        text_table_cellf(&t, 0, "%*s%s", (int)st->depth * 2, "", leaf ? leaf + 1 : st->path);
        stage_cells(&t, &d->stages[i], device);
    }
    if (shown) {
        buf_addc(s->out, '\n');
        text_table_print(&t, s->out, 2, s->width, s->color);
    }
    text_table_done(&t);
    if (d->n_stages > shown)
        buf_printf(s->out, "  ... and %u more (--json has all)\n", d->n_stages - shown);
    if (d->labels_lost)
        buf_adds(s->out, "  labels are missing after the change: a fully compiled module drops the "
                         "labels inside it; annotate outside the compiled call\n");
}

static const char *mechanism_text(enum diff_mechanism m)
{
    switch (m) {
    case MECHANISM_FUSION: return "fewer kernels by fusion, not by CUDA graphs";
    case MECHANISM_GRAPHS: return "fewer launches by CUDA graphs, not by fusion";
    case MECHANISM_BOTH: return "fewer kernels by fusion and fewer launches by CUDA graphs";
    case MECHANISM_OTHER: return "fewer kernels without fusion or graphs: less work";
    case MECHANISM_NONE: break;
    }
    return "no change in fusion or CUDA graphs";
}

static void put_kernels(const struct screen *s, const struct diff *d)
{
    const struct diff_kernels *k = &d->kernels;
    if (!timeline_of(d->side[0])->n_devices && !timeline_of(d->side[1])->n_devices) return;
    if (!d->device) {
        buf_adds(s->out, "\n  kernels are unknown: one of the traces has no device work\n");
        return;
    }
    buf_printf(s->out, "\n  kernels per step %s -> %s",
               human_count((uint64_t)((double)k->kernels[0] / d->per_step[0])).s,
               human_count((uint64_t)((double)k->kernels[1] / d->per_step[1])).s);
    buf_printf(s->out, "   %s; %s\n", k->same_names ? "same kernels" : "different kernels",
               mechanism_text(d->mechanism));
    if (!k->same_names)
        buf_printf(s->out, "  kernel names: %u new, %u gone\n", k->new_names, k->gone_names);
}

static uint64_t in_loop(const struct context *cx)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < syncs_of(cx)->n_sites; i++) n += syncs_of(cx)->sites[i].in_loop;
    return n;
}

static void put_syncs(const struct screen *s, const struct diff *d)
{
    uint32_t told = 0;
    if (!d->side[0]->t->n_calls && !d->side[1]->t->n_calls) return;
    if (!d->calls) {
        buf_adds(s->out, "  syncs are unknown: one of the traces has no runtime calls\n");
        return;
    }
    for (uint32_t i = 0; i < d->n_syncs; i++) {
        const struct diff_sync *y = &d->syncs[i];
        if (y->side[0] && y->side[1]) continue;
        const struct sync_site *site = y->side[0] ? y->side[0] : y->side[1];
        if (told++ >= SYNCS_SHOWN) continue;
        char cut[128];
        buf_printf(s->out, "  sync %s: %s  (%u x, blocked %s, exposed %s)\n",
                   y->side[0] ? "gone" : "new", human_cut(str_c(y->key), 44, cut, sizeof cut),
                   site->n_rows, human_time(site->blocked_ns).s, human_time(site->exposed_ns).s);
    }
    if (told > SYNCS_SHOWN) buf_printf(s->out, "  ... and %u more (--json)\n", told - SYNCS_SHOWN);
    uint64_t before = in_loop(d->side[0]), after = in_loop(d->side[1]);
    buf_printf(s->out, "  syncs in the loop %llu -> %llu", (unsigned long long)before,
               (unsigned long long)after);
    buf_adds(s->out, after == 0 && steps_of(d->side[1])->n_steps
                         ? "   proved: no blocking call inside the steps of the second trace\n"
                         : "\n");
}

void view_diff_text(const struct screen *s, const struct view_diff *v)
{
    put_sides(s, v);
    put_wall(s, v);
    put_parts(s, v->d);
    put_stages(s, v->d);
    put_kernels(s, v->d);
    put_syncs(s, v->d);
    struct screen after = *s;
    after.path = v->path[1];
    static const struct screen_next next[] = {
        {"report %s", "what is left to gain"},
        {"gaps %s", "when the GPU was idle, and why"},
    };
    buf_addc(s->out, '\n');
    screen_next(&after, next, v->d->device ? 2 : 1);
}

/* ---- JSON ---- */

static void json_pair(struct jout *j, const char *key, int64_t before, int64_t after)
{
    jout_obj(j, key);
    jout_us(j, "before_us", before);
    jout_us(j, "after_us", after);
    jout_num(j, "change_pct", change_pct((double)before, (double)after), 3);
    jout_end_obj(j);
}

static bool is_derived(const struct diff_stage *s)
{
    return (s->side[0] ? s->side[0] : s->side[1])->derived;
}

static void json_stage_side(struct jout *j, const char *key, const struct stage *s)
{
    if (!s) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_uint(j, "count", s->calls);
    jout_us(j, "cpu_us", s->cpu_ns);
    jout_us(j, "gpu_us", s->gpu.sum_ns);
    jout_us(j, "idle_us", s->idle_meanwhile_ns);
    jout_us(j, "median_us", s->median_ns);
    jout_uint(j, "kernels", s->gpu.kernels);
    jout_uint(j, "syncs", s->syncs);
    jout_end_obj(j);
}

static void json_syncs(struct jout *j, const struct diff *d)
{
    static const char *const names[] = {"removed", "added"};
    jout_obj(j, "syncs");
    for (int side = 0; side < 2; side++) {
        jout_arr(j, names[side]);
        for (uint32_t i = 0; i < d->n_syncs; i++) {
            const struct sync_site *site = d->syncs[i].side[side];
            if (!site || d->syncs[i].side[!side]) continue;
            jout_obj(j, NULL);
            jout_cstr(j, "what", d->syncs[i].key);
            jout_cstr(j, "kind", wait_kind_name(site->kind));
            jout_str(j, "file", site->place.source.file);
            jout_int(j, "line", site->place.source.line);
            jout_str(j, "function", site->place.source.function);
            jout_uint(j, "count", site->n_rows);
            jout_us(j, "blocked_us", site->blocked_ns);
            jout_us(j, "exposed_us", site->exposed_ns);
            jout_end_obj(j);
        }
        jout_end_arr(j);
    }
    jout_uint(j, "in_loop_before", in_loop(d->side[0]));
    jout_uint(j, "in_loop_after", in_loop(d->side[1]));
    jout_end_obj(j);
}

static void json_kernels(struct jout *j, const struct diff *d)
{
    static const char *const mechanisms[] = {"none", "fusion", "cuda_graphs",
                                             "fusion_and_cuda_graphs", "less_work"};
    const struct diff_kernels *k = &d->kernels;
    jout_obj(j, "kernels");
    jout_uint(j, "before", k->kernels[0]);
    jout_uint(j, "after", k->kernels[1]);
    jout_num(j, "per_step_before", (double)k->kernels[0] / d->per_step[0], 3);
    jout_num(j, "per_step_after", (double)k->kernels[1] / d->per_step[1], 3);
    jout_uint(j, "fused_before", k->fused[0]);
    jout_uint(j, "fused_after", k->fused[1]);
    jout_uint(j, "in_graphs_before", k->in_graphs[0]);
    jout_uint(j, "in_graphs_after", k->in_graphs[1]);
    jout_uint(j, "launches_before", k->launches[0]);
    jout_uint(j, "launches_after", k->launches[1]);
    jout_uint(j, "new_names", k->new_names);
    jout_uint(j, "gone_names", k->gone_names);
    jout_cstr(j, "mechanism", mechanisms[d->mechanism]);
    jout_arr(j, "families");
    for (int f = 0; f < FAMILY_COUNT; f++) {
        if (!k->family[f][0] && !k->family[f][1]) continue;
        jout_obj(j, NULL);
        jout_cstr(j, "family", kernel_family_name((enum kernel_family)f));
        jout_uint(j, "before", k->family[f][0]);
        jout_uint(j, "after", k->family[f][1]);
        jout_us(j, "before_us", k->family_ns[f][0]);
        jout_us(j, "after_us", k->family_ns[f][1]);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void json_stats(struct jout *j, const struct diff_stats *st)
{
    jout_obj(j, "statistics");
    jout_uint(j, "runs_before", st->n[0]);
    jout_uint(j, "runs_after", st->n[1]);
    jout_num(j, "mean_before_us", st->typical_ns[0] / 1e3, 3);
    jout_num(j, "mean_after_us", st->typical_ns[1] / 1e3, 3);
    jout_num(j, "change_pct", st->change_pct, 3);
    if (st->known) jout_num(j, "low_pct", st->low_pct, 3);
    else jout_null(j, "low_pct");
    if (st->known) jout_num(j, "high_pct", st->high_pct, 3);
    else jout_null(j, "high_pct");
    jout_cstr(j, "verdict", !st->known ? "unknown" : st->real ? "real" : "within_noise");
    jout_end_obj(j);
}

void view_diff_json(struct buf *out, const struct view_diff *v)
{
    const struct diff *d = v->d;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_pair(&j, "wall", wall_of(d->side[0])->wall_ns, wall_of(d->side[1])->wall_ns);
    json_pair(&j, "wall_without_profiler", undistort_of(d->side[0])->plain_ns,
              undistort_of(d->side[1])->plain_ns);
    json_stats(&j, v->stats);
    json_pair(&j, "step", steps_of(d->side[0])->median_ns, steps_of(d->side[1])->median_ns);
    jout_uint(&j, "steps_before", steps_of(d->side[0])->n_steps);
    jout_uint(&j, "steps_after", steps_of(d->side[1])->n_steps);
    jout_arr(&j, "parts");
    for (uint32_t i = 0; i < d->n_parts; i++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "kind", d->parts[i].kind);
        jout_cstr(&j, "name", d->parts[i].name);
        jout_us(&j, "before_us", d->parts[i].ns[0]);
        jout_us(&j, "after_us", d->parts[i].ns[1]);
        jout_us(&j, "change_us", d->parts[i].ns[1] - d->parts[i].ns[0]);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < d->n_stages; i++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "path", d->stages[i].path);
        jout_bool(&j, "derived", is_derived(&d->stages[i]));
        json_stage_side(&j, "before", d->stages[i].side[0]);
        json_stage_side(&j, "after", d->stages[i].side[1]);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_bool(&j, "labels_lost", d->labels_lost);
    jout_bool(&j, "kernels_known", d->device);
    jout_bool(&j, "syncs_known", d->calls);
    json_kernels(&j, d);
    json_syncs(&j, d);
    jout_obj(&j, "trace_quality");
    view_quality_json(&j, "before", d->side[0]->t, integrity_of(d->side[0]));
    view_quality_json(&j, "after", d->side[1]->t, integrity_of(d->side[1]));
    jout_end_obj(&j);
    jout_end_obj(&j);
}
