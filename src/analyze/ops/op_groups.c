/* op_groups.c: see op_groups.h. */
#include "analyze/ops/op_groups.h"

#include "base/mem.h"
#include "base/vec.h"
#include "base/wrap.h"

static const char *const device_types[] = {"cpu", "cuda", "xpu", "mtia", "hpu", "privateuse1"};
enum { N_DEVICE_TYPES = sizeof device_types / sizeof *device_types };

const char *op_class_device(op_class c)
{
    return device_types[c / 2];
}

bool op_class_is_annotation(op_class c)
{
    return c & 1;
}

op_class op_class_cpu(bool is_annotation)
{
    return is_annotation;
}

static op_class op_groups_class_of(const char *device, bool is_annotation)
{
    for (uint32_t i = 1; i < N_DEVICE_TYPES; i++)
        if (strcmp(device, device_types[i]) == 0) return i * 2 + is_annotation;
    return 2u + is_annotation;
}

op_class op_class_of_row(const struct trace *t, row_t r, const char *vendor)
{
    const char *type = cat_device_type(trace_str(t, t->cats[t->cat[r]]));
    bool shared = !type || strcmp(type, "cuda") == 0;
    return op_groups_class_of(shared ? vendor : type, t->kind[r] == KIND_GPU_ANNOTATION);
}

const char *op_vendor(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_cats; i++) {
        struct str cat = trace_str(t, t->cats[i]);
        if (str_starts(cat, "xpu_")) return "xpu";
        if (str_starts(cat, "privateuse1_")) return "privateuse1";
    }
    return "cuda";
}

/* Bookkeeping of torch itself. */
static bool is_never_shown(struct str name)
{
    static const char *const names[] = {
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i])) return true;
    return false;
}

void op_groups_init(struct op_groups *g)
{
    *g = (struct op_groups){0};
    map_init(&g->by_name);
    map_init(&g->by_extra);
    map_init(&g->frames);
}

void op_groups_done(struct op_groups *g)
{
    map_done(&g->by_name);
    map_done(&g->by_extra);
    map_done(&g->frames);
    mem_free(g->groups);
    mem_free(g->stack);
}

static uint32_t op_groups_add_group(struct op_groups *g, const struct op_group *model)
{
    if (VEC_RESERVE(g->groups, g->n, g->cap, 1)) return UINT32_MAX;
    g->groups[g->n] = *model;
    return (uint32_t)g->n++;
}

static uint32_t find_name(struct op_groups *g, const struct trace *t, str_id name, op_class class)
{
    uint32_t *slot = map_at(&g->by_name, (uint64_t)name << 8 | class);
    if (!slot) return UINT32_MAX;
    if (*slot != MAP_NONE) return *slot;
    struct str text = trace_str(t, name);
    bool is_op = class == op_class_cpu(false);
    uint32_t i = op_groups_add_group(g, &(struct op_group){
                                            .name = name,
                                            .class = class,
                                            .skip = is_op && is_never_shown(text),
                                            .flops_kind = is_op ? op_flops_kind(text) : FLOPS_NONE,
                                            .first = ROW_NONE,
                                        });
    return *slot = i; /* a failed one stays absent: UINT32_MAX is MAP_NONE */
}

uint32_t op_groups_find(struct op_groups *g, const struct trace *t, str_id name, op_class class,
                        uint32_t extra)
{
    uint32_t plain = find_name(g, t, name, class);
    if (!extra || plain == UINT32_MAX) return plain;
    uint32_t *slot = map_at(&g->by_extra, (uint64_t)plain << 32 | extra);
    if (!slot) return UINT32_MAX;
    if (*slot != MAP_NONE) return *slot;
    struct op_group model = g->groups[plain];
    struct op_group fresh = {.name = model.name,
                             .class = model.class,
                             .extra = extra,
                             .skip = model.skip,
                             .flops_kind = model.flops_kind,
                             .first = ROW_NONE};
    return *slot = op_groups_add_group(g, &fresh);
}

uint32_t op_groups_stack(struct op_groups *g, uint32_t below, str_id name)
{
    uint32_t *slot = map_at(&g->frames, (uint64_t)below << 32 | name);
    if (!slot || VEC_RESERVE(g->stack, g->n_stack, g->cap_stack, 1)) return 0;
    if (*slot != MAP_NONE) return *slot;
    g->stack[g->n_stack] = (struct op_frame){below, name};
    return *slot = (uint32_t)++g->n_stack;
}

bool op_groups_earlier(const struct trace *t, row_t a, row_t b)
{
    if (t->ts_ns[a] != t->ts_ns[b]) return t->ts_ns[a] < t->ts_ns[b];
    if (t->dur_ns[a] != t->dur_ns[b]) return t->dur_ns[a] > t->dur_ns[b];
    return a < b;
}

static void add_bytes(struct op_bytes *into, struct op_bytes b)
{
    into->cpu = wrap_add(into->cpu, b.cpu);
    into->device = wrap_add(into->device, b.device);
}

void op_groups_add(struct op_groups *g, const struct trace *t, uint32_t group, row_t r,
                   const struct op_sums *s)
{
    struct op_group *p = &g->groups[group];
    if (p->first == ROW_NONE || op_groups_earlier(t, r, p->first)) p->first = r;
    p->calls++;
    p->sums.cpu_ns = wrap_add(p->sums.cpu_ns, s->cpu_ns);
    p->sums.self_cpu_ns = wrap_add(p->sums.self_cpu_ns, s->self_cpu_ns);
    p->sums.device_ns = wrap_add(p->sums.device_ns, s->device_ns);
    p->sums.self_device_ns = wrap_add(p->sums.self_device_ns, s->self_device_ns);
    add_bytes(&p->sums.bytes, s->bytes);
    add_bytes(&p->sums.self_bytes, s->self_bytes);
}
