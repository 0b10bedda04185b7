/* view_diff_json.c: a comparison of two traces as JSON. */
#include "report/compare/views_compare.h"
#include "results/result_json.h"
#include "results/results.h"

struct diff_pair {
    int64_t ns[2];
};

/* The document, with what is taken from both sides. */
struct diff_shown {
    const struct diff *d;
    const struct diff_stats *stats;
    struct diff_pair wall, plain, step, lost;
};

static const struct diff *diff_at(const struct rows *r, uint32_t i)
{
    return ((const struct diff_shown *)rows_at(r, i))->d;
}

static struct value pair_change(const struct rows *r, uint32_t i)
{
    const struct diff_pair *p = rows_at(r, i);
    return value_num(view_diff_change_pct((double)p->ns[0], (double)p->ns[1]));
}

static struct value part_change(const struct rows *r, uint32_t i)
{
    const struct diff_change *p = rows_at(r, i);
    return value_int(p->ns[1] - p->ns[0]);
}

/* clang-format off */
static const struct field pair_fields[] = {
    FIELD(NS, "before_us", "", struct diff_pair, ns[0], "before"),
    FIELD(NS, "after_us", "", struct diff_pair, ns[1], "after"),
    FIELD_GET(PCT, "change_pct", "", pair_change, "the change", .decimals = 3),
};
static const struct result result_pair = RESULT("pair", "a time on both sides", pair_fields, struct diff_pair);

static const struct field part_fields[] = {
    FIELD(TEXT, "kind", "", struct diff_change, kind, "`kernels`, `copies`, `overlap`, `outside` or a cause of idle time; `stage`, `between` without device work"),
    FIELD(TEXT, "name", "", struct diff_change, name, "family, function or call; empty when the kind says it all"),
    FIELD(NS, "before_us", "", struct diff_change, ns[0], "before"),
    FIELD(NS, "after_us", "", struct diff_change, ns[1], "after"),
    FIELD_GET(NS, "change_us", "", part_change, "the change"),
};
static const struct result result_parts = RESULT("parts", "what the change of the wall clock consists of", part_fields, struct diff_change);
/* clang-format on */

/* ---- what changed in the program */

VALUE_OF(changed_what, value_cstr(*(const char *const *)rows_at(r, i)))
ROWS_OF(diff_changed, .list = diff_at(r, i)->changed, .n = diff_at(r, i)->n_changed)

/* clang-format off */
static const struct field changed_fields[] = {
    FIELD_GET(TEXT, "what", "", changed_what, "a sentence: a wait that is gone or new, kernels, the GPU"),
};
static const struct result result_changed = RESULT("changed", "what changed in the program", changed_fields, const char *);
/* clang-format on */

/* ---- whether it is real */

static const struct diff_stats *stats_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(stats_low, stats_at(r, i)->known ? value_num(stats_at(r, i)->low_pct) : value_none())
VALUE_OF(stats_high, stats_at(r, i)->known ? value_num(stats_at(r, i)->high_pct) : value_none())
VALUE_OF(stats_verdict, value_cstr(diff_verdict_name(stats_at(r, i)->verdict)))
ROWS_OF(diff_statistics, .list = ((const struct diff_shown *)rows_at(r, i))->stats, .n = 1)

/* clang-format off */
static const struct field stats_fields[] = {
    FIELD(COUNT, "runs_before", "", struct diff_stats, n[0], "traces before"),
    FIELD(COUNT, "runs_after", "", struct diff_stats, n[1], "traces after"),
    FIELD(MEAN_NS, "mean_before_us", "", struct diff_stats, typical_ns[0], "their wall clock, geometric mean", .decimals = 3),
    FIELD(MEAN_NS, "mean_after_us", "", struct diff_stats, typical_ns[1], "the same after", .decimals = 3),
    FIELD(PCT, "change_pct", "", struct diff_stats, change_pct, "the change", .decimals = 3),
    FIELD_GET(PCT, "low_pct", "", stats_low, "its 99 % interval", .decimals = 3),
    FIELD_GET(PCT, "high_pct", "", stats_high, "its 99 % interval", .decimals = 3),
    FIELD_GET(WORD, "verdict", "", stats_verdict, "`faster`, `slower`, `no_difference`, or `unknown` with fewer than three traces per side"),
};
static const struct result result_stats = RESULT("statistics", "is the difference real", stats_fields, struct diff_stats);
/* clang-format on */

/* ---- stages */

