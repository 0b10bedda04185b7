/* page_set.c: see page_set.h. The order matters: stories say what must be kept, what is kept gives
 * spans their numbers, and names are written when no more of them are needed. */
#include "page/page_set.h"

#include "analyze/kernels/headroom.h"
#include "analyze/kernels/known.h"
#include "base/mem.h"
#include "base/pool.h"
#include "report/diagnosis/view_report.h"

/* Kernels whose headroom is replayed for the table. */
#define HEADROOM_ROWS 10

static int run_passes(struct page_set *s, struct err *e)
{
    struct context *cx = s->cx;
    struct op_table_opts by_name = {.by = OP_BY_NAME, .stack_depth = 1, .n_threads = pool_size()};
    TRY(context_need(cx, &launches_pass, e));
    TRY(view_report_need(cx, e));
    TRY(context_need(cx, &known_pass, e));
    TRY(kernel_stats_run(cx, KERNEL_BY_NAME, s->mem, &s->kernels, e));
    TRY(headroom_run(cx, &s->kernels, HEADROOM_ROWS, e));
    TRY(op_table_run(cx->t, &by_name, s->mem, &s->table, e));
    return op_table_sort(&s->table, NULL, s->mem, e);
}

/* Dozens of replays where weights are streamed: too long for a large trace. A trace of which no
 * plan can be made has a page all the same. */
static int plan_offload(struct page_set *s, struct err *e)
{
    if (s->cx->t->n_rows > PAGE_SPANS || wall_of(s->cx)->abstains) return 0;
    struct scene *scene = arena_zalloc(s->mem, 1, sizeof *scene);
    if (!scene) return err_nomem(e);
    int rc = scene_run(s->cx, s->mem, scene, e);
    if (rc == 0) s->scene = scene;
    else if (rc != ERR_NOMEM) err_init(e);
    return rc == ERR_NOMEM ? rc : 0;
}

static int choose_detail(struct page_set *s, struct err *e)
{
    struct page_detail_in in = {.t = s->cx->t, .tracks = &s->tracks, .budget = PAGE_SPANS};
    TRY(page_tracks_run(s->cx->t, s->mem, &s->tracks, e));
    TRY(page_stories_run(s->cx, s->mem, &s->stories, e));
    TRY(page_detail_choice_run(&s->stories, s->cx, s->mem, &in, e));
    return page_detail_run(&in, s->mem, &s->detail, e);
}

/* What each device work item waited for, by index into trace->gpu. */
static int page_set_find_starts(struct page_set *s, const struct launch_wait ***ret, struct err *e)
{
    const struct trace *t = s->cx->t;
    const struct launch_wait **of = arena_zalloc(s->mem, t->n_gpu + 1, sizeof *of);
    struct launch_wait *starts;
    uint32_t n;
    if (!of) return err_nomem(e);
    TRY(launch_waits_run(s->cx, s->mem, &starts, &n, e));
    for (uint32_t i = 0; i < n; i++) of[t->aux[starts[i].work]] = &starts[i];
    *ret = of;
    return 0;
}

static int page_set_put_levels(struct page_set *s, struct err *e)
{
    struct page_levels_in in = {s->cx->t, &s->tracks, &s->detail, &s->names, &s->block};
    s->levels = mem_zalloc(s->tracks.n + 1, sizeof *s->levels);
    if (!s->levels) return err_nomem(e);
    for (uint32_t i = 0; i < s->tracks.n; i++) TRY(page_levels_run(&in, i, &s->levels[i], e));
    return 0;
}

static int page_set_put_columns(struct page_set *s, struct err *e)
{
    const struct launch_wait **starts;
    TRY(page_names_init(&s->names, s->cx->t, e));
    TRY(page_set_find_starts(s, &starts, e));
    struct page_spans_in spans = {s->cx, &s->tracks, &s->detail, starts, &s->names, &s->block};
    TRY(page_spans_run(&spans, s->mem, &s->configs, e));
    TRY(page_set_put_levels(s, e));
    TRY(page_curves_run(s->cx, &s->block, s->mem, &s->curves, e));
    TRY(page_stages_run(s->cx, &s->block, s->mem, e));
    return page_names_put(&s->names, &s->block, e);
}

int page_set_run(struct page_set *s, struct context *cx, const char *path, struct arena *mem,
                 struct err *e)
{
    *s = (struct page_set){.cx = cx, .path = path, .mem = mem};
    TRY(run_passes(s, e));
    TRY(plan_offload(s, e));
    TRY(choose_detail(s, e));
    return page_set_put_columns(s, e);
}

void page_set_done(struct page_set *s)
{
    for (uint32_t i = 0; s->levels && i < s->tracks.n; i++) page_levels_done(&s->levels[i]);
    mem_free(s->levels);
    page_names_done(&s->names);
    page_block_done(&s->block);
}
