/* torch_cpu.c: libtorch_cpu as far as recorders of operators know it: at::addGlobalCallback and
 * at::RecordFunction under their mangled names, with the sizes and the calling of torch 2. */
#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct function {
    const char *name;
    int scope;
};

struct callback {
    void *(*start)(void **ret_context, const struct function *f);
    void (*end)(const struct function *f, void *context);
    double sampling;
    bool scopes[10], needs_inputs, needs_outputs, needs_ids;
};

static struct callback callbacks[4];
static bool disabled[4];
static int n_callbacks;

EXPORT uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback c);
EXPORT void _ZN2at15disableCallbackEm(uint64_t handle);
EXPORT void _ZN2at16reenableCallbackEm(uint64_t handle);
EXPORT const char *_ZNK2at14RecordFunction4nameEv(const struct function *f);
EXPORT int fake_begin(const struct function *f);
EXPORT void fake_end(const struct function *f);
EXPORT int fake_callbacks(void);

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback c)
{
    bool sound = c.sampling == 1.0 && !c.needs_inputs && !c.needs_outputs && !c.needs_ids;
    if (sound && n_callbacks < 4) callbacks[n_callbacks++] = c;
    return (uint64_t)n_callbacks;
}

void _ZN2at15disableCallbackEm(uint64_t handle)
{
    disabled[handle - 1] = true;
}

void _ZN2at16reenableCallbackEm(uint64_t handle)
{
    disabled[handle - 1] = false;
}

const char *_ZNK2at14RecordFunction4nameEv(const struct function *f)
{
    return f->name;
}

/* How many callbacks left something other than an empty context, or did not say where it is. */
int fake_begin(const struct function *f)
{
    int wrong = 0;
    for (int i = 0; i < n_callbacks; i++) {
        void *context = &context;
        if (disabled[i] || !callbacks[i].scopes[f->scope]) continue;
        wrong += callbacks[i].start(&context, f) != &context || context;
    }
    return wrong;
}

void fake_end(const struct function *f)
{
    for (int i = 0; i < n_callbacks; i++)
        if (callbacks[i].scopes[f->scope]) callbacks[i].end(f, NULL);
}

/* Those that are called. */
int fake_callbacks(void)
{
    int n = 0;
    for (int i = 0; i < n_callbacks; i++) n += !disabled[i];
    return n;
}