static struct rows diff_stage_side(const struct rows *r, uint32_t i, int side)
{
    const struct diff_stage *s = rows_at(r, i);
    const struct context *cx = ((const struct diff *)r->with)->side[side];
    return (struct rows){
        .cx = cx, .list = s->side[side], .n = s->side[side] != NULL, .with = stages_of(cx)};
}

static struct rows diff_stage_before(const struct rows *r, uint32_t i)
{
    return diff_stage_side(r, i, 0);
}

static struct rows diff_stage_after(const struct rows *r, uint32_t i)
{
    return diff_stage_side(r, i, 1);
}

static struct value diff_stage_derived(const struct rows *r, uint32_t i)
{
    const struct diff_stage *s = rows_at(r, i);
    return value_int((s->side[0] ? s->side[0] : s->side[1])->derived);
}

/* clang-format off */
static const struct field stage_fields[] = {
    FIELD(TEXT, "path", "", struct diff_stage, path, "the stage"),
    FIELD_GET(FLAG, "derived", "", diff_stage_derived, "whether no label named it"),
    FIELD_IN(OBJECT, "before", "", &result_stage_sides, diff_stage_before, "as in `stages`; null where it does not exist", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "after", "", &result_stage_sides, diff_stage_after, "as in `stages`; null where it does not exist", .null = NULL_SOMETIMES),
};
static const struct result result_diff_stages = RESULT("stages", "both sides of each stage", stage_fields, struct diff_stage);
/* clang-format on */

/* ---- kernels: by family, one row for each of enum kernel_family */

struct diff_family {
    uint64_t kernels[2];
};

static bool diff_family_has(const struct rows *r, uint32_t i)
{
    const struct diff_family *f = rows_at(r, i);
    return f->kernels[0] || f->kernels[1];
}

static struct value diff_family_ns(const struct rows *r, uint32_t i, int side)
{
    return value_int(((const struct diff_kernels *)r->with)->family_ns[i][side]);
}

static struct value diff_per_step(const struct rows *r, int side)
{
    const struct diff *d = r->with;
    return value_num(diff_kernels_per_step(d, (enum diff_side)side));
}

static struct value diff_mechanism(const struct rows *r, uint32_t i)
{
    static const char *const mechanisms[] = {"none", "fusion", "cuda_graphs",
                                             "fusion_and_cuda_graphs", "less_work"};
    (void)i;
    return value_cstr(mechanisms[((const struct diff *)r->with)->mechanism]);
}

VALUE_OF(diff_family_name, value_cstr(kernel_family_name((enum kernel_family)i)))
VALUE_OF(diff_family_before, diff_family_ns(r, i, 0))
VALUE_OF(diff_family_after, diff_family_ns(r, i, 1))
VALUE_OF(diff_per_step_before, diff_per_step(r, 0))
VALUE_OF(diff_per_step_after, diff_per_step(r, 1))
ROWS_OF(diff_families, .list = ((const struct diff_kernels *)rows_at(r, i))->family,
        .n = FAMILY_COUNT, .with = rows_at(r, i))
ROWS_OF(diff_kernels, .list = &diff_at(r, i)->kernels, .n = 1, .with = diff_at(r, i))

/* clang-format off */
static const struct field family_fields[] = {
    FIELD_GET(TEXT, "family", "", diff_family_name, "the family"),
    FIELD(COUNT, "before", "", struct diff_family, kernels[0], "its kernels before"),
    FIELD(COUNT, "after", "", struct diff_family, kernels[1], "its kernels after"),
    FIELD_GET(NS, "before_us", "", diff_family_before, "their time before"),
    FIELD_GET(NS, "after_us", "", diff_family_after, "their time after"),
};
static const struct result result_families = RESULT_IF("families", "kernels by family", family_fields, struct diff_family, diff_family_has);

