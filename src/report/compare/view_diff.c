/* view_diff.c: the change of the wall clock first, then what changed in the program, then what the
 * change of the wall clock is made of. */
#include "report/compare/views_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/stats.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/lists/stage_pick.h"
#include "report/lists/views_file.h"
#include "report/report_private.h"
#include "results/result_json.h"
#include "results/results.h"

#define STAGES_SHOWN 10
/* Of all changes, added up without their signs: parts until then have a row. */
#define DIFF_ENOUGH_SHARE 0.8

double view_diff_change_pct(double before, double after)
{
    return before > 0 ? 100 * (after / before - 1) : 0;
}

/* "-18.8 %"; a change that rounds to nothing is none. */
static struct human view_diff_signed(double pct)
{
    struct human h = {"same"};
    if (fabs(pct) >= 0.05) snprintf(h.s, sizeof h.s, "%+.1f %%", pct);
    return h;
}

/* "2,149" with enough digits that a change of a percent shows. */
static const char *view_diff_ms(int64_t ns, char *out, size_t cap)
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
        if (!view_excerpt_is(v->d->side[i]->t)) continue;
        buf_printf(s->out, "  %-7s ", names[i]);
        view_excerpt_shown(s->out, v->d->side[i]->t);
        buf_addc(s->out, '\n');
    }
}

static const char *view_diff_verdict(enum diff_verdict v)
{
    if (v == DIFF_FASTER) return "faster, and more than noise";
    return v == DIFF_SLOWER ? "slower, and more than noise" : "no difference beyond noise";
}

static void view_diff_put_wall(const struct screen *s, const struct view_diff *v)
{
    int64_t before = wall_of(v->d->side[0])->wall_ns, after = wall_of(v->d->side[1])->wall_ns;
    const struct diff_stats *st = v->stats;
    char a[32], b[32];
    buf_printf(s->out, "  wall %s -> %s ms", view_diff_ms(before, a, sizeof a),
               view_diff_ms(after, b, sizeof b));
    if (strcmp(a, b) == 0) buf_adds(s->out, "  (no change)\n");
    else
        buf_printf(s->out, "  (%s, %+.2f ms)\n",
                   view_diff_signed(view_diff_change_pct((double)before, (double)after)).s,
                   (double)(after - before) / 1e6);
    if (st->known)
        buf_printf(s->out,
                   "  means of %u and %u runs: %+.1f %%, 99 %% interval %+.1f ... %+.1f %%: %s\n",
                   st->n[0], st->n[1], st->change_pct, st->low_pct, st->high_pct,
                   view_diff_verdict(st->verdict));
    else
        buf_adds(s->out,
                 "  not proven: too few traces to rule out noise, give three or more per side\n");
}

/* A machine that was busier did not change the program. */
static void view_diff_put_lost(const struct screen *s, const struct view_diff *v)
{
    double wall[2], lost[2];
    for (int i = 0; i < 2; i++) {
        wall[i] = (double)wall_of(v->d->side[i])->wall_ns;
        lost[i] = (double)gaps_host_late_ns(gaps_of(v->d->side[i]));
    }
    if (lost[0] < VIEW_LOST_SHARE * wall[0] && lost[1] < VIEW_LOST_SHARE * wall[1]) return;
    buf_printf(
        s->out,
        "  launching threads had no core: %s of the wall before, %s after; without that %s\n",
        human_pct(stats_pct(lost[0], wall[0])).s, human_pct(stats_pct(lost[1], wall[1])).s,
        view_diff_signed(view_diff_change_pct(wall[0] - lost[0], wall[1] - lost[1])).s);
}

