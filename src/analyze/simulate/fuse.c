/* fuse.c: what torch.compile makes of a stretch of the program.
 *
 *     eager      [norm][gemm][mul][add][gelu][gemm]
 *     compiled   [norm][gemm][     fused    ][gemm]
 *
 * Elementwise kernels, norms, reductions and copies that follow each other become one kernel, which
 * reads its tensors once: as long as the longest of them. Matrix multiplications, convolutions and
 * attention stay. The launches that are left cost the CPU as much as before: the compiled code is
 * Python, too, checks its inputs at every call, and launches one kernel at a time. */
#include "analyze/names/kernel_name.h"
#include "analyze/simulate/edits.h"
#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"

struct fuse {
    struct plan_build *b;
    struct sim_edit *ed;
    uint8_t *families; /* by name: enum kernel_family + 1, 0 = not looked at */
    struct stretch at;
    uint32_t head;  /* first work of the kernel being fused, or SIM_NONE */
    uint32_t last;  /* and the last so far */
    uint32_t n_run; /* kernels that could be fused, in a row */
    uint32_t n_before, n_after;
    double around_ns; /* CPU time between the launches, without the cost of recording */
};

static enum kernel_family fuse_family_of(const struct fuse *x, uint32_t work)
{
    const struct trace *t = x->b->m->t;
    row_t r = x->b->m->works[work].row;
    if (t->kind[r] != KIND_KERNEL) return FAMILY_OTHER;
    uint8_t *known = &x->families[t->name[r]];
    if (!*known) *known = (uint8_t)(kernel_family(KIND_KERNEL, trace_name(t, r)) + 1);
    return (enum kernel_family)(*known - 1);
}

static bool is_fusable(const struct fuse *x, uint32_t work)
{
    switch (fuse_family_of(x, work)) {
    case FAMILY_ELEMENTWISE:
    case FAMILY_REDUCTION:
    case FAMILY_NORM:
    case FAMILY_COPY: return true;
    default: return false;
    }
}

/* Whether kernel `b` can go on where `a` ends. Small tensors are computed where they are read, so
 * sizes may differ; in a loop over tensors another size is another tensor, and a kernel of its own.
 */
static bool fuse_continues(const struct fuse *x, uint32_t a, uint32_t b)
{
    const struct sim_model *m = x->b->m;
    if (m->works[a].stream != m->works[b].stream) return false;
    if (x->n_run <= fuse_most_kernels) return true;
    if (fuse_family_of(x, a) != FAMILY_ELEMENTWISE || fuse_family_of(x, b) != FAMILY_ELEMENTWISE)
        return true;
    const struct gpu_info *p = trace_gpu(m->t, m->works[a].row);
    const struct gpu_info *q = trace_gpu(m->t, m->works[b].row);
    return p->grid[0] == q->grid[0] && p->grid[1] == q->grid[1];
}

static int64_t fuse_work_ns(const struct plan_build *b, uint32_t w)
{
    int64_t changed = b->plan->work_ns[w];
    return changed >= 0 ? changed : b->m->works[w].end_ns - b->m->works[w].begin_ns;
}

/* The call becomes part of the kernel before it. */
static void join_head(struct fuse *x, uint32_t call, uint32_t work)
{
    struct plan_build *b = x->b;
    int64_t longest = fuse_work_ns(b, x->head), own = fuse_work_ns(b, work);
    if (own > longest) b->plan->work_ns[x->head] = own;
    b->plan->work_ns[work] = 0;
    b->plan->mode[call] = SIM_DROP;
}

static void fuse_call(struct fuse *x, uint32_t call)
{
    const struct sim_model *m = x->b->m;
    const struct sim_call *c = &m->calls[call];
    uint32_t work = c->n_work == 1 ? m->works_by_call[c->first_work] : SIM_NONE;
    bool fusable = work != SIM_NONE && is_fusable(x, work);
    x->n_before++;
    x->n_run = fusable ? x->n_run + 1 : 0;
    if (fusable && x->head != SIM_NONE && fuse_continues(x, x->last, work)) {
        join_head(x, call, work);
        x->last = work;
        x->ed->n_captured++;
        return;
    }
    x->n_after++;
    x->head = x->last = fusable ? work : SIM_NONE;
}

static double fuse_around(const struct sim_model *m, uint32_t before, uint32_t call)
{
    const struct sim_call *c = &m->calls[call], *p = &m->calls[before];
    double ns = (double)(c->begin_ns - p->end_ns);
    double plain = ns - (double)c->lead_weight * (double)m->typical_launch_ns;
    return c->thread != p->thread || ns <= 0  ? 0
           : plain > fuse_cpu_kept_share * ns ? plain
                                              : fuse_cpu_kept_share * ns;
}

static int fuse_shrink(struct fuse *x, int64_t begin_ns, int64_t end_ns)
{
    if (x->n_before < 2 || x->around_ns <= 0) return 0;
    double keep = (double)x->n_after / (double)x->n_before;
    struct sim_cut part = {.begin_ns = begin_ns, .end_ns = end_ns, .keep = keep};
    return stretch_cut(x->b, &x->at, part, true);
}

static int fuse_stretch(struct fuse *x, const struct sim_cut *at)
{
    const struct sim_model *m = x->b->m;
    uint32_t first = SIM_NONE, last = SIM_NONE;
    x->at = stretch_of(m, at);
    x->head = SIM_NONE;
    x->n_before = x->n_after = x->n_run = 0;
    x->around_ns = 0;
    struct stretch_walk walk = stretch_walk_of(m, &x->at);
    for (uint32_t c; (c = stretch_next(&walk)) != SIM_NONE;) {
        if (x->b->plan->mode[c] == SIM_DROP) continue;
        if (!m->calls[c].n_work) {
            x->head = SIM_NONE;
            x->n_run = 0;
            continue;
        }
        if (first == SIM_NONE) first = c;
        else x->around_ns += fuse_around(m, last, c);
        last = c;
        fuse_call(x, c);
    }
    x->ed->n_matched++;
    return first == SIM_NONE ? 0 : fuse_shrink(x, m->calls[first].begin_ns, m->calls[last].end_ns);
}

int fuse_run(struct plan_build *b, struct sim_edit *ed)
{
    struct fuse x = {.b = b, .ed = ed};
    x.families = arena_zalloc(b->mem, b->m->t->strings.n + (size_t)1, 1);
    if (!x.families) return ERR_NOMEM;
    for (uint32_t i = 0; i < ed->n_spans; i++) TRY(fuse_stretch(&x, &ed->spans[i]));
    return 0;
}
