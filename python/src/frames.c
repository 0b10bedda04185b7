/* frames.c: the stages open in plain code on this thread; see core.h. */
#include "base/mem.h"
#include "base/vec.h"
#include "core.h"

static __thread struct {
    struct frame *frames;
    size_t n, cap;
    int open_tasks;
} stack __attribute__((tls_model("initial-exec")));

struct frame *frames_top(void)
{
    return stack.n ? &stack.frames[stack.n - 1] : NULL;
}

size_t frames_depth(void)
{
    return stack.n;
}

int *frames_open_tasks(void)
{
    return &stack.open_tasks;
}

int frames_push(struct frame f)
{
    if (VEC_RESERVE(stack.frames, stack.n, stack.cap, 1)) return -1;
    stack.frames[stack.n++] = f;
    return 0;
}

/* The memory goes with the last frame, so that threads leave none behind. */
struct frame frames_pop(void)
{
    struct frame f = stack.frames[--stack.n];
    if (stack.n == 0 && stack.cap > 64) {
        mem_free(stack.frames);
        stack.frames = NULL;
        stack.cap = 0;
    }
    return f;
}

int frames_enter(struct stage *s)
{
    struct frame f;
    struct frame *parent = frames_top();
    if (span_prepare(&f, s, parent ? parent->node : TREE_ROOT) < 0) return -1;
    span_put((struct ring_record){.kind = RING_BEGIN, .name = s->id, .ticks = f.start}, 0);
    if (frames_push(f) == 0) return 0;
    Py_CLEAR(f.token);
    Py_CLEAR(f.stage);
    return 0; /* it will not be found when it ends, and not be counted */
}

/* Takes the innermost frame of the stage out of the stack. It is on top, except where generators
 * with open stages take turns. */
static bool frames_take(struct stage *s, struct frame *ret)
{
    if (stack.n && stack.frames[stack.n - 1].stage == s) {
        *ret = frames_pop();
        return true;
    }
    for (size_t i = stack.n; i-- > 0;) {
        if (stack.frames[i].stage != s) continue;
        *ret = stack.frames[i];
        for (; i + 1 < stack.n; i++) stack.frames[i] = stack.frames[i + 1];
        stack.n--;
        return true;
    }
    return false;
}

int frames_exit(struct stage *s, PyObject *exc_type)
{
    struct frame f;
    uint16_t error = span_error_name(exc_type);
    if (!frames_take(s, &f)) return 0;
    uint64_t end = span_put((struct ring_record){.kind = RING_END, .name = error}, 0);
    struct stage_call c = {.ticks = end - f.start};
    return span_finish(&f, exc_type, c, frames_top()) < 0 ? -1 : 1;
}