static void put_part_name(struct buf *out, const struct diff_change *p)
{
    const char *idle = NULL;
    char cut[128];
    if (strcmp(p->kind, "outside") == 0)
        buf_adds(out, "before the first and after the last GPU work");
    for (int k = 0; k < CAUSE_KINDS; k++)
        if (strcmp(p->kind, gap_cause_kind_name((enum gap_cause_kind)k)) == 0)
            idle = gap_cause_kind_words((enum gap_cause_kind)k);
    if (strcmp(p->kind, "kernels") == 0) buf_adds(out, "kernels");
    if (strcmp(p->kind, "copies") == 0) buf_adds(out, "copies that no kernel overlaps");
    if (strcmp(p->kind, "stage") == 0) buf_adds(out, "stage");
    if (strcmp(p->kind, "between") == 0) buf_adds(out, "outside the stages");
    if (strcmp(p->kind, "overlap") == 0) buf_adds(out, "kernels that overlap");
    const char *name = human_cut(str_c(p->name), 60, cut, sizeof cut);
    if (idle && p->name[0]) buf_printf(out, "GPU idle: %s (%s)", name, idle);
    else if (idle) buf_printf(out, "GPU idle: %s", idle);
    else if (p->name[0]) buf_printf(out, ": %s", name);
}

static void view_diff_put_part(struct text_table *t, const struct diff_change *p)
{
    char a[32], b[32];
    struct buf name;
    buf_init(&name);
    put_part_name(&name, p);
    text_table_row(t, TEXT_PLAIN);
    text_table_cellf(t, 0, "%+.2f", (double)(p->ns[1] - p->ns[0]) / 1e6);
    text_table_cell(t, 1, p->ns[0] ? view_diff_ms(p->ns[0], a, sizeof a) : "-");
    text_table_cell(t, 2, p->ns[1] ? view_diff_ms(p->ns[1], b, sizeof b) : "-");
    text_table_cell(t, 3, buf_c(&name));
    buf_done(&name);
}

/* Parts until the rest of the change is small: rows that need no action are one row. */
static void view_diff_put_parts(const struct screen *s, const struct diff *d)
{
    static const char *const heads[] = {"change ms", "before", "after",
                                        "where the wall time changed"};
    struct text_table t;
    int64_t rest = 0, all = 0, sum = 0;
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < d->n_parts; i++) all += llabs(d->parts[i].ns[1] - d->parts[i].ns[0]);
    text_table_init(&t);
    for (int i = 0; i < 4; i++) text_table_col(&t, heads[i], i < 3 ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < d->n_parts; i++) {
        int64_t change = d->parts[i].ns[1] - d->parts[i].ns[0];
        bool enough = !s->limited && (double)sum >= DIFF_ENOUGH_SHARE * (double)all;
        if (!change || shown >= s->limit || enough) {
            rest += change;
            left += change != 0;
            continue;
        }
        view_diff_put_part(&t, &d->parts[i]);
        sum += llabs(change);
        shown++;
    }
    if (left) {
        text_table_row(&t, TEXT_DIM);
        text_table_cellf(&t, 0, "%+.2f", (double)rest / 1e6);
        text_table_cellf(&t, 3, "%s smaller change%s (--limit 0 shows all)", human_count(left).s,
                         left == 1 ? "" : "s");
    }
    if (shown || left) {
        buf_addc(s->out, '\n');
        screen_table(s, &t);
    }
    text_table_done(&t);
}

/* Both sides of a stage: before, after, and the change where both have it. */
struct stage_sides {
    struct rows rows[2];
    uint32_t at[2];
    bool there[2];
};

static struct stage_sides stage_sides(const struct diff *d, const struct diff_stage *st)
{
    struct stage_sides s = {0};
    for (int i = 0; i < 2; i++) {
        s.rows[i] = rows_stages(d->side[i], stages_of(d->side[i]), NULL);
        s.there[i] = st->side[i] != NULL;
        if (st->side[i]) s.at[i] = (uint32_t)(st->side[i] - stages_of(d->side[i])->list);
    }
    return s;
}

