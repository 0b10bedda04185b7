/* freeze_profiler.c: marks what the profiler did itself.
 *
 * When it stops, PyTorch's profiler waits for the device once more. That wait is the last one of
 * its process, launches nothing after it, and stands under the profiler's own frames or, where no
 * frames were recorded, under nothing at all. */
#include "base/mem.h"
#include "trace/freeze.h"

static const char *const device_waits[] = {
    "cudaDeviceSynchronize",  "hipDeviceSynchronize", "musaDeviceSynchronize",
    "aclrtSynchronizeDevice", "cuCtxSynchronize",
};

enum { N_WAITS = sizeof device_waits / sizeof *device_waits };

static bool freeze_profiler_is_wait(const str_id names[N_WAITS], str_id name)
{
    for (int i = 0; i < N_WAITS; i++)
        if (names[i] == name) return true;
    return false;
}

static bool is_profiler_frame(struct str name)
{
    return str_has(name, "torch/profiler/") || str_has(name, "torch/autograd/profiler");
}

static bool under_profiler(const struct trace *t, row_t r)
{
    bool framed = false;
    for (row_t p = t->parent[r]; p != ROW_NONE; p = t->parent[p]) {
        if (t->kind[p] == KIND_OP || t->kind[p] == KIND_ANNOTATION) return false;
        if (t->kind[p] != KIND_PYTHON) continue;
        if (is_profiler_frame(trace_name(t, p))) return true;
        framed = true;
    }
    return !framed;
}

/* The last wait and the last launch of each process. */
struct last {
    row_t wait;
    int64_t launch_ns;
};

static void freeze_profiler_look_at(const struct trace *t, row_t r, const str_id names[N_WAITS],
                                    struct last *last)
{
    uint32_t n_launched;
    trace_launched(t, r, &n_launched);
    if (n_launched && t->ts_ns[r] > last->launch_ns) last->launch_ns = t->ts_ns[r];
    if (!freeze_profiler_is_wait(names, t->name[r])) return;
    if (last->wait == ROW_NONE || t->ts_ns[r] >= t->ts_ns[last->wait]) last->wait = r;
}

int freeze_profiler(struct trace *t)
{
    str_id names[N_WAITS];
    for (int i = 0; i < N_WAITS; i++) names[i] = intern_find(&t->strings, str_c(device_waits[i]));
    struct last *last = mem_alloc(t->n_processes * sizeof *last);
    if (!last) return ERR_NOMEM;
    for (uint32_t i = 0; i < t->n_processes; i++) last[i] = (struct last){ROW_NONE, INT64_MIN};
    for (row_t r = 0; r < t->n_rows; r++)
        if (kind_table(t->kind[r]) == TABLE_CALL)
            freeze_profiler_look_at(t, r, names, &last[t->lanes[t->lane[r]].process]);
    for (uint32_t i = 0; i < t->n_processes; i++) {
        row_t r = last[i].wait;
        if (r != ROW_NONE && last[i].launch_ns <= t->ts_ns[r] && under_profiler(t, r))
            t->flags[r] |= ROW_PROFILER;
    }
    mem_free(last);
    return 0;
}
