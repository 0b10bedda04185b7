/* held_stacks.c: what a stack is about: whose line asked for the memory, and what for. */
#include <stdio.h>

#include "analyze/memory/held.h"
#include "analyze/memory/held_private.h"
#include "analyze/names/frame.h"
#include "base/buf.h"

static const struct {
    const char *name, *words;
} categories[HELD_CATEGORIES] = {
    [HELD_WEIGHTS] = {"weights", "weights and buffers"},
    [HELD_OPTIMIZER] = {"optimizer", "optimizer state"},
    [HELD_BACKWARD] = {"backward", "gradients and backward"},
    [HELD_FORWARD] = {"forward", "activations and forward"},
    [HELD_WORKSPACE] = {"workspace", "workspaces of libraries"},
    [HELD_COMMUNICATION] = {"communication", "communication buffers"},
    [HELD_OTHER] = {"other", "other code"},
    [HELD_UNKNOWN] = {"unknown", "no stack recorded"},
    [HELD_BEFORE] = {"before", "allocated before the recording"},
};

const char *held_category_name(enum held_category c)
{
    return categories[c].name;
}

const char *held_category_words(enum held_category c)
{
    return categories[c].words;
}

struct str held_function_name(struct str function)
{
    static const char node[] = "torch::autograd::generated::";
    long apply = str_find(function, "::apply(");
    if (str_starts(function, node) && apply > (long)sizeof node)
        return str_from(function.p + sizeof node - 1, (size_t)apply - (sizeof node - 1));
    long space = str_find(function, "::"), args = str_find(function, "(");
    if (space > 0 && args > space && function.p[args - 1] != ':')
        return str_from(function.p, (size_t)args);
    return function;
}

/* What frames say. The first row that any frame of a stack matches decides: what is special stands
 * before what is general. A NULL matches anything. */
static const struct {
    const char *file, *function;
    enum held_category category;
} signs[] = {
    {NULL, "getCurrentCUDABlasHandle", HELD_WORKSPACE},
    {NULL, "getWorkspace", HELD_WORKSPACE},
    {NULL, "cudnn_workspace", HELD_WORKSPACE},
    {NULL, "cublasCommonWorkspace", HELD_WORKSPACE},
    {"torch/optim/", NULL, HELD_OPTIMIZER},
    {"/apex/optimizers/", NULL, HELD_OPTIMIZER},
    {"bitsandbytes/optim/", NULL, HELD_OPTIMIZER},
    {NULL, "c10d::Reducer", HELD_COMMUNICATION},
    {"torch/distributed/", NULL, HELD_COMMUNICATION},
    {NULL, "autograd::Engine", HELD_BACKWARD},
    {"torch/autograd/", "backward", HELD_BACKWARD},
    {"torch/utils/checkpoint.py", "backward", HELD_BACKWARD},
    {"torch/_tensor.py", "backward", HELD_BACKWARD},
    {"torch/nn/modules/module.py", "_apply", HELD_WEIGHTS},
    {"torch/nn/modules/module.py", "load_state_dict", HELD_WEIGHTS},
    {"torch/nn/modules/", "__init__", HELD_WEIGHTS},
    {"torch/nn/parameter.py", NULL, HELD_WEIGHTS},
    {"safetensors/", NULL, HELD_WEIGHTS},
    {NULL, "from_pretrained", HELD_WEIGHTS},
    {"torch/nn/modules/module.py", "_call_impl", HELD_FORWARD},
    {"torch/nn/functional.py", NULL, HELD_FORWARD},
    {"torch/_inductor/", NULL, HELD_FORWARD},
    {NULL, "forward", HELD_FORWARD},
};

enum { SIGNS = sizeof signs / sizeof *signs };

static bool held_stacks_matches(const struct snapshot *s, const struct snap_frame *f, int sign)
{
    return (!signs[sign].file || str_has(intern_get(&s->strings, f->file), signs[sign].file)) &&
           (!signs[sign].function ||
            str_has(intern_get(&s->strings, f->function), signs[sign].function));
}

/* The sign of every frame: the first that matches, SIGNS for none. */
static uint8_t sign_of(const struct snapshot *s, const struct snap_frame *f)
{
    int sign = 0;
    while (sign < SIGNS && !held_stacks_matches(s, f, sign)) sign++;
    return (uint8_t)sign;
}

