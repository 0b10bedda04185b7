/* torch_ops.c: see torch_ops.h.
 *
 * at::RecordFunctionCallback, as torch 2 has it, is passed by value in memory. Its start function
 * returns a std::unique_ptr, which in C is a hidden first argument: where to put the pointer. */
#include "backend/program/torch_ops.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/program/collective_note.h"
#include "backend/program/ranges.h"
#include "backend/program/torch_flight.h"
#include "backend/program/watched.h"
#include "base/fd.h"
#include "record/names.h"
#include "record/recorder.h"

enum scope { SCOPE_BACKWARD = 1, SCOPE_USER = 7, N_SCOPES = 10 };

typedef void *start_fn(void **ret_context, const void *function);
typedef void end_fn(const void *function, void *context);

struct callback {
    start_fn *start;
    end_fn *end;
    double sampling;
    bool scopes[N_SCOPES];
    bool needs_inputs, needs_outputs, needs_ids;
};

_Static_assert(sizeof(struct callback) == 40, "layout of at::RecordFunctionCallback");

static const char *(*name_of)(const void *function);
static uint64_t (*add_callback)(struct callback c);
static void (*disable)(uint64_t handle), (*enable)(uint64_t handle); /* both, or neither */
/* 0: not installed, for all but the first. */
static uint64_t ops_handle, shapes_handle, nodes_handle, outputs_handle;
static bool can_ask;       /* for inputs of operators */
static bool only_at_times; /* the callback for operators is off but in captures and in depth */
static atomic_int n_captures;
static atomic_bool in_depth;
static atomic_bool to_learn, learning; /* where torch keeps what is recorded in depth */
static uint32_t cpu_op, user_annotation, param_comms; /* string ids */
static atomic_int on; /* enum torch_ops_level: what is recorded now */
static enum torch_ops_level installed;
static struct err refusal;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void torch_ops_begin(uint32_t category, const void *function)
{
    watched_passes(clock_ticks(recorder_clock()));
    const char *name = name_of(function);
    uint32_t id = names_id(str_c(name ? name : ""));
    bool opened = ranges_begin(category, id, (uintptr_t)function);
    if (!name || (category != user_annotation && id != param_comms)) return;
    torch_flight_see(name);
    struct collective_note note;
    if (opened && (id == param_comms || strchr(name, ':')) && torch_comms_now(&note))
        collective_note_args(&note);
}

static void *op_starts(void **ret_context, const void *function)
{
    *ret_context = NULL;
    if (atomic_load_explicit(&on, memory_order_relaxed) >= TORCH_OPS_ALL ||
        (torch_ops_on() && (atomic_load_explicit(&n_captures, memory_order_relaxed) > 0 ||
                            atomic_load_explicit(&in_depth, memory_order_relaxed))))
        torch_ops_begin(cpu_op, function);
    return ret_context;
}

/* After op_starts, which was given to torch before it. */
static void torch_ops_inputs(const void *function, bool backward)
{
    bool wanted = atomic_load_explicit(&on, memory_order_relaxed) == TORCH_OPS_SHAPES ||
                  atomic_load_explicit(&in_depth, memory_order_relaxed) || torch_ops_captures();
    if (!wanted && atomic_load_explicit(&learning, memory_order_relaxed))
        torch_inputs_learn(function);
    if (!wanted || !ranges_is_innermost((uintptr_t)function)) return;
    const char *name = name_of(function);
    bool tensors = !backward && atomic_load_explicit(&in_depth, memory_order_relaxed);
    if (name)
        torch_inputs_put(function, name,
                         backward  ? TORCH_INPUTS_BACKWARD
                         : tensors ? TORCH_INPUTS_TENSORS
                                   : TORCH_INPUTS_PLAIN);
}

static void *op_has_inputs(void **ret_context, const void *function)
{
    *ret_context = NULL;
    torch_ops_inputs(function, false);
    return ret_context;
}

static void *node_has_inputs(void **ret_context, const void *function)
{
    *ret_context = NULL;
    torch_ops_inputs(function, true);
    return ret_context;
}

/* torch keeps what operators return for the other callbacks, too, once one wants it: so this one
 * does nothing in depth. */
static void *nothing_starts(void **ret_context, const void *function)
{
    (void)function;
    *ret_context = NULL;
    return ret_context;
}

static void *user_range_starts(void **ret_context, const void *function)
{
    *ret_context = NULL;
    if (atomic_load_explicit(&on, memory_order_relaxed)) torch_ops_begin(user_annotation, function);
    return ret_context;
}

static void op_returned(const void *function, void *context)
{
    (void)context;
    if (atomic_load_explicit(&learning, memory_order_relaxed)) torch_inputs_learn_outputs(function);
}

static void op_ends(const void *function, void *context)
{
    (void)context;
    if (atomic_load_explicit(&in_depth, memory_order_relaxed) && outputs_handle &&
        ranges_is_innermost((uintptr_t)function))
        torch_inputs_put_outputs(function);
    ranges_end((uintptr_t)function);
}

