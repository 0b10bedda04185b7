/* derived.c: see derived.h. The package puts wrappers around functions of torch and others; each
 * asks here whether a range is wanted, and everything that costs time is here.
 *
 * Of modules only the outermost call is a range, and the calls directly inside it as long as they
 * are few: a module with more, or whose children take less than CHILD_US on average, has none from
 * its second call on. Whatever is deeper costs one question and an answer.
 *
 * Without a timeline they are stages, with times and memory, where nothing is open that has
 * a name of the user; then only the outermost modules. */
#include "derived.h"

#include <pthread.h>
#include <sys/mman.h>

#include "record/names.h"
#include "record/repeats.h"
#include "record/resident.h"
#include "record/slow.h"
#include "unit.h"

enum {
    DEEPEST = 2,
    MOST_RANGES = 8, /* open on a thread, of which more is remembered */
    CHILD_US = 20,
    MOST_CHILDREN = 64, /* of one call */
    N_CLASSES = 512,    /* a power of two */
    LEAST_GC_US = 5,
};

/* What is known of a class of modules. Classes are kept alive: another must not get the address. */
struct module_class {
    PyObject *type;
    struct stage *stage; /* once it is one, borrowed: stages stay */
    uint16_t name;
    bool childless;
    bool compiled; /* torch.compile's, around another module */
};

struct call {
    uint64_t start;
    struct module_class *class;
    struct stage *stage; /* that was entered, or NULL */
    uint32_t n_children;
    bool shown; /* a range of it is open */
};

static struct module_class classes[N_CLASSES];
static unsigned n_classes;
static bool *shared_on; /* in a page that forked children share; NULL until first asked for */
static bool
    in_child; /* of a process that has asked: it loads data, and its modules do not matter */
static bool as_stages;
static uint16_t category;
static __thread struct {
    unsigned depth, n_ranges; /* open module calls, and other ranges */
    struct call calls[DEEPEST];
    struct {
        uint16_t name;
        uint64_t start;
    } ranges[MOST_RANGES];
    struct slow_round round; /* while any is open: the outermost */
} mine __attribute__((tls_model("initial-exec")));

static inline bool derived_is_on(void)
{
    return shared_on && __atomic_load_n(shared_on, __ATOMIC_RELAXED) && core.on &&
           (core.rings || as_stages);
}

static void derived_after_fork_in_child(void)
{
    in_child = true;
}

static void at_fork(void)
{
    pthread_atfork(NULL, NULL, derived_after_fork_in_child);
}

