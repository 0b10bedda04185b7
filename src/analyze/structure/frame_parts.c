/* frame_parts.c: see outline.h. Frames are added up by path first, then each path is judged by
 * what it holds, from the inside out. */
#include "analyze/structure/outline.h"

#include "analyze/device/timeline.h"
#include "analyze/names/label.h"
#include "analyze/structure/structure_constants.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/module_name.h"

#define NO_PATH UINT32_MAX

enum {
    MOST_PATHS = 1 << 16,
    DEEPEST_OPEN = 1024, /* frames inside one another that are examined */
};

/* All calls of the same thing from the same place. */
struct path {
    struct str name;
    uint32_t parent;
    uint32_t calls;
    int64_t cpu_ns, work_ns;
    uint32_t heir; /* the part inside it that takes the most time, or NO_PATH */
    bool module;
    bool part;
    bool surrounds; /* the profiler was started, stepped or stopped inside it, or before it began */
};

struct candidate {
    row_t row;
    uint32_t path;
};

struct open_frame {
    int64_t end_ns;
    uint32_t path;
};

struct frame_search {
    const struct trace *t;
    struct source_places *places;
    struct path *paths;
    uint32_t n_paths;
    struct map path_at; /* (parent, name, module) -> path */
    struct candidate *candidates;
    size_t n_candidates, cap_candidates;
    struct open_frame open[DEEPEST_OPEN];
    uint32_t n_open;
    int64_t work_ns, cpu_ns; /* of the device, and of the threads that launch work */
    bool any_launch;
};

/* The name of a file without its folder and its ".py". */
static struct str frame_parts_stem(struct str file)
{
    for (size_t i = file.n; i-- > 0;)
        if (file.p[i] == '/' || file.p[i] == '\\') {
            file = str_from(file.p + i + 1, file.n - i - 1);
            break;
        }
    if (str_ends(file, ".py")) file.n -= 3;
    return file;
}

/* torch's own functions that are parts of a training step. */
static bool frame_parts_is_backward(const struct frame *f)
{
    struct str path = frame_path(f->file);
    return str_is(f->function, "backward") &&
           (str_is(path, "torch/_tensor.py") || str_is(path, "torch/autograd/__init__.py"));
}

/* False when the frame can be no part. */
static bool read_frame(struct frame_search *p, row_t r, struct path *ret)
{
    enum frame_class class = source_places_class(p->places, r);
    struct frame f;
    *ret = (struct path){.heir = NO_PATH, .module = class == FRAME_MODULE};
    if (ret->module) {
        ret->name = module_class(trace_name(p->t, r));
        return ret->name.n > 0;
    }
    if (class != FRAME_USER && !str_ends(trace_name(p->t, r), " backward")) return false;
    if (!frame_parse(trace_name(p->t, r), &f)) return false;
    ret->name = str_is(f.function, "__call__") ? frame_parts_stem(f.file) : f.function;
    return ret->name.n > 0 && (class == FRAME_USER || frame_parts_is_backward(&f));
}

/* NO_PATH when there are too many. */
static int frame_parts_find_path(struct frame_search *p, uint32_t parent, struct path like,
                                 uint32_t *ret)
{
    uint64_t key = map_mix(intern_hash(like.name) ^ ((uint64_t)parent << 1 ^ like.module));
    uint32_t *at = map_at(&p->path_at, key);
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE && p->n_paths < MOST_PATHS) {
        like.parent = parent;
        p->paths[p->n_paths] = like;
        *at = p->n_paths++;
    }
    *ret = *at == MAP_NONE ? NO_PATH : *at;
    return 0;
}

static uint32_t frame_parts_innermost(const struct frame_search *p)
{
    return p->n_open ? p->open[p->n_open - 1].path : NO_PATH;
}

static int64_t frame_parts_device_ns(const struct trace *t, row_t call)
{
    uint32_t n;
    int64_t sum = 0;
    const row_t *rows = trace_launched(t, call, &n);
    for (uint32_t i = 0; i < n; i++)
        if (timeline_has(t, rows[i])) sum += t->dur_ns[rows[i]];
    return sum;
}

/* Frames that were open when recording began are the first rows of their thread, one inside the
 * other; one that lasts to the end is around the recording. */
