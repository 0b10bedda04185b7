/* label.c: the names, in tables. */
#include "analyze/names/label.h"

#include <ctype.h>

#include "analyze/names/collective.h"
#include "analyze/names/serving_label.h"
#include "analyze/names/torch_words.h"

/* The next word of a name: letters up to a digit, a sign or a capital that begins another word.
 * "denoise_step3" has two, "LlamaMLPBlock" three. Empty at the end; *at moves behind it. */
static struct str label_next_word(struct str s, size_t *at)
{
    size_t i = *at, begin;
    while (i < s.n && !isalpha((unsigned char)s.p[i])) i++;
    for (begin = i; i < s.n && isalpha((unsigned char)s.p[i]); i++) {
        if (i == begin || !isupper((unsigned char)s.p[i])) continue;
        bool last = i + 1 < s.n && islower((unsigned char)s.p[i + 1]);
        if (last || islower((unsigned char)s.p[i - 1])) break;
    }
    *at = i;
    return str_from(s.p + begin, i - begin);
}

static bool label_is_word(struct str s, const char *word)
{
    size_t i = 0;
    while (i < s.n && word[i] && tolower((unsigned char)s.p[i]) == word[i]) i++;
    return i == s.n && !word[i];
}

/* Whether a whole word of the name is one of these, letters of either case. */
static bool label_has_any(struct str s, const char *const *words)
{
    size_t at = 0;
    for (struct str word = label_next_word(s, &at); word.n; word = label_next_word(s, &at))
        for (const char *const *w = words; *w; w++)
            if (label_is_word(word, *w)) return true;
    return false;
}

enum label_kind label_kind(struct str name)
{
    if (torch_is_step(name)) return LABEL_STEP;
    if (serving_label_of(name).phase != SERVING_NONE) return LABEL_STEP;
    if (torch_is_compiler(name)) return LABEL_COMPILED;
    return collective_label(name) ? LABEL_COMM : LABEL_USER;
}

bool label_is_automatic(struct str name)
{
    return torch_is_optimizer(name) || torch_is_loader(name);
}

bool label_says_round(struct str name)
{
    static const char *const words[] = {
        "step",  "steps",      "timestep", "iter",    "iters",      "iteration",
        "round", "rounds",     "token",    "tokens",  "frame",      "frames",
        "chunk", "chunks",     "batch",    "batches", "microbatch", "minibatch",
        "tick",  "generation", "prefill",  NULL};
    return label_has_any(name, words);
}

bool label_is_tail(struct str name)
{
    static const char *const words[] = {"scheduler", "schedule",  "scheduling", "sampler", "optim",
                                        "optimizer", "optimiser", "solver",     NULL};
    return label_has_any(name, words);
}

bool label_ends_round(struct str name)
{
    static const char *const words[] = {"step", "steps", "timestep", NULL};
    return label_is_tail(name) || label_has_any(name, words);
}

bool label_says_part(struct str name)
{
    static const char *const words[] = {"layer",     "layers",  "block",  "blocks",  "attn",
                                        "attention", "mlp",     "expert", "experts", "norm",
                                        "layernorm", "rmsnorm", "ffn",    NULL};
    return label_has_any(name, words) && !label_says_round(name);
}

bool label_says_call(struct str name)
{
    static const char *const words[] = {
        "pipeline",  "call",     "calls",      "request",  "requests",  "generate",  "infer",
        "inference", "predict",  "prediction", "epoch",    "epochs",    "timed",     "main",
        "run",       "runs",     "loop",       "denoise",  "denoising", "train",     "training",
        "eval",      "evaluate", "evaluation", "sampling", "bench",     "benchmark", "profile",
        "profiling", "profiler", NULL};
    return label_has_any(name, words) && !label_says_round(name);
}
