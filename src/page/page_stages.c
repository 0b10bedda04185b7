/* page_stages.c: see page_set.h. */
#include "page/page_set.h"

#include <stdlib.h>

/* Adds a device work item to the call it was launched in, and to those around it. */
static void page_stages_extend(const struct stage_tree *tree, struct span *gpu, uint32_t call,
                               struct span work)
{
    for (; call != STAGE_NONE; call = tree->calls[call].parent) {
        struct span *s = &gpu[call];
        bool first = s->begin_ns == s->end_ns;
        if (first || work.begin_ns < s->begin_ns) s->begin_ns = work.begin_ns;
        if (first || work.end_ns > s->end_ns) s->end_ns = work.end_ns;
    }
}

static void find_work(const struct context *cx, struct span *gpu)
{
    const struct stage_tree *tree = &stages_of(cx)->tree;
    const struct trace *t = cx->t;
    for (uint32_t d = 0; d < timeline_of(cx)->n_devices; d++) {
        const struct device_line *line = &timeline_of(cx)->devices[d];
        for (uint32_t i = 0; i < line->n_work; i++) {
            row_t launch = trace_launch_of(t, line->work[i]);
            struct span work = trace_span(t, line->work[i]);
            if (launch != ROW_NONE) page_stages_extend(tree, gpu, tree->owner[launch], work);
        }
    }
}

static int page_stages_by_start(const void *a, const void *b, void *ctx)
{
    const struct context *cx = ctx;
    const struct stage_call *calls = stages_of(cx)->tree.calls;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int64_t x = calls[i].begin_ns, y = calls[k].begin_ns;
    if (x != y) return x < y ? -1 : 1;
    return (i > k) - (i < k);
}

struct columns {
    struct page_col id, start, dur, gpu_start, gpu_dur;
};

static void page_stages_put_call(struct columns *c, const struct trace *t,
                                 const struct stage_call *call, struct span gpu)
{
    bool works = gpu.begin_ns < gpu.end_ns;
    int64_t start = trace_since_ns(t, call->begin_ns);
    page_col_uint(&c->id, call->node);
    page_col_uint(&c->start, (uint64_t)(start - c->start.last));
    c->start.last = start;
    page_col_uint(&c->dur, (uint64_t)(call->end_ns - call->begin_ns));
    page_col_uint(&c->gpu_start, works ? (uint64_t)trace_since_ns(t, gpu.begin_ns) + 1 : 0);
    page_col_uint(&c->gpu_dur, (uint64_t)(gpu.end_ns - gpu.begin_ns));
}

int page_stages_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct err *e)
{
    const struct stage_tree *tree = &stages_of(cx)->tree;
    struct columns c = {0};
    struct span *gpu = arena_zalloc(mem, tree->n_calls + 1, sizeof *gpu);
    uint32_t *order = arena_alloc(mem, ((size_t)tree->n_calls + 1) * sizeof *order);
    if (!gpu || !order) return err_nomem(e);
    for (uint32_t i = 0; i < tree->n_calls; i++) order[i] = i;
    qsort_r(order, tree->n_calls, sizeof *order, page_stages_by_start, (void *)(uintptr_t)cx);
    find_work(cx, gpu);
    for (uint32_t i = 0; i < tree->n_calls && i < PAGE_STAGE_CALLS; i++)
        page_stages_put_call(&c, cx->t, &tree->calls[order[i]], gpu[order[i]]);
    page_block_name(block, "stage_id", &c.id);
    page_block_name(block, "stage_start", &c.start);
    page_block_name(block, "stage_dur", &c.dur);
    page_block_name(block, "stage_gpu_start", &c.gpu_start);
    page_block_name(block, "stage_gpu_dur", &c.gpu_dur);
    return 0;
}