static void stage_times(struct text_table *t, int col, const struct stage_sides *s, const char *key)
{
    int64_t ns[2] = {0};
    for (int i = 0; i < 2; i++) {
        char text[32];
        if (s->there[i])
            ns[i] = rows_value(&s->rows[i], s->at[i], result_field(&result_stages, key)).i;
        text_table_cell(t, col + i, ns[i] ? view_diff_ms(ns[i], text, sizeof text) : "-");
    }
    if (ns[0] && ns[1])
        text_table_cell(t, col + 2,
                        view_diff_signed(view_diff_change_pct((double)ns[0], (double)ns[1])).s);
}

static void stage_counts(struct text_table *t, int col, const struct stage_sides *s,
                         const char *key)
{
    struct human n[2] = {{"-"}, {"-"}};
    for (int i = 0; i < 2; i++)
        if (s->there[i])
            n[i] = human_count(
                (uint64_t)rows_value(&s->rows[i], s->at[i], result_field(&result_stages, key)).i);
    bool same = strcmp(n[0].s, n[1].s) == 0;
    if (same) text_table_cell(t, col, strcmp(n[0].s, "0") == 0 ? "-" : n[0].s);
    else text_table_cellf(t, col, "%s -> %s", n[0].s, n[1].s);
}

static void view_diff_put_stages(const struct screen *s, const struct diff *d)
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
        struct stage_sides sides = stage_sides(d, &d->stages[i]);
        char label[256];
        text_table_row(&t, TEXT_PLAIN);
        const struct stage *st = d->stages[i].side[0] ? d->stages[i].side[0] : d->stages[i].side[1];
        text_table_cell(&t, 0, stage_label(st, label, sizeof label));
        stage_times(&t, 1, &sides, "cpu_us");
        if (!device) continue;
        stage_times(&t, 4, &sides, "gpu_us");
        stage_counts(&t, 7, &sides, "kernels");
        stage_counts(&t, 8, &sides, "syncs");
    }
    if (shown) {
        buf_addc(s->out, '\n');
        screen_table(s, &t);
    }
    text_table_done(&t);
    if (d->n_stages > shown)
        buf_printf(s->out, "  ... and %u more (--json has all)\n", d->n_stages - shown);
    if (d->labels_lost)
        buf_adds(s->out, "  labels are missing after the change: a fully compiled module drops the "
                         "labels inside it; annotate outside the compiled call\n");
}

/* What changed in the program, and what could not be compared. */
static void view_diff_put_changed(const struct screen *s, const struct diff *d)
{
    buf_adds(s->out, "\n  what changed\n");
    for (uint32_t i = 0; i < d->n_changed; i++) {
        buf_adds(s->out, "    ");
        text_wrap(s->out, d->changed[i], 6, s->width);
    }
    if (!d->n_changed)
        buf_adds(s->out, d->device && d->calls
                             ? "    nothing: the same kernels and the same syncs\n"
                             : "    nothing that the traces show\n");
    if (!d->device && (timeline_of(d->side[0])->n_devices || timeline_of(d->side[1])->n_devices))
        buf_adds(s->out, "    kernels are unknown: one of the traces has no device work\n");
    if (!d->calls && (d->side[0]->t->n_calls || d->side[1]->t->n_calls))
        buf_adds(s->out, "    syncs are unknown: one of the traces has no runtime calls\n");
}

void view_diff_text(const struct screen *s, const struct view_diff *v)
{
    put_sides(s, v);
    view_diff_put_wall(s, v);
    view_diff_put_lost(s, v);
    view_diff_put_changed(s, v->d);
    view_diff_put_parts(s, v->d);
    view_diff_put_stages(s, v->d);
    struct screen after = *s;
    after.path = v->path[1];
    static const struct screen_next next[] = {
        {"report %s", "what is left to gain"},
        {"gaps %s", "when the GPU was idle, and why"},
    };
    buf_addc(s->out, '\n');
    screen_next(&after, next, v->d->device ? 2 : 1);
}
