/* pystack.c: see pystack.h. */
#include "backend/program/pystack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "backend/program/native_stack.h"
#include "backend/program/pyread.h"
#include "backend/program/pytable.h"
#include "base/mem.h"
#include "record/recorder.h"

#define NATIVE_WAITS_S 10e-6

enum state { UNKNOWN, ASKED, READY, REFUSED };

static _Atomic enum state state;
static struct pyapi api;
static struct err refusal;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_thread_exit;

static __thread struct pytable_memo *memo __attribute__((tls_model("initial-exec")));

/* Whether the text of the str `object` is what the interpreter itself says it is. */
static bool pystack_same_text(void *object)
{
    const char *truth = api.as_utf8(object);
    char ours[512];
    return truth && pycode_text(&api, (uintptr_t)object, ours, sizeof ours) > 0 &&
           strncmp(truth, ours, sizeof ours - 4) == 0;
}

static bool pystack_same_frame(void *frame, const struct pyframe *ours)
{
    struct pycode c;
    void *code = api.frame_code(frame);
    bool same = (uintptr_t)code == ours->code && pycode_read(&api, ours->code, &c) &&
                pycode_line(&api, &c, ours->offset) == api.frame_line(frame) &&
                pystack_same_text((void *)c.file) && pystack_same_text((void *)c.name);
    api.drop(code);
    return same;
}

/* Leaves the frames that count. What cannot be read stays, to be found wrong. */
static int keep_calls(struct pyframe *frames, int n)
{
    struct pycode c;
    int n_kept = 0;
    for (int i = 0; i < n; i++)
        if (!pycode_read(&api, frames[i].code, &c) || pycode_counts(&c, frames[i].offset))
            frames[n_kept++] = frames[i];
    return n_kept;
}

/* With the GIL: the walk against the interpreter's own account of the same stack. Reads through the
 * kernel, so that a wrong table is an answer and not a crash. */
static bool pystack_agrees(int *ret_depth)
{
    static struct pywalk_memo where; /* under the lock */
    where.n = 0;
    struct pyframe ours[PYWALK_DEEPEST];
    int n = pywalk_any(&api, (uintptr_t)api.this_thread_state(), &where, ours, PYWALK_DEEPEST);
    n = keep_calls(ours, n);
    void *frame = api.frame();
    int depth = 0;
    bool same = true, owned = false;
    for (; frame && same && depth < 32; depth++) {
        same = depth < n && pystack_same_frame(frame, &ours[depth]);
        void *back = api.frame_back(frame);
        if (owned) api.drop(frame);
        frame = back;
        owned = true;
    }
    if (frame && owned) api.drop(frame);
    *ret_depth = depth;
    return same && (frame || depth == n);
}

static void pystack_refuse(const char *why)
{
    err_set(&refusal, ERR_UNSUPPORTED, "%s", why);
    atomic_store(&state, REFUSED);
}

/* With the lock and the GIL held. Without a frame there is nothing to compare yet. */
static void pystack_check(void)
{
    int depth = 0;
    bool same = pystack_agrees(&depth);
    if (!same) pystack_refuse("Python's frames are not where they should be");
    else if (depth > 0) atomic_store(&state, READY);
}

/* Runs on Python's main thread, with the GIL, between two instructions. */
static int check_later(void *unused)
{
    (void)unused;
    if (pthread_mutex_trylock(&lock) != 0) return 0;
    if (atomic_load(&state) == ASKED) pystack_check();
    pthread_mutex_unlock(&lock);
    return 0;
}

static void pystack_thread_exits(void *old)
{
    memo = NULL;
    mem_free(old);
}

static int find_interpreter(struct err *e)
{
    if (!api.layout) TRY(pylayout_find(&api, e));
    if (!pyread_works())
        return FAIL(e, ERR_UNSUPPORTED,
                    "the kernel does not allow a process to read its own memory");
    if (pthread_key_create(&at_thread_exit, pystack_thread_exits) != 0)
        return FAIL(e, ERR_LIMIT, "no thread key is left");
    return 0;
}

/* With the lock held. */
static int pystack_do_init(struct err *e)
{
    if (atomic_load(&state) == UNKNOWN) {
        int rc = find_interpreter(&refusal);
        if (rc == ERR_USAGE) {
            if (e) *e = refusal;
            err_init(&refusal);
            return rc; /* not yet */
        }
        atomic_store(&state, rc < 0 ? REFUSED : ASKED);
        if (rc == 0 && !pylayout_has_gil(&api)) api.add_pending_call(check_later, NULL);
    }
    if (atomic_load(&state) == ASKED && pylayout_has_gil(&api)) pystack_check();
    if (atomic_load(&state) != REFUSED) return 0;
    if (e) *e = refusal;
    return refusal.code;
}

int pystack_init(struct err *e)
{
    if (atomic_load_explicit(&state, memory_order_relaxed) == READY) return 0;
    if (pthread_mutex_trylock(&lock) != 0) return 0;
    int rc = pystack_do_init(e);
    pthread_mutex_unlock(&lock);
    return rc;
}

bool pystack_ready(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == READY;
}

const struct pyapi *pystack_api(void)
{
    return pystack_ready() ? &api : NULL;
}

static struct pytable_memo *new_memo(void)
{
    memo = mem_zalloc(1, sizeof *memo);
    if (memo) pthread_setspecific(at_thread_exit, memo);
    return memo;
}

uint32_t pystack_now(void)
{
    if (!pystack_ready()) return 0;
    const void *tstate = api.this_thread_state();
    if (!tstate || (!memo && !new_memo())) return 0;
    struct pyframe frames[PYWALK_DEEPEST];
    int n = pywalk_here(&api, tstate, frames, PYWALK_DEEPEST);
    return n ? pytable_find(&api, memo, frames, n, true) : 0;
}

/* Ticks from which a call has waited so long that walking some fifty native frames does not
 * matter. Where there is Python: else nothing but these frames says which line it was. */
static uint64_t native_patience(void)
{
    static _Atomic uint64_t ticks;
    uint64_t known = atomic_load_explicit(&ticks, memory_order_relaxed);
    if (known) return known;
    known = (uint64_t)(recorder_ticks_per_second() * NATIVE_WAITS_S) + 1;
    atomic_store_explicit(&ticks, known, memory_order_relaxed);
    return known;
}

void pystack_mark(uint64_t begin, uint64_t end)
{
    uint32_t stack = pystack_now();
    if (!pystack_ready() || end - begin >= native_patience()) stack = native_stack_on(stack);
    if (!stack) return;
    recorder_put(ring_with_id((struct ring_record){.kind = RING_STACK, .ticks = begin}, stack),
                 end);
}