static bool frame_parts_was_open_at_start(const struct trace *t, row_t r)
{
    const struct lane *l = &t->lanes[t->lane[r]];
    return r - l->begin == t->depth[r] && trace_end_ns(t, r) >= t->ts_ns[l->end - 1];
}

static int open_frame(struct frame_search *p, row_t r)
{
    struct path like;
    uint32_t path, up = frame_parts_innermost(p);
    if (p->t->flags[r] & (ROW_CROSSES | ROW_LINE) || p->n_open == DEEPEST_OPEN) return 0;
    if (source_places_class(p->places, r) == FRAME_PROFILER && up != NO_PATH)
        p->paths[up].surrounds = true;
    if (!read_frame(p, r, &like)) return 0;
    TRY(frame_parts_find_path(p, up, like, &path));
    if (path == NO_PATH) return 0;
    p->paths[path].calls++;
    p->paths[path].surrounds |= frame_parts_was_open_at_start(p->t, r);
    p->paths[path].cpu_ns += p->t->dur_ns[r];
    p->open[p->n_open++] = (struct open_frame){trace_end_ns(p->t, r), path};
    if (VEC_RESERVE(p->candidates, p->n_candidates, p->cap_candidates, 1)) return ERR_NOMEM;
    p->candidates[p->n_candidates++] = (struct candidate){r, path};
    return 0;
}

static int frame_parts_walk_lane(struct frame_search *p, const struct lane *l)
{
    const struct trace *t = p->t;
    p->n_open = 0;
    for (row_t r = l->begin; r < l->end; r++) {
        while (p->n_open && p->open[p->n_open - 1].end_ns <= t->ts_ns[r]) p->n_open--;
        if (t->kind[r] == KIND_PYTHON) TRY(open_frame(p, r));
        int64_t ns = trace_call(t, r) ? frame_parts_device_ns(t, r) : 0;
        p->work_ns += ns;
        if (ns && p->n_open) p->paths[frame_parts_innermost(p)].work_ns += ns;
    }
    return 0;
}

static bool frame_parts_launches(const struct trace *t, const struct lane *l)
{
    for (row_t r = l->begin; r < l->end; r++) {
        uint32_t n;
        if (trace_launched(t, r, &n) && n) return true;
    }
    return false;
}

static bool is_looked_at(const struct frame_search *p, const struct lane *l)
{
    return l->kind == LANE_THREAD && l->begin < l->end &&
           (!p->any_launch || frame_parts_launches(p->t, l));
}

static int frame_parts_add_up(struct frame_search *p)
{
    const struct trace *t = p->t;
    for (lane_id l = 0; l < t->n_lanes && !p->any_launch; l++)
        p->any_launch = t->lanes[l].kind == LANE_THREAD && frame_parts_launches(t, &t->lanes[l]);
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (!is_looked_at(p, &t->lanes[l])) continue;
        int64_t begin =
            t->ts_ns[t->lanes[l].begin]; /* later than the end where no span has a time */
        if (t->end_ns > begin && t->end_ns - begin > p->cpu_ns) p->cpu_ns = t->end_ns - begin;
        TRY(frame_parts_walk_lane(p, &t->lanes[l]));
    }
    for (uint32_t i = p->n_paths; i-- > 0;) {
        const struct path *inner = &p->paths[i];
        if (inner->parent == NO_PATH) continue;
        struct path *outer = &p->paths[inner->parent];
        outer->work_ns += inner->work_ns;
        outer->surrounds |= inner->surrounds;
    }
    return 0;
}

/* ---- judging ---- */

static bool holds_enough(const struct frame_search *p, const struct path *x)
{
    return (p->work_ns > 0 && (double)x->work_ns >= frame_parts_share * (double)p->work_ns) ||
           (double)x->cpu_ns >= frame_parts_share * (double)p->cpu_ns;
}

/* Names that say nothing: what they call says more. */
static bool is_dull(struct str name)
{
    static const char *const dull[] = {"wrapper", "wrapped", "inner",       "forward", "helper",
                                       "fn",      "func",    "new_forward", "run"};
    if (name.n < 2 || name.p[0] == '_' || name.p[0] == '<') return true;
    for (size_t i = 0; i < sizeof dull / sizeof *dull; i++)
        if (str_is(name, dull[i])) return true;
    return false;
}

/* The profiler's own surroundings: opened before it or around it, and never called again. */
static bool is_surroundings(const struct path *x)
{
    if (x->module || x->calls != 1) return false;
    return x->surrounds || str_is(x->name, "<module>");
}