static const struct field kernels_fields[] = {
    FIELD(COUNT, "before", "", struct diff_kernels, kernels[0], "kernels before"),
    FIELD(COUNT, "after", "", struct diff_kernels, kernels[1], "kernels after"),
    FIELD_GET(NUM, "per_step_before", "", diff_per_step_before, "the same per step", .decimals = 3),
    FIELD_GET(NUM, "per_step_after", "", diff_per_step_after, "the same per step", .decimals = 3),
    FIELD(COUNT, "fused_before", "", struct diff_kernels, fused[0], "of them, made by a compiler"),
    FIELD(COUNT, "fused_after", "", struct diff_kernels, fused[1], "of them, made by a compiler"),
    FIELD(COUNT, "in_graphs_before", "", struct diff_kernels, in_graphs[0], "of them, in CUDA graphs"),
    FIELD(COUNT, "in_graphs_after", "", struct diff_kernels, in_graphs[1], "of them, in CUDA graphs"),
    FIELD(COUNT, "launches_before", "", struct diff_kernels, launches[0], "calls that launch them"),
    FIELD(COUNT, "launches_after", "", struct diff_kernels, launches[1], "calls that launch them"),
    FIELD(COUNT, "new_names", "", struct diff_kernels, new_names, "names that only the second trace has"),
    FIELD(COUNT, "gone_names", "", struct diff_kernels, gone_names, "names that only the first has"),
    FIELD_GET(WORD, "mechanism", "", diff_mechanism, "why there are fewer: `none`, `fusion`, `cuda_graphs`, `fusion_and_cuda_graphs`, `less_work`"),
    FIELD_IN(LIST, "families", "", &result_families, diff_families, "kernels by family"),
};
static const struct result result_diff_kernels = RESULT("kernels", "kernels on both sides", kernels_fields, struct diff_kernels);
/* clang-format on */

/* ---- syncs that one side has; `with` says which */

static const int diff_sides[2] = {DIFF_BEFORE, DIFF_AFTER};

static const struct sync_site *diff_site(const struct rows *r, uint32_t i)
{
    const struct diff_sync *y = rows_at(r, i);
    return y->side[*(const int *)r->with];
}

static bool diff_sync_has(const struct rows *r, uint32_t i)
{
    const struct diff_sync *y = rows_at(r, i);
    return diff_site(r, i) && !y->side[!*(const int *)r->with];
}

static struct rows diff_syncs_of(const struct rows *r, uint32_t i, int side)
{
    const struct diff *d = rows_at(r, i);
    return (struct rows){.list = d->syncs, .n = d->n_syncs, .with = &diff_sides[side]};
}

static struct rows diff_syncs_removed(const struct rows *r, uint32_t i)
{
    return diff_syncs_of(r, i, DIFF_BEFORE);
}

static struct rows diff_syncs_added(const struct rows *r, uint32_t i)
{
    return diff_syncs_of(r, i, DIFF_AFTER);
}

VALUE_OF(diff_sync_kind, value_cstr(wait_kind_name(diff_site(r, i)->kind)))
VALUE_OF(diff_sync_file, value_text(diff_site(r, i)->place.source.file))
VALUE_OF(diff_sync_line, value_int(diff_site(r, i)->place.source.line))
VALUE_OF(diff_sync_function, value_text(diff_site(r, i)->place.source.function))
VALUE_OF(diff_sync_count, value_int(diff_site(r, i)->n_rows))
VALUE_OF(diff_sync_blocked, value_int(diff_site(r, i)->blocked_ns))
VALUE_OF(diff_sync_exposed, value_int(diff_site(r, i)->exposed_ns))
VALUE_OF(diff_in_loop_before,
         value_int(syncs_of(((const struct diff *)rows_at(r, i))->side[0])->totals.in_loop))
VALUE_OF(diff_in_loop_after,
         value_int(syncs_of(((const struct diff *)rows_at(r, i))->side[1])->totals.in_loop))

/* clang-format off */
static const struct field sync_fields[] = {
    FIELD(TEXT, "what", "", struct diff_sync, key, "what sites are matched by: call, operator, function"),
    FIELD_GET(WORD, "kind", "", diff_sync_kind, "as in `syncs`"),
    FIELD_GET(TEXT, "file", "", diff_sync_file, "the file", .null = NULL_SOMETIMES),
    FIELD_GET(INT, "line", "", diff_sync_line, "the line", .null = NULL_ZERO),
    FIELD_GET(TEXT, "function", "", diff_sync_function, "the function", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "count", "", diff_sync_count, "its calls"),
    FIELD_GET(NS, "blocked_us", "", diff_sync_blocked, "CPU time in them"),
    FIELD_GET(NS, "exposed_us", "", diff_sync_exposed, "idle time of the device that follows"),
};
static const struct result result_diff_sites = RESULT_IF("sites", "places that wait, on one side only", sync_fields, struct diff_sync, diff_sync_has);

static const struct field syncs_fields[] = {
    FIELD_IN(LIST, "removed", "", &result_diff_sites, diff_syncs_removed, "places that wait in the first trace only"),
    FIELD_IN(LIST, "added", "", &result_diff_sites, diff_syncs_added, "places that wait in the second only"),
    FIELD_GET(COUNT, "in_loop_before", "", diff_in_loop_before, "waits inside the steps before"),
    FIELD_GET(COUNT, "in_loop_after", "", diff_in_loop_after, "and after"),
};
static const struct result result_diff_syncs = RESULT("syncs", "waits on both sides", syncs_fields, struct diff);
/* clang-format on */

