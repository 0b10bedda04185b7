/* strip.c: a list of what is harmless, rather than of what is not. */
#include "export/export_private.h"

#include "base/mem.h"

static const char *const harmless[] = {
    "schemaVersion",
    "deviceProperties",
    "displayTimeUnit",
    "baseTimeNanoseconds",
    "record_shapes",
    "with_stack",
    "with_modules",
    "with_flops",
    "profile_memory",
    "cupti_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "roctracer_version",
    "hip_runtime_version",
    "hip_driver_version",
    "distributedInfo",
    "DISABLE_CUPTI_LAZY_REINIT",
    "cudaGraphInlineAnnotated",
};

bool strip_keeps(const struct trace *t, const struct meta *m, const struct export_options *o)
{
    if (!o->strip) return true;
    struct str key = trace_str(t, m->key);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (str_is(key, harmless[i])) return true;
    return false;
}

static void strip_mark(bool *used, const struct trace *t, str_id id)
{
    if (id < t->strings.n) used[id] = true;
}

static void mark_tables(bool *used, const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_flows; i++) strip_mark(used, t, t->flows[i].name);
    for (uint32_t i = 0; i < t->n_cats; i++) strip_mark(used, t, t->cats[i]);
    for (uint32_t i = 0; i < t->n_devices; i++) strip_mark(used, t, t->devices[i].name);
    for (uint32_t i = 0; i < t->n_lanes; i++) {
        strip_mark(used, t, t->lanes[i].name);
        strip_mark(used, t, t->lanes[i].tid_text);
    }
    for (uint32_t i = 0; i < t->n_processes; i++) {
        strip_mark(used, t, t->processes[i].name);
        strip_mark(used, t, t->processes[i].labels);
        strip_mark(used, t, t->processes[i].pid_text);
    }
}

static void strip_mark_rows(bool *used, const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) strip_mark(used, t, t->name[r]);
    for (uint32_t i = 0; i < t->n_ops; i++) {
        strip_mark(used, t, t->ops[i].dims);
        strip_mark(used, t, t->ops[i].types);
        strip_mark(used, t, t->ops[i].concrete);
    }
}

bool *strip_strings(const struct trace *t, const struct export_options *o)
{
    bool *used = mem_zalloc(t->strings.n, sizeof *used);
    if (!used) return NULL;
    strip_mark_rows(used, t);
    mark_tables(used, t);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (!strip_keeps(t, &t->metas[i], o)) continue;
        strip_mark(used, t, t->metas[i].key);
        strip_mark(used, t, t->metas[i].value);
    }
    return used;
}
