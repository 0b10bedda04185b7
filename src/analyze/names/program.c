/* program.c: see program.h. */
#include "analyze/names/program.h"

#include "analyze/names/frame.h"

bool program_is_torch(const struct trace *t)
{
    for (str_id id = 0; id < t->strings.n; id++) {
        struct str s = trace_str(t, id);
        if (str_starts(s, "aten::") || str_has(s, "at::native::") || str_has(s, "N2at6native"))
            return true;
    }
    return false;
}

bool program_has_torch_profiler(const struct trace *t)
{
    static const char *const formats[] = {"kineto json", "strata", "perfetto"}; /* it, and copies */
    struct str format = str_c(t->format ? t->format : "");
    bool possible = false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        possible = possible || str_is(format, formats[i]);
    return possible && !trace_is_ours(t) &&
           (program_is_torch(t) || trace_meta(t, "schemaVersion").p);
}

bool program_is_jax_call(struct str name)
{
    return str_starts(name, "PjitFunction(");
}

bool program_is_jax_runtime(struct str name)
{
    return str_eq(name, str_c("ThenExecuteCallback")) || str_starts(name, "PjRt") ||
           str_starts(name, "CommonPjRt") || str_starts(name, "TfrtGpu");
}

bool program_is_jax(const struct trace *t)
{
    for (str_id id = 0; id < t->strings.n; id++)
        if (program_is_jax_call(trace_str(t, id))) return true;
    return false;
}

static bool program_is_script(const struct trace *t, row_t r, struct frame *ret)
{
    for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
        if (t->kind[up] == KIND_PYTHON) return false;
    return frame_parse(trace_name(t, r), ret) && str_eq(ret->function, str_c("<module>")) &&
           str_ends(ret->file, ".py") && ret->file.p[0] != '-';
}

struct str program_script(const struct trace *t)
{
    struct str found = {NULL, 0};
    int64_t longest_ns = -1;
    for (row_t r = 0; r < t->n_rows; r++) {
        struct frame f;
        if (t->kind[r] != KIND_PYTHON || t->dur_ns[r] <= longest_ns) continue;
        if (!program_is_script(t, r, &f)) continue;
        longest_ns = t->dur_ns[r];
        found = f.file;
    }
    return found;
}

bool program_is_diffusion(const struct trace *t)
{
    for (str_id id = 0; id < t->strings.n; id++)
        if (str_has(trace_str(t, id), "diffusers/")) return true;
    return false;
}