/* ---- the document */

static struct rows diff_quality_side(const struct rows *r, uint32_t i, int side)
{
    return rows_quality(((const struct diff *)rows_at(r, i))->side[side]);
}

static struct rows diff_quality_before(const struct rows *r, uint32_t i)
{
    return diff_quality_side(r, i, DIFF_BEFORE);
}

static struct rows diff_quality_after(const struct rows *r, uint32_t i)
{
    return diff_quality_side(r, i, DIFF_AFTER);
}

VALUE_OF(diff_steps_before, value_int(steps_of(diff_at(r, i)->side[0])->n_steps))
VALUE_OF(diff_steps_after, value_int(steps_of(diff_at(r, i)->side[1])->n_steps))
VALUE_OF(diff_labels_lost, value_int(diff_at(r, i)->labels_lost))
VALUE_OF(diff_kernels_known, value_int(diff_at(r, i)->device))
VALUE_OF(diff_syncs_known, value_int(diff_at(r, i)->calls))
ROWS_OF(diff_whole, .list = diff_at(r, i), .n = 1)
ROWS_OF(diff_parts, .list = diff_at(r, i)->parts, .n = diff_at(r, i)->n_parts)
ROWS_OF(diff_stages, .list = diff_at(r, i)->stages, .n = diff_at(r, i)->n_stages,
        .with = diff_at(r, i))

/* clang-format off */
static const struct field quality_fields[] = {
    FIELD_IN(OBJECT, "before", "", &result_quality, diff_quality_before, "of the first trace"),
    FIELD_IN(OBJECT, "after", "", &result_quality, diff_quality_after, "of the second trace"),
};
static const struct result result_diff_quality = RESULT("trace_quality", "how far both recordings can be trusted", quality_fields, struct diff);

static const struct field diff_fields[] = {
    FIELD_SUB("wall", &result_pair, struct diff_shown, wall, "the wall clock"),
    FIELD_SUB("wall_without_profiler", &result_pair, struct diff_shown, plain, "the same without the profiler"),
    FIELD_IN(OBJECT, "statistics", "", &result_stats, diff_statistics, "is the difference real"),
    FIELD_SUB("step", &result_pair, struct diff_shown, step, "a step, median"),
    FIELD_SUB("host_late", &result_pair, struct diff_shown, lost, "idle time of the device because a launching thread had no core or was throttled: the noise of the machine, or of too many threads of the program"),
    FIELD_GET(COUNT, "steps_before", "", diff_steps_before, "steps before"),
    FIELD_GET(COUNT, "steps_after", "", diff_steps_after, "steps after"),
    FIELD_IN(LIST, "changed", "", &result_changed, diff_changed, "what changed in the program; empty where nothing did"),
    FIELD_IN(LIST, "parts", "", &result_parts, diff_parts, "what the change of the wall clock consists of, largest first; they add up to it"),
    FIELD_IN(LIST, "stages", "", &result_diff_stages, diff_stages, "both sides of each stage"),
    FIELD_GET(FLAG, "labels_lost", "", diff_labels_lost, "stages of the one side are missing on the other, which is compiled"),
    FIELD_GET(FLAG, "kernels_known", "", diff_kernels_known, "both traces have device work"),
    FIELD_GET(FLAG, "syncs_known", "", diff_syncs_known, "both traces have runtime calls"),
    FIELD_IN(OBJECT, "kernels", "", &result_diff_kernels, diff_kernels, "kernels on both sides"),
    FIELD_IN(OBJECT, "syncs", "", &result_diff_syncs, diff_whole, "waits on both sides"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_diff_quality, diff_whole, "that of `before` and that of `after`"),
};
/* clang-format on */

const struct result document_diff =
    RESULT("diff", "what changed between two traces", diff_fields, struct diff_shown);

void view_diff_json(struct jout *j, const struct view_diff *v)
{
    const struct context *b = v->d->side[0], *a = v->d->side[1];
    struct diff_shown shown = {
        .d = v->d,
        .stats = v->stats,
        .wall = {{wall_of(b)->wall_ns, wall_of(a)->wall_ns}},
        .plain = {{undistort_of(b)->plain_ns, undistort_of(a)->plain_ns}},
        .step = {{steps_of(b)->each_ns, steps_of(a)->each_ns}},
        .lost = {{gaps_host_late_ns(gaps_of(b)), gaps_host_late_ns(gaps_of(a))}},
    };
    document_json(j, NULL, b, &document_diff, &shown, NULL);
}
