/* gap_cause.c: a hash table of causes, and the parts of one gap as a sparse set over them. */
#include "analyze/gaps/gap_cause.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

const char *gap_cause_kind_name(enum gap_cause_kind k)
{
    static const char *const names[CAUSE_KINDS] = {
        [CAUSE_PYTHON] = "python",
        [CAUSE_OP] = "op",
        [CAUSE_DYNAMO] = "dynamo_lookup",
        [CAUSE_SYNC] = "sync",
        [CAUSE_ALLOCATION] = "allocation",
        [CAUSE_CALL] = "runtime_call",
        [CAUSE_LABEL] = "annotation",
        [CAUSE_UNTRACED] = "untraced",
        [CAUSE_PROFILER] = "profiler_overhead",
        [CAUSE_LOADING] = "code_loading",
        [CAUSE_LAUNCH] = "launch_latency",
        [CAUSE_COPY] = "copy",
        [CAUSE_DEPENDENCY] = "dependency",
        [CAUSE_GRAPH] = "cuda_graph",
        [CAUSE_DEVICE] = "device_latency",
        [CAUSE_UNKNOWN] = "unknown",
        [CAUSE_SHORT] = "short_gaps",
        [CAUSE_CORE] = "no_core",
        [CAUSE_CGROUP] = "throttled",
        [CAUSE_FAULTS] = "page_faults",
        [CAUSE_GIL] = "gil",
    };
    return names[k];
}

bool gap_cause_is_missing(enum gap_cause_kind k)
{
    return k == CAUSE_UNTRACED || k == CAUSE_UNKNOWN;
}

const char *gap_cause_kind_words(enum gap_cause_kind k)
{
    static const char *const names[CAUSE_KINDS] = {
        [CAUSE_PYTHON] = "Python",
        [CAUSE_OP] = "operator",
        [CAUSE_DYNAMO] = "guard check",
        [CAUSE_SYNC] = "sync",
        [CAUSE_ALLOCATION] = "allocation",
        [CAUSE_CALL] = "runtime call",
        [CAUSE_LABEL] = "label",
        [CAUSE_UNTRACED] = "not recorded",
        [CAUSE_PROFILER] = "profiler",
        [CAUSE_LOADING] = "code loading",
        [CAUSE_LAUNCH] = "launch latency",
        [CAUSE_COPY] = "copy",
        [CAUSE_DEPENDENCY] = "other stream",
        [CAUSE_GRAPH] = "CUDA graph",
        [CAUSE_DEVICE] = "device",
        [CAUSE_UNKNOWN] = "unknown launch",
        [CAUSE_SHORT] = "short gaps",
        [CAUSE_CORE] = "no core",
        [CAUSE_CGROUP] = "cgroup limit",
        [CAUSE_FAULTS] = "page faults",
        [CAUSE_GIL] = "GIL",
    };
    return names[k];
}

void gap_causes_init(struct gap_causes *c, const struct trace *t)
{
    *c = (struct gap_causes){.t = t};
    map_init(&c->by_key);
    map_init(&c->inner_by_key);
}

void gap_causes_done(struct gap_causes *c)
{
    map_done(&c->by_key);
    map_done(&c->inner_by_key);
    mem_free(c->inner);
    mem_free(c->all);
    mem_free(c->parts);
    mem_free(c->part_of);
    *c = (struct gap_causes){0};
}

static uint64_t gap_cause_key_of(const struct trace *t, const struct gap_cause *like)
{
    uint64_t frame = like->frame == ROW_NONE ? UINT32_MAX : t->name[like->frame];
    uint64_t k = map_mix((uint64_t)(uintptr_t)like->name.p ^ (uint64_t)like->kind << 56);
    k = map_mix(k + frame);
    return map_mix(k + ((uint64_t)like->device << 32 | like->site));
}

uint32_t gap_causes_find(struct gap_causes *c, const struct gap_cause *like)
{
    uint32_t *at = map_at(&c->by_key, gap_cause_key_of(c->t, like));
    if (!at) return CAUSE_NONE;
    if (*at != MAP_NONE) return *at;
    if (c->n >= CAUSE_NONE - 1 || VEC_RESERVE(c->all, c->n, c->cap, 1)) return CAUSE_NONE;
    if (VEC_RESERVE(c->part_of, c->n, c->cap_part_of, 1)) return CAUSE_NONE;
    c->part_of[c->n] = 0;
    c->all[c->n] = *like;
    c->all[c->n].last_step = UINT32_MAX;
    return *at = (uint32_t)c->n++;
}

uint32_t gap_causes_find_inner(struct gap_causes *c, const struct gap_cause_inner *like)
{
    uint64_t key = map_mix((uint64_t)(uintptr_t)like->name.p + map_mix(like->cause));
    uint32_t *at = map_at(&c->inner_by_key, key);
    if (!at) return CAUSE_NONE;
    if (*at != MAP_NONE) return *at;
    if (VEC_RESERVE(c->inner, c->n_inner, c->cap_inner, 1)) return CAUSE_NONE;
    c->inner[c->n_inner] = *like;
    return *at = (uint32_t)c->n_inner++;
}

void gap_causes_begin(struct gap_causes *c)
{
    c->n_parts = 0;
}

int gap_causes_add(struct gap_causes *c, uint32_t cause, int64_t ns)
{
    if (ns <= 0) return 0;
    uint32_t part = c->part_of[cause];
    if (part < c->n_parts && c->parts[part].cause == cause) {
        c->parts[part].ns += ns;
        return 0;
    }
    if (VEC_RESERVE(c->parts, c->n_parts, c->cap_parts, 1)) return ERR_NOMEM;
    c->part_of[cause] = (uint32_t)c->n_parts;
    c->parts[c->n_parts++] = (struct gap_share){cause, ns};
    return 0;
}

static int gap_cause_most_first(const void *a, const void *b)
{
    const struct gap_share *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

void gap_causes_end(struct gap_causes *c, uint32_t step)
{
    if (c->n_parts > 1) qsort(c->parts, c->n_parts, sizeof *c->parts, gap_cause_most_first);
    for (size_t i = 0; i < c->n_parts; i++) {
        struct gap_cause *cause = &c->all[c->parts[i].cause];
        cause->idle_ns += c->parts[i].ns;
        cause->count++;
        if (step == UINT32_MAX || step == cause->last_step) continue;
        cause->last_step = step;
        cause->in_steps++;
    }
}
