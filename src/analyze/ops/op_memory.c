/* op_memory.c: see op_groups.h. */
#include "analyze/ops/op_groups.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/wrap.h"

/* c10::DeviceType of host and device allocators. */
static bool is_host(int type)
{
    return type == 0 || type == 2 || type == 5; /* CPU, MKLDNN, IDEEP */
}

static bool is_device(int type)
{
    return type == 1 || type == 6 || type == 12 || type == 20; /* CUDA, HIP, XPU, PrivateUse1 */
}

struct op_bytes op_memory_of(const struct trace *t, row_t r)
{
    const struct mem_info *m = trace_mem(t, r);
    if (!m) return (struct op_bytes){0, 0};
    return (struct op_bytes){is_host(m->device_type) ? m->bytes : 0,
                             is_device(m->device_type) ? m->bytes : 0};
}

/* Merges the runs [a, mid) and [mid, end) of `rows`, both by time, through `spare`. */
static void merge_runs(const struct trace *t, row_t *rows, row_t *spare, const uint32_t run[3])
{
    uint32_t i = run[0], j = run[1], o = run[0];
    while (i < run[1] && j < run[2])
        spare[o++] = t->ts_ns[rows[j]] < t->ts_ns[rows[i]] ? rows[j++] : rows[i++];
    while (i < run[1]) spare[o++] = rows[i++];
    while (j < run[2]) spare[o++] = rows[j++];
    memcpy(rows + run[0], spare + run[0], (run[2] - run[0]) * sizeof *rows);
}

/* Sorts rows by time. They come as one ascending run a lane, so few merges are needed. */
static bool sort_by_time(const struct trace *t, row_t *rows, uint32_t n)
{
    row_t *spare = mem_alloc(n * sizeof *spare + 1);
    if (!spare) return true;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t a = 0, mid, end; a < n; a = end) {
            for (mid = a + 1; mid < n && t->ts_ns[rows[mid]] >= t->ts_ns[rows[mid - 1]];) mid++;
            for (end = mid + 1; end < n && t->ts_ns[rows[end]] >= t->ts_ns[rows[end - 1]];) end++;
            if (mid >= n) break;
            merge_runs(t, rows, spare, (const uint32_t[]){a, mid, end < n ? end : n});
            again = true;
        }
    }
    mem_free(spare);
    return false;
}

static bool fill_line(const struct trace *t, struct op_memory_line *m, struct arena *mem)
{
    if (sort_by_time(t, m->row, m->n)) return true;
    m->ts_ns = arena_alloc(mem, (m->n + 1u) * sizeof *m->ts_ns);
    m->before = arena_zalloc(mem, m->n + 1u, sizeof *m->before);
    m->cover = arena_zalloc(mem, m->n + 1u, sizeof *m->cover);
    if (!m->ts_ns || !m->before || !m->cover) return true;
    for (uint32_t i = 0; i < m->n; i++) {
        struct op_bytes b = op_memory_of(t, m->row[i]);
        m->ts_ns[i] = t->ts_ns[m->row[i]];
        m->before[i + 1].cpu = wrap_add(m->before[i].cpu, b.cpu);
        m->before[i + 1].device = wrap_add(m->before[i].device, b.device);
    }
    return false;
}

/* Counts the allocator events of every process, or lists them once their lines have room. */
static void walk_events(const struct trace *t, struct op_memory *ret)
{
    for (lane_id l = 0; l < t->n_lanes; l++) {
        struct op_memory_line *m = &ret->lines[t->lanes[l].process];
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (t->kind[r] != KIND_MEMORY) continue;
            if (m->row) m->row[m->n] = r;
            m->n++;
        }
    }
}

static bool op_memory_do_run(const struct trace *t, struct arena *mem, struct op_memory *ret)
{
    ret->n_lines = t->n_processes;
    ret->lines = arena_zalloc(mem, t->n_processes + 1u, sizeof *ret->lines);
    if (!ret->lines) return true;
    if (!t->n_mem) return false;
    walk_events(t, ret);
    for (uint32_t p = 0; p < ret->n_lines; p++) {
        struct op_memory_line *m = &ret->lines[p];
        ret->n_events += m->n;
        m->row = arena_alloc(mem, (m->n + 1u) * sizeof *m->row);
        if (!m->row) return true;
        m->n = 0;
    }
    walk_events(t, ret);
    for (uint32_t p = 0; p < ret->n_lines; p++)
        if (ret->lines[p].n && fill_line(t, &ret->lines[p], mem)) return true;
    return false;
}

int op_memory_run(const struct trace *t, struct arena *mem, struct op_memory *ret, struct err *e)
{
    *ret = (struct op_memory){0};
    return op_memory_do_run(t, mem, ret) ? err_nomem(e) : 0;
}

uint32_t op_memory_at(const struct op_memory_line *m, uint32_t from, int64_t ts_ns)
{
    uint32_t i = from, step = 1;
    while (i < m->n && m->ts_ns[i] < ts_ns) {
        uint32_t next = m->n - i > step ? i + step : m->n;
        if (next == m->n || m->ts_ns[next] >= ts_ns) {
            SEARCH_PAST(i, next, m->ts_ns[i] < ts_ns);
            return i;
        }
        i = next;
        step *= 2;
    }
    return i;
}

struct op_bytes op_memory_between(const struct op_memory_line *m, uint32_t first, uint32_t end)
{
    if (first >= end) return (struct op_bytes){0, 0};
    return (struct op_bytes){wrap_sub(m->before[end].cpu, m->before[first].cpu),
                             wrap_sub(m->before[end].device, m->before[first].device)};
}

void op_memory_cover(struct op_memory_line *m, uint32_t first, uint32_t end)
{
    if (first >= end) return;
    __atomic_fetch_add(&m->cover[first], 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&m->cover[end], 1, __ATOMIC_RELAXED);
}
