/* derived.c: see derived.h. The package puts wrappers around functions of torch and others; each
 * asks here whether a range is wanted, and everything that costs time is here.
 *
 * Of modules only the outermost call is a range, and the calls directly inside it as long as they
 * are few: a module with more, or whose children take less than CHILD_US on average, has none from
 * its second call on. Whatever is deeper costs one question and an answer.
 *
 * Without a timeline they are stages, with times and memory, where nothing is open that somebody
 * has named; of modules then only the outermost. */
#include "derived.h"

#include <pthread.h>
#include <sys/mman.h>

#include "record/names.h"
#include "record/slow.h"

enum {
    DEEPEST = 2,
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
    unsigned depth;
    struct call calls[DEEPEST];
} mine __attribute__((tls_model("initial-exec")));

static inline bool is_on(void)
{
    return shared_on && __atomic_load_n(shared_on, __ATOMIC_RELAXED) && core.on &&
           (core.rings || as_stages);
}

static void after_fork_in_child(void)
{
    in_child = true;
}

static void at_fork(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

/* A child that asks for itself gets a page of its own. */
static bool make_shared(void)
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

/* derive(on, as_stages): begins or ends to record what is asked for here */
static PyObject *py_derive(PyObject *module, PyObject *args)
{
    (void)module;
    int wanted, stages;
    if (!PyArg_ParseTuple(args, "pp:derive", &wanted, &stages)) return NULL;
    as_stages = stages;
    bool have = shared_on && !in_child;
    if (have || (wanted && make_shared()))
        __atomic_store_n(shared_on, wanted > 0, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

static void put_begin(uint16_t name, uint64_t ticks)
{
    span_put(
        (struct ring_record){
            .kind = RING_BEGIN, .name = name, .category = category, .ticks = ticks},
        0);
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
    if (!is_on() || as_stages) Py_RETURN_FALSE;
    unsigned long id = PyLong_AsUnsignedLong(name);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    put_begin((uint16_t)id, 0);
    Py_RETURN_TRUE;
}

static PyObject *py_end(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    span_put((struct ring_record){.kind = RING_END}, 0);
    Py_RETURN_NONE;
}

/* derived_stage(name): a stage that nobody has named */
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
    return PyBool_FromLong(is_on() && as_stages && !in_child && stage_may_derive());
}

/* inside_module(): whether a call of a module is none that matters here */
static PyObject *py_inside(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    bool wanted = is_on() && !in_child && mine.depth < (as_stages ? 1 : DEEPEST);
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
static bool is_stage(PyObject *module)
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

/* NULL when there are more classes than anybody has. */
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
static struct module_class *class_of(PyObject *module)
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

/* enter_module(module): after inside_module() was False; leave_module() must follow */
static PyObject *py_enter_module(PyObject *self, PyObject *module)
{
    (void)self;
    if (mine.depth >= DEEPEST) {
        PyErr_SetString(PyExc_RuntimeError, "inside_module() says that it does not matter");
        return NULL;
    }
    if (mine.depth) mine.calls[mine.depth - 1].n_children++;
    struct call *c = &mine.calls[mine.depth++];
    *c = (struct call){.start = clock_ticks(core.clock), .class = class_of(module)};
    c->shown = c->class && is_on() && !is_stage(module);
    if (as_stages && enter_stage(c) < 0) return NULL;
    if (c->shown) put_begin(c->class->name, c->start);
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
    if (c->shown) span_put((struct ring_record){.kind = RING_END, .ticks = end}, 0);
    if (c->shown && !mine.depth) slow_saw(c->class->name, c->start, end);
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
        gc_start = is_on() && !in_child ? now : 0;
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
    {"enter_module", py_enter_module, METH_O, NULL},
    {"leave_module", py_leave_module, METH_O, NULL},
    {"gc_event", FAST(py_gc_event), METH_FASTCALL, NULL},
    {"gc_asked", py_gc_asked, METH_O, NULL},
    {0},
};
