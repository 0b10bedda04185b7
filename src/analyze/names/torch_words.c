/* torch_words.c: the words. */
#include "analyze/names/torch_words.h"

#include <ctype.h>

static bool torch_starts_any(struct str s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (str_starts(s, *prefixes)) return true;
    return false;
}

bool torch_is_step(struct str name)
{
    return str_starts(name, TORCH_STEP "#");
}

int64_t torch_step_number(struct str name)
{
    if (!torch_is_step(name)) return -1;
    int64_t n = -1;
    for (size_t i = sizeof TORCH_STEP; i < name.n; i++) {
        if (!isdigit((unsigned char)name.p[i]) || n > INT32_MAX) return -1;
        n = (n < 0 ? 0 : n * 10) + (name.p[i] - '0');
    }
    return n;
}

bool torch_is_region(struct str name)
{
    static const char *const prefixes[] = {"Torch-Compiled Region", "## Call CompiledFxGraph",
                                           NULL};
    return torch_starts_any(name, prefixes);
}

bool torch_is_numbered_region(struct str name)
{
    return str_starts(name, "Torch-Compiled Region: ");
}

bool torch_is_compiler(struct str name)
{
    static const char *const prefixes[] = {"TorchDynamo", "Pregraph bytecode", "AOTDispatcher",
                                           "CompiledFunction", NULL};
    return torch_is_region(name) || torch_starts_any(name, prefixes);
}

bool torch_is_guard_check(struct str name)
{
    return str_starts(name, "TorchDynamo Cache Lookup");
}

bool torch_is_optimizer(struct str name)
{
    return str_starts(name, "Optimizer.");
}

bool torch_is_optimizer_step(struct str name)
{
    return str_starts(name, "Optimizer.step");
}

bool torch_is_loader(struct str name)
{
    return str_starts(name, "enumerate(DataLoader)");
}

bool torch_is_triton(struct str kernel)
{
    return str_starts(kernel, "triton_");
}

bool torch_is_inductor(struct str kernel)
{
    return torch_is_triton(kernel) && str_has(kernel, "_fused_");
}

bool torch_is_template(struct str kernel)
{
    return str_starts(kernel, "triton_tem_");
}

bool torch_is_fused_chain(struct str kernel)
{
    static const char *const prefixes[] = {"triton_poi_", "triton_red_", "triton_per_", NULL};
    return torch_starts_any(kernel, prefixes);
}

bool torch_in_optimizer(const struct trace *t, row_t work)
{
    row_t at = trace_launch_of(t, work);
    for (at = at == ROW_NONE ? at : t->parent[at]; at != ROW_NONE; at = t->parent[at])
        if (t->kind[at] == KIND_ANNOTATION && torch_is_optimizer(trace_name(t, at))) return true;
    return false;
}
