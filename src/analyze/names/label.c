/* label.c: the names, in tables. */
#include "analyze/names/label.h"

#include <ctype.h>

#include "analyze/names/collective.h"

static const char step_prefix[] = "ProfilerStep#";

static bool starts_any(struct str s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (str_starts(s, *prefixes)) return true;
    return false;
}

/* Whether one of the lower-case words stands in `s`, letters of either case. */
static bool has_any(struct str s, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        for (size_t i = 0; i + n <= s.n; i++) {
            size_t k = 0;
            while (k < n && tolower((unsigned char)s.p[i + k]) == (*words)[k]) k++;
            if (k == n) return true;
        }
    }
    return false;
}

bool label_is_compiled(struct str name)
{
    static const char *const prefixes[] = {
        "## Call CompiledFxGraph", "Torch-Compiled Region", "TorchDynamo", "Pregraph bytecode",
        "AOTDispatcher",           "CompiledFunction",      NULL};
    return starts_any(name, prefixes);
}

enum label_kind label_kind(struct str name)
{
    if (str_starts(name, step_prefix)) return LABEL_STEP;
    if (label_is_compiled(name)) return LABEL_COMPILED;
    return collective_label(name) ? LABEL_COMM : LABEL_USER;
}

bool label_is_automatic(struct str name)
{
    static const char *const prefixes[] = {"Optimizer.", "enumerate(DataLoader)", NULL};
    return starts_any(name, prefixes);
}

int64_t label_step_number(struct str name)
{
    if (!str_starts(name, step_prefix)) return -1;
    int64_t n = -1;
    for (size_t i = sizeof step_prefix - 1; i < name.n; i++) {
        if (!isdigit((unsigned char)name.p[i]) || n > INT32_MAX) return -1;
        n = (n < 0 ? 0 : n * 10) + (name.p[i] - '0');
    }
    return n;
}

bool label_says_round(struct str name)
{
    static const char *const words[] = {"step",  "iter", "round",      "token",   "frame", "chunk",
                                        "batch", "tick", "generation", "prefill", NULL};
    return has_any(name, words);
}

bool label_is_tail(struct str name)
{
    static const char *const words[] = {"schedul", "sampler", "optim", "solver", NULL};
    return has_any(name, words);
}

bool label_ends_round(struct str name)
{
    static const char *const words[] = {"step", NULL};
    return label_is_tail(name) || has_any(name, words);
}

bool label_says_part(struct str name)
{
    static const char *const words[] = {"layer",  "block", "attn", "attention", "mlp",
                                        "expert", "norm",  "ffn",  NULL};
    return has_any(name, words) && !label_says_round(name);
}

bool label_says_call(struct str name)
{
    static const char *const words[] = {
        "pipeline", "call", "request", "generate", "infer", "predict",  "epoch", "timed",  "main",
        "run",      "loop", "denois",  "train",    "eval",  "sampling", "bench", "profil", NULL};
    return has_any(name, words) && !label_says_round(name);
}