static bool is_user(const struct snapshot *s, const struct snap_frame *f, struct buf *name)
{
    struct str file = intern_get(&s->strings, f->file);
    if (f->line <= 0 || !str_ends(file, ".py")) return false;
    buf_reset(name);
    buf_printf(name, STR_FMT "(%d): " STR_FMT, STR_ARG(file), f->line,
               STR_ARG(intern_get(&s->strings, f->function)));
    return buf_ok(name) && frame_class(buf_str(name)) == FRAME_USER;
}

/* How well a frame that is not the user's says what memory is for: a node of autograd, a Python
 * function, an operator, any other function; least the machinery that records and allocates. */
enum { SAYS_NOTHING, SAYS_FUNCTION, SAYS_OPERATOR, SAYS_PYTHON, SAYS_NODE };

static uint8_t held_stacks_says(const struct snapshot *s, const struct snap_frame *f)
{
    static const char *const machinery[] = {"torch::unwind::", "torch::CapturedTraceback",
                                            "gather_with_cpp", "CachingAllocator",
                                            "at::detail::",    "c10::",
                                            "at::TensorBase",  "create_out"};
    struct str name = intern_get(&s->strings, f->function);
    if (str_has(name, "torch::autograd::generated::") && str_has(name, "::apply")) return SAYS_NODE;
    if (f->line > 0 && str_ends(intern_get(&s->strings, f->file), ".py")) return SAYS_PYTHON;
    for (size_t i = 0; i < sizeof machinery / sizeof *machinery; i++)
        if (str_has(name, machinery[i])) return SAYS_NOTHING;
    return str_starts(name, "at::_ops::") ? SAYS_OPERATOR : SAYS_FUNCTION;
}

/* The innermost of those that say most. */
static uint32_t held_stacks_best(const struct snapshot *s, const struct snap_stack *k,
                                 const uint8_t *says)
{
    uint32_t best = s->stack_frames[k->first];
    for (uint32_t i = 1; i < k->n; i++) {
        uint32_t f = s->stack_frames[k->first + i];
        if (says[f] > says[best]) best = f;
    }
    return best;
}

static void held_stacks_judge(const struct snapshot *s, uint32_t stack, const uint8_t *sign,
                              const bool *user, const uint8_t *says, struct held *ret)
{
    const struct snap_stack *k = &s->stacks[stack];
    uint32_t own = HELD_NEVER;
    int best = SIGNS;
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t f = s->stack_frames[k->first + i];
        if (sign[f] < best) best = sign[f];
        if (own == HELD_NEVER && user[f]) own = f;
    }
    if (own == HELD_NEVER && k->n) own = held_stacks_best(s, k, says);
    ret->user[stack] = own;
    ret->categories[stack] = (uint8_t)(!k->n          ? HELD_UNKNOWN
                                       : best < SIGNS ? signs[best].category
                                                      : HELD_OTHER);
}

int held_stacks_run(const struct snapshot *s, struct arena *mem, struct held *ret, struct err *e)
{
    uint8_t *sign = arena_zalloc(mem, s->n_frames + 1, sizeof *sign);
    bool *user = arena_zalloc(mem, s->n_frames + 1, sizeof *user);
    uint8_t *says = arena_zalloc(mem, s->n_frames + 1, sizeof *says);
    struct buf name = {0};
    ret->categories = arena_zalloc(mem, s->n_stacks + 1, sizeof *ret->categories);
    ret->user = arena_zalloc(mem, s->n_stacks + 1, sizeof *ret->user);
    if (!sign || !user || !says || !ret->categories || !ret->user) return err_nomem(e);
    for (size_t i = 0; i < s->n_frames; i++) {
        sign[i] = sign_of(s, &s->frames[i]);
        user[i] = is_user(s, &s->frames[i], &name);
        says[i] = held_stacks_says(s, &s->frames[i]);
    }
    int rc = name.failed ? err_nomem(e) : 0;
    buf_done(&name);
    for (uint32_t i = 0; i < s->n_stacks; i++) held_stacks_judge(s, i, sign, user, says, ret);
    return rc;
}