/* Also when off: what began before ends as usual. */
static void torch_ops_ends(const void *function, void *context)
{
    (void)context;
    ranges_end((uintptr_t)function);
}

static bool torch_ops_find(void *library, const char *symbol, void *ret, size_t n)
{
    void *at = dlsym(library, symbol);
    memcpy(ret, &at, n);
    return at != NULL;
}

/* The version is written beside the library: .../torch/lib/libtorch_cpu.so, .../torch/version.py.
 */
static bool read_version(const char *library, char *ret, size_t cap)
{
    char path[PATH_MAX], text[512];
    const char *slash = strstr(library, "/lib/libtorch_cpu");
    if (!slash) return false;
    snprintf(path, sizeof path, "%.*s/version.py", (int)(slash - library), library);
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "__version__ = '");
    if (!at) return false;
    at += strlen("__version__ = '");
    snprintf(ret, cap, "%.*s", (int)strcspn(at, "'"), at);
    return true;
}

static int check_version(const void *symbol, long *ret_minor, struct err *e)
{
    Dl_info where;
    char version[64];
    if (!dladdr(symbol, &where) || !where.dli_fname ||
        !read_version(where.dli_fname, version, sizeof version))
        return FAIL(e, ERR_UNSUPPORTED, "the version of torch is unknown");
    char *rest;
    long major = strtol(version, &rest, 10);
    *ret_minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
    if (major != 2)
        return FAIL(e, ERR_UNSUPPORTED, "torch %s operators cannot be recorded (only torch 2)",
                    version);
    return 0;
}

/* 1 when it is there, 0 when it is not loaded yet. */
static int find_torch(struct err *e)
{
#if !defined(__x86_64__)
    return FAIL(e, ERR_UNSUPPORTED, "torch's operators are recorded on x86-64 only");
#endif
    void *library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return 0;
    if (!torch_ops_find(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
                        &add_callback, sizeof add_callback) ||
        !torch_ops_find(library, "_ZNK2at14RecordFunction4nameEv", &name_of, sizeof name_of))
        return FAIL(e, ERR_UNSUPPORTED, "this torch has no callbacks for operators");
    void *symbol = dlsym(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
    long minor = 0;
    TRY(check_version(symbol, &minor, e));
    torch_comms_init(library, minor);
    if (!torch_ops_find(library, "_ZN2at15disableCallbackEm", &disable, sizeof disable) ||
        !torch_ops_find(library, "_ZN2at16reenableCallbackEm", &enable, sizeof enable))
        disable = enable = NULL;
    can_ask = torch_inputs_find(library);
    return 1;
}

static void install_ops(void)
{
    struct callback ops = {op_starts, op_ends, .sampling = 1.0};
    memset(ops.scopes, true, sizeof ops.scopes);
    ops.scopes[SCOPE_USER] = false;
    if (installed < TORCH_OPS_ALL) ops_handle = add_callback(ops);
    else if (only_at_times) enable(ops_handle);
    installed = TORCH_OPS_ALL;
}

static void nothing_ends(const void *function, void *context)
{
    (void)function;
    (void)context;
}

/* torch makes a list of all arguments for callbacks that need inputs: they are off when they are
 * not needed, where torch can do that. */
static void switch_inputs(bool wanted)
{
    if (!can_ask || (!shapes_handle && !wanted)) return;
    if (shapes_handle) {
        if (!disable) return;
        (wanted ? enable : disable)(shapes_handle);
        (wanted ? enable : disable)(nodes_handle);
        return;
    }
    struct callback ops = {op_has_inputs, nothing_ends, .sampling = 1.0, .needs_inputs = true};
    struct callback nodes = {node_has_inputs, nothing_ends, .sampling = 1.0, .needs_inputs = true};
    memset(ops.scopes, true, sizeof ops.scopes);
    ops.scopes[SCOPE_USER] = ops.scopes[SCOPE_BACKWARD] = false;
    nodes.scopes[SCOPE_BACKWARD] = true;
    shapes_handle = add_callback(ops);
    nodes_handle = add_callback(nodes);
}

/* In depth only. */
static void switch_outputs(bool wanted)
{
    if (!can_ask || !disable || (!outputs_handle && !wanted)) return;
    if (outputs_handle) {
        (wanted ? enable : disable)(outputs_handle);
        return;
    }
    struct callback ops = {nothing_starts, op_returned, .sampling = 1.0, .needs_outputs = true};
    memset(ops.scopes, true, sizeof ops.scopes);
    ops.scopes[SCOPE_USER] = ops.scopes[SCOPE_BACKWARD] = false;
    outputs_handle = add_callback(ops);
}

static void torch_ops_install(enum torch_ops_level level)
{
    cpu_op = names_id(str_c("cpu_op"));
    user_annotation = names_id(str_c("user_annotation"));
    param_comms = names_id(str_c("record_param_comms"));
    struct callback user = {user_range_starts, torch_ops_ends, .sampling = 1.0};
    user.scopes[SCOPE_USER] = true;
    if (installed < TORCH_OPS_USER) {
        add_callback(user);
        installed = TORCH_OPS_USER;
    }
    if (level < TORCH_OPS_SHAPES) switch_inputs(false);
    if (level < TORCH_OPS_ALL) return;
    install_ops();
    if (level == TORCH_OPS_SHAPES) switch_inputs(true); /* after those: they run in this order */
    only_at_times = false;
}

/* With the lock held: operators below the level that is recorded are wanted, or no longer. */
static void want_ops(bool wanted)
{
    bool before = installed >= TORCH_OPS_ALL;
    if (!installed || !disable || (before && !only_at_times)) return;
    only_at_times = true;
    if (wanted) install_ops();
    else if (before) disable(ops_handle);
}

/* ---- finding out where torch keeps things ---- with the lock held */

static void torch_ops_begin_learning(void)
{
    if (!atomic_load(&to_learn) || !can_ask || !disable || torch_inputs_settled()) return;
    if (atomic_exchange(&learning, true)) return;
    want_ops(true); /* the callbacks of operators come first, though nothing is recorded now */
    switch_inputs(true);
    switch_outputs(true);
    want_ops(false);
}

static void torch_ops_end_learning(void)
{
    if (!atomic_exchange(&learning, false) || atomic_load(&in_depth)) return;
    switch_outputs(false);
    if (atomic_load(&on) != TORCH_OPS_SHAPES && atomic_load(&n_captures) == 0) switch_inputs(false);
}

/* With the lock held. */
static int torch_ops_do_start(enum torch_ops_level level)
{
    if (refusal.code) return refusal.code;
    if (!installed) {
        int rc = find_torch(&refusal);
        if (rc <= 0) return rc;
    }
    torch_ops_install(level);
    if (!torch_ops_on()) torch_flight_start();
    atomic_store(&on, level);
    torch_ops_begin_learning();
    return 0;
}

int torch_ops_start(enum torch_ops_level level, struct err *e)
{
    if (level == TORCH_OPS_OFF || pthread_mutex_trylock(&lock) != 0) return 0;
    int rc = torch_ops_do_start(level);
    if (rc < 0 && e) *e = refusal;
    pthread_mutex_unlock(&lock);
    return rc;
}

bool torch_ops_on(void)
{
    return atomic_load_explicit(&on, memory_order_relaxed) != TORCH_OPS_OFF;
}

/* With what they are called with. */
static void want_all(bool wanted)
{
    if (!installed || !disable) return;
    want_ops(wanted);
    if (atomic_load(&on) != TORCH_OPS_SHAPES) switch_inputs(wanted);
}

bool torch_ops_captures(void)
{
    return atomic_load_explicit(&n_captures, memory_order_relaxed) > 0;
}

void torch_ops_capture(bool begins)
{
    int n = atomic_fetch_add(&n_captures, begins ? 1 : -1);
    if (!begins && n <= 0) atomic_store(&n_captures, 0); /* it began before we did */
    if (!torch_ops_on() || n != (begins ? 0 : 1)) return;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&in_depth)) want_all(begins);
    pthread_mutex_unlock(&lock);
}

