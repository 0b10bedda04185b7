/* items.c: see trial.h. */
#include "offload/trial.h"

/* Copies back to the host from here on are weights, not results. */
#define LARGE_BYTES 100000

/* Operators that move or rebind tensors; `sure` ones are not met in a model's own code. */
static const struct service {
    const char *name;
    bool sure;
} services[] = {
    {"aten::to", false},
    {"aten::detach", false},
    {"aten::alias", false},
    {"aten::copy_", false},
    {"aten::empty_strided", false},
    {"aten::is_pinned", true},
    {"aten::pin_memory", true},
    {"aten::_pin_memory", true},
    {"aten::record_stream", true},
    {"aten::set_data", true},
    {"aten::_has_compatible_shallow_copy_type", true},
};

static const struct service *find_service(struct str name)
{
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (str_is(name, services[i].name)) return &services[i];
    return NULL;
}

/* What happens inside the operator. */
struct inside {
    bool kernels;
    bool copies; /* an operator in it copies, whether or not a device sees it */
    int64_t down_bytes, alloc_ns;
};

static struct inside look_inside(const struct items_source *src, row_t op)
{
    const struct trace *t = src->t;
    struct inside in = {0};
    const struct lane *lane = &t->lanes[t->lane[op]];
    for (row_t r = op; r < lane->end && t->ts_ns[r] < trace_end_ns(t, op); r++) {
        uint32_t n;
        const row_t *work = trace_launched(t, r, &n);
        for (uint32_t i = 0; i < n; i++) {
            in.kernels |= t->kind[work[i]] == KIND_KERNEL;
            if (streamed_is_download(t, work[i])) in.down_bytes += trace_gpu(t, work[i])->bytes;
        }
        if (call_allocates(calls_kind(calls_of(src->cx), t, r))) in.alloc_ns += t->dur_ns[r];
        if (r != op && t->kind[r] == KIND_OP) in.copies |= str_is(trace_name(t, r), "aten::copy_");
    }
    return in;
}

static void read_op(const struct items_source *src, struct item *it)
{
    const struct service *s = find_service(trace_name(src->t, it->row));
    struct inside in = look_inside(src, it->row);
    it->alloc_ns = in.alloc_ns;
    it->down_bytes = in.down_bytes;
    if (in.kernels || !s || (in.down_bytes && in.down_bytes < LARGE_BYTES)) return;
    it->kind = ITEM_SERVICE;
    it->sure = s->sure || in.copies;
}

static void read_call(const struct items_source *src, struct item *it)
{
    enum call_kind k = calls_kind(calls_of(src->cx), src->t, it->row);
    it->frees = k == CALL_FREE;
    it->sure = call_allocates(k) || k == CALL_SYNC_STREAM;
    bool barrier = call_syncs(k) && k != CALL_SYNC_STREAM;
    it->kind = barrier ? ITEM_BARRIER : call_launches(k) ? ITEM_COMPUTE : ITEM_SERVICE;
}

static bool is_item(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_OP || t->kind[r] == KIND_RUNTIME || t->kind[r] == KIND_DRIVER;
}

uint32_t items_next_load(const struct streamed *s, uint32_t i, lane_id lane)
{
    while (i < s->n_loads && s->loads[i].lane != lane) i++;
    return i;
}

static void items_classify(const struct items_source *src, struct item *it)
{
    const struct streamed *s = src->s;
    if (it->load != STREAMED_NONE && it->begin_ns < s->loads[it->load].end_ns) {
        it->kind = ITEM_LOAD;
        it->frees = calls_kind(calls_of(src->cx), src->t, it->row) == CALL_FREE;
    } else if (src->t->kind[it->row] == KIND_OP) {
        read_op(src, it);
    } else {
        read_call(src, it);
    }
}

uint32_t items_read(const struct items_source *src, lane_id lane, struct item *ret)
{
    const struct trace *t = src->t;
    const struct streamed *s = src->s;
    uint32_t n = 0, last = STREAMED_NONE, next = items_next_load(s, 0, lane);
    int64_t end = INT64_MIN;
    for (row_t r = t->lanes[lane].begin; r < t->lanes[lane].end; r++) {
        if (!is_item(t, r) || t->ts_ns[r] < end) continue;
        struct item it = {.row = r, .begin_ns = t->ts_ns[r], .end_ns = trace_end_ns(t, r)};
        it.step = streamed_step_at(s, it.begin_ns);
        end = it.end_ns;
        if (it.step == STREAMED_NONE) continue;
        n++;
        if (!ret) continue;
        for (; next < s->n_loads && s->loads[next].begin_ns <= it.begin_ns;
             next = items_next_load(s, next + 1, lane))
            last = next;
        it.load = last;
        items_classify(src, &it);
        ret[n - 1] = it;
    }
    return n;
}