/* A child that asks for itself gets a page of its own. */
static bool derived_make_shared(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *page =
        mmap(NULL, sizeof *shared_on, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    shared_on = page;
    in_child = false;
    category = (uint16_t)names_id(str_c(RING_DERIVED));
    pthread_once(&once, at_fork);
    return true;
}

/* derive(on, as_stages): begins or ends to record what is requested here */
static PyObject *py_derive(PyObject *module, PyObject *args)
{
    (void)module;
    int wanted, stages;
    if (!PyArg_ParseTuple(args, "pp:derive", &wanted, &stages)) return NULL;
    as_stages = stages;
    bool have = shared_on && !in_child;
    if (have || (wanted && derived_make_shared()))
        __atomic_store_n(shared_on, wanted > 0, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

static void derived_put_begin(uint16_t name, uint64_t ticks)
{
    span_put(
        (struct ring_record){
            .kind = RING_BEGIN, .name = name, .category = category, .ticks = ticks},
        0);
}

/* Of what is derived, only the outermost is a request: what is inside it says less to the user. */
static void derived_open_round(uint16_t name, uint64_t ticks)
{
    if (!mine.depth && !mine.n_ranges) slow_round_begins(&mine.round, name, ticks);
}

static void derived_close_round(uint64_t ticks)
{
    if (!mine.depth && !mine.n_ranges) slow_round_ends(&mine.round, ticks);
}

/* name_id(text): what derived_begin takes */
static PyObject *py_name_id(PyObject *module, PyObject *text)
{
    (void)module;
    Py_ssize_t n;
    const char *p = PyUnicode_AsUTF8AndSize(text, &n);
    return p ? PyLong_FromUnsignedLong(names_id(str_from(p, (size_t)n))) : NULL;
}

/* derived_begin(name_id): True when a range was begun, which derived_end() must end */
static PyObject *py_begin(PyObject *module, PyObject *name)
{
    (void)module;
    if (!derived_is_on() || as_stages) Py_RETURN_FALSE;
    unsigned long id = PyLong_AsUnsignedLong(name);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    uint64_t now = clock_ticks(core.clock);
    derived_put_begin((uint16_t)id, now);
    derived_open_round((uint16_t)id, now);
    if (mine.n_ranges < MOST_RANGES) {
        mine.ranges[mine.n_ranges].name = (uint16_t)id;
        mine.ranges[mine.n_ranges].start = now;
    }
    mine.n_ranges++;
    Py_RETURN_TRUE;
}

static PyObject *py_end(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    uint64_t now = clock_ticks(core.clock);
    span_put((struct ring_record){.kind = RING_END, .ticks = now}, 0);
    resident_saw(now);
    if (mine.n_ranges) mine.n_ranges--;
    if (mine.n_ranges < MOST_RANGES)
        repeats_saw(mine.ranges[mine.n_ranges].name, mine.ranges[mine.n_ranges].start, now);
    derived_close_round(now);
    Py_RETURN_NONE;
}

/* derived_stage(name): a stage without a label of the user */
static PyObject *py_derived_stage(PyObject *module, PyObject *name)
{
    (void)module;
    struct stage *s = stage_derived(name);
    Py_XINCREF(s);
    return (PyObject *)s;
}

/* may_derive(): whether such a stage is wanted here */
static PyObject *py_may_derive(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(derived_is_on() && as_stages && !in_child && stage_may_derive());
}

/* inside_module(): whether a call of a module is none that matters here */
static PyObject *py_inside(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    unsigned deepest = as_stages || repeats_rest() ? 1 : DEEPEST;
    bool wanted = derived_is_on() && !in_child && mine.depth < deepest;
    if (wanted && as_stages) wanted = stage_may_derive();
    if (wanted && mine.depth) {
        struct call *outer = &mine.calls[mine.depth - 1];
        wanted = outer->class && !outer->class->childless && outer->n_children < MOST_CHILDREN;
    }
    return PyBool_FromLong(!wanted);
}

/* An attribute that the module itself has, or NULL; borrowed. */
static PyObject *own_attribute(PyObject *module, const char *name)
{
    PyObject *held = PyObject_GetAttrString(module, "__dict__");
    PyObject *found = held && PyDict_Check(held) ? PyDict_GetItemString(held, name) : NULL;
    Py_XDECREF(held);
    PyErr_Clear();
    return found;
}

/* Stages of strata.watch and annotate_pipeline are put there, and are the range then. */
static bool derived_is_stage(PyObject *module)
{
    PyObject *call = own_attribute(module, "_compiled_call_impl");
    return call && PyObject_HasAttrString(call, "strata_patch");
}

static uint16_t class_name(PyObject *type)
{
    Py_ssize_t n = 0;
    PyObject *text = PyObject_GetAttrString(type, "__name__");
    const char *p = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    uint32_t id = names_id(p ? str_from(p, (size_t)n) : str_c("nn.Module"));
    Py_XDECREF(text);
    PyErr_Clear();
    return (uint16_t)id;
}

/* NULL when there are more classes than any program has. */
static struct module_class *find_class(PyObject *type)
{
    uint32_t i = (uint32_t)(((uintptr_t)type >> 4) * 2654435761u) % N_CLASSES;
    while (classes[i].type && classes[i].type != type) i = (i + 1) % N_CLASSES;
    if (classes[i].type) return &classes[i];
    if (n_classes >= N_CLASSES / 2) return NULL;
    n_classes++;
    Py_INCREF(type);
    classes[i] = (struct module_class){.type = type, .name = class_name(type)};
    classes[i].compiled = str_is(names_text(classes[i].name), "OptimizedModule");
    return &classes[i];
}

/* What torch.compile has put around a module is called as that is. */
static struct module_class *derived_class_of(PyObject *module)
{
    struct module_class *c = find_class((PyObject *)Py_TYPE(module));
    PyObject *held = c && c->compiled ? own_attribute(module, "_modules") : NULL;
    PyObject *inner = held && PyDict_Check(held) ? PyDict_GetItemString(held, "_orig_mod") : NULL;
    return inner ? find_class((PyObject *)Py_TYPE(inner)) : c;
}

static struct stage *class_stage(struct module_class *c)
{
    struct str text = names_text(c->name);
    PyObject *name = c->stage ? NULL : PyUnicode_DecodeUTF8(text.p, (Py_ssize_t)text.n, "replace");
    if (name) c->stage = stage_derived(name);
    Py_XDECREF(name);
    PyErr_Clear();
    return c->stage;
}

/* Also when it fails: leave_module() follows. */
static int enter_stage(struct call *c)
{
    struct stage *s = c->shown ? class_stage(c->class) : NULL;
    c->shown = false;
    if (!s) return 0;
    c->stage = s;
    return stage_open(s);
}

/* A wait for the device may come first: not in the time of the call. */
static void derived_begin_unit(PyObject *const *args)
{
    struct module_class *c = mine.depth || as_stages ? NULL : derived_class_of(args[0]);
    if (c && derived_is_on()) unit_begins(c, unit_size(args[1], args[2]));
}

/* enter_module(module, args, kwargs): after inside_module() was False; leave_module() must follow
 */
static PyObject *py_enter_module(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "enter_module() takes a module and its arguments");
        return NULL;
    }
    PyObject *module = args[0];
    if (mine.depth >= DEEPEST) {
        PyErr_SetString(PyExc_RuntimeError, "inside_module() says that it does not matter");
        return NULL;
    }
    if (mine.depth) mine.calls[mine.depth - 1].n_children++;
    derived_begin_unit(args);
    struct call *c = &mine.calls[mine.depth];
    *c = (struct call){.start = clock_ticks(core.clock), .class = derived_class_of(module)};
    c->shown = c->class && derived_is_on() && !derived_is_stage(module);
    derived_open_round(c->shown && !as_stages ? c->class->name : 0, c->start);
    mine.depth++;
    if (as_stages && enter_stage(c) < 0) return NULL;
    if (c->shown) derived_put_begin(c->class->name, c->start);
    Py_RETURN_NONE;
}

/* leave_module(exc_type or None) */
static PyObject *py_leave_module(PyObject *self, PyObject *exc_type)
{
    (void)self;
    if (!mine.depth) Py_RETURN_NONE;
    struct call *c = &mine.calls[--mine.depth];
    if (c->stage && stage_close(c->stage, exc_type == Py_None ? NULL : exc_type) < 0) return NULL;
    uint64_t end = clock_ticks(core.clock);
    if (c->shown) {
        span_put((struct ring_record){.kind = RING_END, .ticks = end}, 0);
        resident_saw(end);
        repeats_saw(c->class->name, c->start, end);
    }
    derived_close_round(end);
    uint64_t least = (uint64_t)c->n_children * CHILD_US * core.tick_ms / 1000;
    bool too_many = c->n_children >= MOST_CHILDREN || end - c->start < least;
    if (c->class && too_many) c->class->childless = true;
    Py_RETURN_NONE;
}

static void put_count(const char *key, PyObject *info)
{
    PyObject *value = PyDict_GetItemString(info, key);
    long long n = value ? PyLong_AsLongLong(value) : 0;
    PyErr_Clear();
    span_put((struct ring_record){.kind = RING_ARG,
                                  .type = RING_INT,
                                  .name = (uint16_t)names_id(str_c(key))},
             (uint64_t)n);
}

static uint16_t gc_name(PyObject *info, bool asked)
{
    static const char *const names[] = {"Python GC (generation 0)", "Python GC (generation 1)",
                                        "Python GC (generation 2)", "Python GC (gc.collect)"};
    PyObject *value = PyDict_GetItemString(info, "generation");
    long generation = value ? PyLong_AsLong(value) : 0;
    PyErr_Clear();
    int which = asked ? 3 : generation < 0 || generation > 2 ? 2 : (int)generation;
    return (uint16_t)names_id(str_c(names[which]));
}

static uint64_t gc_start;
static bool gc_asked; /* by gc.collect() */

/* Whole, when it is over: whatever ran inside it has been written by then. */
static void put_gc(PyObject *info, uint64_t end)
{
    span_put((struct ring_record){.kind = RING_BEGIN,
                                  .name = gc_name(info, gc_asked),
                                  .category = (uint16_t)names_id(str_c(RING_PYTHON)),
                                  .ticks = gc_start},
             0);
    put_count("generation", info);
    put_count("collected", info);
    span_put((struct ring_record){.kind = RING_END, .ticks = end}, 0);
}

/* gc_event(phase, info): one of gc.callbacks */
static PyObject *py_gc_event(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    if (n != 2 || !PyUnicode_Check(args[0]) || !PyDict_Check(args[1])) Py_RETURN_NONE;
    uint64_t now = clock_ticks(core.clock);
    if (PyUnicode_CompareWithASCIIString(args[0], "start") == 0) {
        gc_start = derived_is_on() && !in_child ? now : 0;
    } else if (gc_start) {
        if (now - gc_start >= LEAST_GC_US * core.tick_ms / 1000) put_gc(args[1], now);
        gc_start = 0;
    }
    Py_RETURN_NONE;
}

/* gc_asked(begins): around gc.collect() */
static PyObject *py_gc_asked(PyObject *self, PyObject *begins)
{
    (void)self;
    gc_asked = begins == Py_True;
    Py_RETURN_NONE;
}

#define FAST(f) ((PyCFunction)(void (*)(void))(f))

PyMethodDef derived_methods[] = {
    {"derive", py_derive, METH_VARARGS, NULL},
    {"derived_stage", py_derived_stage, METH_O, NULL},
    {"may_derive", py_may_derive, METH_NOARGS, NULL},
    {"name_id", py_name_id, METH_O, NULL},
    {"derived_begin", py_begin, METH_O, NULL},
    {"derived_end", py_end, METH_NOARGS, NULL},
    {"inside_module", py_inside, METH_NOARGS, NULL},
    {"enter_module", FAST(py_enter_module), METH_FASTCALL, NULL},
    {"leave_module", py_leave_module, METH_O, NULL},
    {"gc_event", FAST(py_gc_event), METH_FASTCALL, NULL},
    {"gc_asked", py_gc_asked, METH_O, NULL},
    {0},
};