void torch_ops_depth(bool begins)
{
    pthread_mutex_lock(&lock);
    bool can = torch_ops_on() && installed && disable;
    if (begins ? can : atomic_load(&in_depth)) {
        if (begins || !torch_ops_captures()) want_all(begins);
        switch_outputs(begins);
        atomic_store(&in_depth, begins);
        atomic_store(&learning, false); /* goes on in depth, or has ended with it */
    }
    pthread_mutex_unlock(&lock);
}

/* A capture may end between two calls of ours, and a unit in depth with the recording. */
static void torch_ops_lower(enum torch_ops_level level)
{
    atomic_store(&on, level);
    bool at_times = atomic_exchange(&n_captures, 0) != 0;
    pthread_mutex_lock(&lock);
    at_times |= atomic_exchange(&in_depth, false);
    atomic_store(&learning, false);
    switch_inputs(false);
    switch_outputs(false);
    if (at_times) want_ops(false);
    pthread_mutex_unlock(&lock);
}

void torch_ops_stop(void)
{
    torch_ops_lower(TORCH_OPS_OFF);
}

void torch_ops_rest(void)
{
    torch_ops_lower(torch_ops_on() ? TORCH_OPS_USER : TORCH_OPS_OFF);
}

void torch_ops_learn(bool wanted)
{
    atomic_store(&to_learn, wanted);
}

void torch_ops_chore(void)
{
    if (!atomic_load(&learning) || !torch_inputs_settled()) return;
    pthread_mutex_lock(&lock);
    torch_ops_end_learning();
    pthread_mutex_unlock(&lock);
}

uint32_t torch_ops_innermost(void)
{
    return cpu_op ? ranges_innermost(cpu_op) : 0;
}

uint32_t torch_ops_inputs_of(uint64_t *ret_call)
{
    return cpu_op ? ranges_inputs(cpu_op, ret_call) : 0;
}
