/* view_flame.c: see views_kernels.h. */
#include "report/lists/views_kernels.h"

#include <stdlib.h>

#include "analyze/names/frame.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/cells.h"

/* ---- text */

enum { DEEPEST_SHOWN = 24, NAME_WIDTH = 76 };

struct ranked {
    int64_t total_ns;
    uint32_t parent, node;
};

static int by_parent(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->total_ns != y->total_ns) return x->total_ns < y->total_ns ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

struct tree {
    const struct screen *s;
    const struct flame *f;
    struct ranked *order; /* nodes by parent, most time first */
    uint32_t *first;      /* by node: its first child in `order`; that of the next node ends them */
    uint32_t shown;
    int64_t least_ns;
    bool cut; /* the limit was reached */
};

static void view_flame_put_name(const struct tree *t, uint32_t node, int indent, uint32_t skipped)
{
    const struct flame_frame *f = &t->f->frames[t->f->nodes[node].frame];
    struct buf name = {0};
    buf_add_str(&name, f->name);
    if (f->file.n) buf_printf(&name, "  " STR_FMT, STR_ARG(f->file));
    if (f->file.n) frame_print_line(&name, f->line);
    buf_pad(t->s->out, ' ', indent);
    if (skipped) buf_printf(t->s->out, "(%u) ", skipped);
    int width = NAME_WIDTH - indent;
    buf_printf(t->s->out, "%s\n", cell_text(buf_str(&name), width < 30 ? 30 : width).s);
    if (!buf_ok(&name)) t->s->out->failed = true;
    buf_done(&name);
}

/* A frame that only calls one other is not worth a line: the last of such a chain is. */
static uint32_t end_of_chain(const struct tree *t, uint32_t node, uint32_t *skipped)
{
    *skipped = 0;
    for (;;) {
        uint32_t first = t->first[node];
        if (first == t->first[node + 1]) return node;
        uint32_t child = t->order[first].node;
        if (t->f->nodes[child].total_ns * 50 < t->f->nodes[node].total_ns * 49) return node;
        node = child;
        ++*skipped;
    }
}

static void show_node(struct tree *t, uint32_t node, int depth)
{
    uint32_t skipped, end = end_of_chain(t, node, &skipped);
    int64_t all = t->f->nodes[0].total_ns;
    if (t->shown++ >= t->s->limit) {
        t->cut = true;
        return;
    }
    buf_printf(t->s->out, "  %8s %6s  ", human_time(t->f->nodes[end].total_ns).s,
               human_pct(stats_pct(t->f->nodes[end].total_ns, all)).s);
    view_flame_put_name(t, end, 2 * depth, skipped);
    if (depth >= DEEPEST_SHOWN) return;
    for (uint32_t i = t->first[end]; i < t->first[end + 1]; i++) {
        if (t->order[i].total_ns < t->least_ns) break;
        show_node(t, t->order[i].node, depth + 1);
    }
}

static bool view_flame_arrange(struct tree *t, struct arena *mem)
{
    const struct flame *f = t->f;
    t->order = arena_zalloc(mem, (size_t)f->n + 1, sizeof *t->order);
    t->first = arena_zalloc(mem, (size_t)f->n + 2, sizeof *t->first);
    if (!t->order || !t->first) return false;
    for (uint32_t i = 1; i < f->n; i++)
        t->order[i - 1] = (struct ranked){f->nodes[i].total_ns, f->nodes[i].parent, i};
    if (f->n > 2) qsort(t->order, f->n - 1, sizeof *t->order, by_parent);
    uint32_t at = 0;
    for (uint32_t i = 0; i <= f->n; i++) {
        while (at + 1 < f->n && t->order[at].parent < i) at++;
        t->first[i] = at;
    }
    return true;
}

void view_flame_text(const struct screen *s, const struct flame *f, struct arena *mem)
{
    struct tree t = {.s = s, .f = f, .least_ns = f->nodes[0].total_ns / 50};
    int64_t all = f->nodes[0].total_ns;
    if (!view_flame_arrange(&t, mem)) {
        s->out->failed = true;
        return;
    }
    buf_printf(s->out, "%s: %s in %s stacks\n", flame_words(f->of), human_time(all).s,
               human_count(f->n ? f->n - (uint64_t)1 : 0).s);
    if (all <= 0) return;
    for (uint32_t i = t.first[0]; i < t.first[1]; i++)
        if (t.order[i].total_ns >= t.least_ns) show_node(&t, t.order[i].node, 0);
    buf_adds(s->out, "  (n) stands for n frames that only call the next one; parts below 2 % are "
                     "left out");
    buf_adds(s->out, t.cut ? "; --limit 0 shows all\n" : "\n");
}

/* ---- JSON */

static void json_frames(struct jout *j, const struct flame *f)
{
    jout_arr(j, "frames");
    for (uint32_t i = 0; i < f->n_frames; i++) {
        const struct flame_frame *p = &f->frames[i];
        jout_obj(j, NULL);
        jout_str(j, "name", p->name);
        jout_cstr(j, "kind", flame_kind_name(p->kind));
        if (p->file.n) {
            jout_str(j, "file", p->file);
            jout_int(j, "line", p->line);
        }
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_node(struct jout *j, const struct flame_node *n, uint32_t parent, int64_t self_ns)
{
    jout_obj(j, NULL);
    jout_uint(j, "parent", parent);
    jout_uint(j, "frame", n->frame);
    jout_int(j, "self_ns", self_ns);
    jout_int(j, "total_ns", n->total_ns);
    jout_uint(j, "count", n->count);
    jout_end_obj(j);
}

int view_flame_json(struct buf *out, const struct flame *f, int64_t least_ns, struct arena *mem,
                    struct err *e)
{
    struct jout j;
    uint32_t *place = arena_zalloc(mem, (size_t)f->n + 1, sizeof *place), n = 1, left = 0;
    int64_t *self = arena_zalloc(mem, (size_t)f->n + 1, sizeof *self);
    if (!place || !self) return err_nomem(e);
    for (uint32_t i = f->n; i-- > 0;) { /* what is left out is the time of the one above */
        self[i] += f->nodes[i].self_ns;
        if (i && f->nodes[i].total_ns < least_ns) self[f->nodes[i].parent] += self[i], left++;
    }
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_cstr(&j, "of", flame_name(f->of));
    jout_cstr(&j, "title", flame_words(f->of));
    jout_int(&j, "total_ns", f->nodes[0].total_ns);
    jout_uint(&j, "left_out", left);
    json_frames(&j, f);
    jout_arr(&j, "nodes"); /* the i-th is node i + 1; node 0 is the root */
    for (uint32_t i = 1; i < f->n; i++) {
        if (f->nodes[i].total_ns < least_ns) continue;
        place[i] = n++;
        json_node(&j, &f->nodes[i], place[f->nodes[i].parent], self[i]);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
    return 0;
}