/* Whether a function is one with the part inside it that takes the most time. */
static bool frame_parts_is_same(const struct path *outer, const struct path *inner)
{
    return outer->calls == inner->calls &&
           (double)inner->cpu_ns >= frame_parts_same_share * (double)outer->cpu_ns;
}

/* A function that is all that a module does, decorators and forward(): that is the module. */
static bool is_body(const struct frame_search *p, const struct path *x)
{
    uint32_t up = x->parent;
    if (x->module) return false;
    while (up != NO_PATH && !p->paths[up].module &&
           (frame_parts_is_same(&p->paths[up], x) || is_dull(p->paths[up].name)))
        up = p->paths[up].parent;
    if (up == NO_PATH || !p->paths[up].module) return false;
    return frame_parts_is_same(&p->paths[up], x) || str_is(x->name, "forward");
}

static void frame_parts_judge(struct frame_search *p, struct path *x)
{
    struct path *heir = x->heir == NO_PATH ? NULL : &p->paths[x->heir];
    x->part = holds_enough(p, x) && !is_surroundings(x) && !is_body(p, x);
    if (!x->part || x->module || !heir || !frame_parts_is_same(x, heir)) return;
    bool inner = heir->module || is_dull(x->name) ||
                 (label_says_call(heir->name) && !label_says_call(x->name));
    if (inner) x->part = false;
    else heir->part = false;
}

static uint32_t frame_parts_longer(const struct frame_search *p, uint32_t a, uint32_t b)
{
    if (a == NO_PATH || b == NO_PATH) return a == NO_PATH ? b : a;
    return p->paths[b].cpu_ns > p->paths[a].cpu_ns ? b : a;
}

/* Paths inside another come after it. */
static void judge_all(struct frame_search *p)
{
    for (uint32_t i = p->n_paths; i-- > 0;) {
        struct path *x = &p->paths[i];
        frame_parts_judge(p, x);
        uint32_t shown = x->part ? i : x->heir;
        if (x->parent != NO_PATH)
            p->paths[x->parent].heir = frame_parts_longer(p, p->paths[x->parent].heir, shown);
    }
}

/* Parts below the deepest level that is shown are none. */
static int limit_depth(struct frame_search *p)
{
    uint8_t *depth = mem_zalloc((size_t)p->n_paths + 1, 1);
    if (!depth) return ERR_NOMEM;
    for (uint32_t i = 0; i < p->n_paths; i++) {
        struct path *x = &p->paths[i];
        uint8_t up = x->parent == NO_PATH ? 0 : depth[x->parent];
        if (up >= frame_parts_deepest) x->part = false;
        depth[i] = x->part ? up + 1 : up;
    }
    mem_free(depth);
    return 0;
}

static int list_parts(const struct frame_search *p, struct arena *mem, struct frame_parts *ret)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->n_candidates; i++) n += p->paths[p->candidates[i].path].part;
    ret->list = arena_zalloc(mem, (size_t)n + 1, sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    for (size_t i = 0; i < p->n_candidates; i++) {
        const struct path *x = &p->paths[p->candidates[i].path];
        if (x->part)
            ret->list[ret->n++] = (struct frame_part){p->candidates[i].row, x->name, x->module};
    }
    return 0;
}

static int frame_parts_do_find(struct frame_search *p, struct arena *mem, struct frame_parts *ret)
{
    TRY(frame_parts_add_up(p));
    judge_all(p);
    TRY(limit_depth(p));
    return list_parts(p, mem, ret);
}

int frame_parts_find(const struct trace *t, struct source_places *places, struct arena *mem,
                     struct frame_parts *ret, struct err *e)
{
    *ret = (struct frame_parts){0};
    if (!places->has_stacks || places->sampled) return 0;
    struct frame_search *p = mem_zalloc(1, sizeof *p);
    if (!p) return err_nomem(e);
    p->t = t;
    p->places = places;
    p->paths = mem_alloc(MOST_PATHS * sizeof *p->paths);
    map_init(&p->path_at);
    int rc = p->paths ? frame_parts_do_find(p, mem, ret) : ERR_NOMEM;
    map_done(&p->path_at);
    mem_free(p->candidates);
    mem_free(p->paths);
    mem_free(p);
    return err_grow(e, rc);
}
