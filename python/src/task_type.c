/* task_type.c: stages of code that is suspended and resumed; see core.h.
 *
 * In an event loop every stage entered by a with statement is a Task whose parent is the value of
 * the context variable, and which is its value while it is open. A Task made by the package for a
 * decorated coroutine or generator is told when it runs. Between its turns the variable, or the
 * part of the stack that is its own, is put aside. */
#include "base/mem.h"
#include "core.h"

struct task {
    PyObject_HEAD struct frame frame;
    struct task *parent; /* owned, or NULL: the task in whose context it began */
    uint32_t id;
    uint64_t resumed_at, active;
    uint64_t rests_since; /* a generator between two items; 0 while one is asked of it */
    uint64_t rested;      /* that time is its user's */
    bool begun, running, ended;
    bool in_ring;         /* as a task: it began in an event loop */
    bool ring_open;       /* ... where a range of it is open: not while it rests */
    bool on_stack;        /* this turn is in plain code */
    size_t base;          /* ... and its frame stands there on the stack */
    struct frame *inside; /* between turns: what it had open there besides itself */
    size_t n_inside;
    PyObject *var_inside, *var_outside; /* the variable between turns, and during one */
};

static PyTypeObject *task_type;
static uint32_t last_id;

/* What a module that may be loaded offers; NULL while it is not. */
static PyObject *task_type_find_in(PyObject *modules, const char *module, const char *name)
{
    PyObject *found = PyDict_GetItemString(modules, module); /* borrowed */
    PyObject *value = found ? PyObject_GetAttrString(found, name) : NULL;
    PyErr_Clear();
    return value;
}

/* asyncio and greenlet are searched for whenever more modules are there than at the last look:
 * without them nothing takes turns on a thread. */
static void find_modules(void)
{
    static Py_ssize_t n_seen;
    PyObject *modules = PySys_GetObject("modules"); /* borrowed */
    Py_ssize_t n = modules ? PyDict_Size(modules) : 0;
    if (n == n_seen) return;
    n_seen = n;
    if (!core.get_loop)
        core.get_loop = task_type_find_in(modules, "asyncio.events", "_get_running_loop");
    if (!core.get_greenlet)
        core.get_greenlet = task_type_find_in(modules, "greenlet", "getcurrent");
}

/* Whether a call has returned something, and not None; takes it over. */
static bool is_something(PyObject *value)
{
    bool is = value && value != Py_None;
    if (!value) PyErr_Clear();
    Py_XDECREF(value);
    return is;
}

/* The first greenlet of a thread, which has no parent, is the thread's plain code. */
static bool in_greenlet(void)
{
    PyObject *now = PyObject_CallNoArgs(core.get_greenlet);
    PyObject *parent = now ? PyObject_GetAttrString(now, "parent") : NULL;
    Py_XDECREF(now);
    return is_something(parent);
}

bool task_loop_runs(void)
{
    if (!core.get_loop || !core.get_greenlet) find_modules();
    if (core.get_loop && is_something(PyObject_CallNoArgs(core.get_loop))) return true;
    return core.get_greenlet && in_greenlet();
}

/* A new reference; NULL without an error means that there is none. */
static struct task *task_type_current(void)
{
    PyObject *value =
        core.var_get ? PyObject_CallFunctionObjArgs(core.var_get, Py_None, NULL) : NULL;
    if (value && Py_TYPE(value) == task_type) return (struct task *)value;
    Py_XDECREF(value);
    PyErr_Clear();
    return NULL;
}

static void set_current(PyObject *value)
{
    PyObject *token = PyObject_CallFunctionObjArgs(core.var_set, value ? value : Py_None, NULL);
    Py_XDECREF(token);
    PyErr_Clear();
}

uint32_t task_current_node(void)
{
    struct task *t = task_type_current();
    uint32_t node = t ? t->frame.node : TREE_ROOT;
    Py_XDECREF(t);
    return node;
}

bool task_is_named(void)
{
    struct task *t = task_type_current();
    bool named = t && t->frame.stage && !t->frame.stage->derived;
    Py_XDECREF(t);
    return named;
}

static struct task *new_task(void)
{
    struct task *t = PyObject_New(struct task, task_type);
    if (!t) return NULL;
    memset((char *)t + sizeof(PyObject), 0, sizeof *t - sizeof(PyObject));
    t->id = ++last_id;
    return t;
}

static uint64_t ring_ids(const struct task *t)
{
    return t->id | (t->parent ? (uint64_t)t->parent->id << 32 : 0);
}

static uint64_t task_type_put_begin(struct task *t)
{
    t->ring_open = true;
    return span_put(
        (struct ring_record){.kind = RING_TASK_BEGIN, .name = t->frame.stage->id, .type = t->begun},
        ring_ids(t));
}

static uint64_t put_end(struct task *t, PyObject *exc_type)
{
    t->ring_open = false;
    return span_put((struct ring_record){.kind = RING_TASK_END, .name = span_error_name(exc_type)},
                    t->id);
}

/* Its parent is the current task, or else what is open in plain code around the loop. */
static int task_type_prepare(struct task *t, struct stage *s)
{
    struct frame *outer = frames_top();
    uint32_t parent = t->parent ? t->parent->frame.node : outer ? outer->node : TREE_ROOT;
    return span_prepare(&t->frame, s, parent);
}

static struct frame *parent_frame(struct task *t)
{
    if (t->parent) return t->parent->ended ? NULL : &t->parent->frame;
    return frames_top();
}

/* with statements in an event loop. */

int task_enter(struct stage *s)
{
    struct task *t = new_task();
    if (!t) return -1;
    t->parent = task_type_current();
    if (task_type_prepare(t, s) < 0) {
        Py_DECREF(t);
        return -1;
    }
    set_current((PyObject *)t);
    ++*frames_open_tasks();
    t->frame.start = task_type_put_begin(t);
    t->begun = true;
    Py_DECREF(t); /* the context keeps it */
    return 0;
}

/* The innermost open one of the stage, from the current one outwards; a new reference. */
static struct task *find_open(struct stage *s)
{
    struct task *t = task_type_current();
    while (t && (t->ended || t->frame.stage != s)) {
        struct task *parent = t->parent;
        Py_XINCREF(parent);
        Py_DECREF(t);
        t = parent;
    }
    return t;
}

int task_exit(struct stage *s, PyObject *exc_type)
{
    struct task *t = find_open(s);
    if (!t) return 0;
    uint64_t end = put_end(t, exc_type);
    set_current((PyObject *)t->parent);
    --*frames_open_tasks();
    t->ended = true;
    struct stage_call c = {.ticks = end - t->frame.start};
    int rc = span_finish(&t->frame, exc_type, c, parent_frame(t));
    Py_DECREF(t);
    return rc < 0 ? -1 : 1;
}

/* Coroutines and generators. */

static void start_turn_in_loop(struct task *t)
{
    t->var_outside = (PyObject *)task_type_current();
    set_current(t->var_inside ? t->var_inside : (PyObject *)t);
    Py_CLEAR(t->var_inside);
}

static void end_turn_in_loop(struct task *t)
{
    t->var_inside = (PyObject *)task_type_current();
    if (t->var_inside == (PyObject *)t) Py_CLEAR(t->var_inside); /* no cycle where none is needed */
    set_current(t->var_outside);
    Py_CLEAR(t->var_outside);
}

/* In plain code the frame itself goes onto the stack, with what was open inside it. Each turn is a
 * range of the thread. */
static void start_turn_on_stack(struct task *t)
{
    t->base = frames_depth();
    struct frame own = {.node = t->frame.node, .stage = t->frame.stage};
    Py_INCREF(own.stage);
    if (frames_push(own) < 0) Py_CLEAR(own.stage);
    if (!own.stage) return;
    span_put((struct ring_record){.kind = RING_BEGIN, .name = own.stage->id, .type = t->begun}, 0);
    for (size_t i = 0; i < t->n_inside; i++) {
        if (frames_push(t->inside[i]) < 0) break;
        span_put(
            (struct ring_record){.kind = RING_BEGIN, .name = t->inside[i].stage->id, .type = 1}, 0);
    }
    mem_free(t->inside);
    t->inside = NULL;
    t->n_inside = 0;
}

static void end_turn_on_stack(struct task *t)
{
    size_t n = frames_depth() > t->base ? frames_depth() - t->base : 0;
    t->inside = n > 1 ? mem_alloc((n - 1) * sizeof *t->inside) : NULL;
    for (size_t i = n; i-- > 0;) {
        struct frame f = frames_pop();
        span_put((struct ring_record){.kind = RING_END}, 0);
        if (i == 0) {
            t->frame.inner += f.inner;
            Py_CLEAR(f.stage);
        } else if (t->inside) {
            t->inside[i - 1] = f;
            t->n_inside = n - 1;
        } else {
            Py_CLEAR(f.token);
            Py_CLEAR(f.stage);
        }
    }
}

/* Before the first turn. */
static int task_type_begin(struct task *t)
{
    struct stage *s = t->frame.stage;
    t->in_ring = !t->on_stack;
    if (t->in_ring) t->parent = task_type_current();
    int rc = task_type_prepare(t, s);
    Py_DECREF(s); /* the frame has its own by now */
    return rc;
}

static void end_rest(struct task *t, uint64_t now)
{
    if (t->rests_since) t->rested += now - t->rests_since;
    t->rests_since = 0;
    if (t->in_ring && t->begun && !t->ring_open) task_type_put_begin(t);
}

static PyObject *task_resume(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct task *t = (struct task *)self;
    if (t->running || t->ended || !core.on) Py_RETURN_NONE;
    t->on_stack = !task_loop_runs();
    if (!t->begun && task_type_begin(t) < 0) return NULL;
    if (t->on_stack) start_turn_on_stack(t);
    else start_turn_in_loop(t);
    t->running = true;
    t->resumed_at = clock_ticks(core.clock);
    end_rest(t, t->resumed_at);
    if (!t->begun) t->frame.start = t->in_ring ? task_type_put_begin(t) : t->resumed_at;
    t->begun = true;
    Py_RETURN_NONE;
}

static void end_turn(struct task *t)
{
    t->active += clock_ticks(core.clock) - t->resumed_at;
    t->running = false;
    if (t->on_stack) end_turn_on_stack(t);
    else end_turn_in_loop(t);
}

static PyObject *task_suspend(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct task *t = (struct task *)self;
    if (t->running) end_turn(t);
    Py_RETURN_NONE;
}

/* Its turn ends with an item, which was requested: what follows is its user's time. */
static PyObject *task_rest(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct task *t = (struct task *)self;
    if (t->running) end_turn(t);
    if (!t->begun || t->ended || t->rests_since) Py_RETURN_NONE;
    t->rests_since = t->ring_open ? put_end(t, NULL) : clock_ticks(core.clock);
    Py_RETURN_NONE;
}

/* finish(exc_type or None) */
static PyObject *task_finish(PyObject *self, PyObject *exc_type)
{
    struct task *t = (struct task *)self;
    if (t->running) end_turn(t);
    if (!t->begun || t->ended) Py_RETURN_NONE;
    if (span_sync(t->frame.stage, t->frame.token) < 0) return NULL;
    if (exc_type == Py_None) exc_type = NULL;
    end_rest(t, clock_ticks(core.clock));
    uint64_t end = t->in_ring ? put_end(t, exc_type) : clock_ticks(core.clock);
    uint64_t whole = end - t->frame.start;
    uint64_t own = whole > t->rested ? whole - t->rested : 0;
    if (t->active > own) t->active = own;
    t->ended = true;
    struct stage_call c = {.ticks = own, .active = t->active, .awaited = own - t->active};
    if (span_finish(&t->frame, exc_type, c, parent_frame(t)) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *task_node(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((struct task *)self)->frame.node);
}

static PyObject *task_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    (void)kwargs;
    PyObject *stage;
    if (!PyArg_ParseTuple(args, "O:Task", &stage)) return NULL;
    if (!stage_check(stage)) {
        PyErr_SetString(PyExc_TypeError, "Task() takes a stage");
        return NULL;
    }
    struct task *t = new_task();
    if (!t) return NULL;
    Py_INCREF(stage);
    t->frame.stage = (struct stage *)stage;
    return (PyObject *)t;
}

static void task_dealloc(PyObject *self)
{
    struct task *t = (struct task *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (size_t i = 0; i < t->n_inside; i++) {
        Py_XDECREF(t->inside[i].token);
        Py_XDECREF(t->inside[i].stage);
    }
    mem_free(t->inside);
    Py_XDECREF(t->frame.token);
    Py_XDECREF(t->frame.stage);
    Py_XDECREF(t->parent);
    Py_XDECREF(t->var_inside);
    Py_XDECREF(t->var_outside);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef task_methods[] = {
    {"resume", task_resume, METH_NOARGS, "its turn begins"},
    {"suspend", task_suspend, METH_NOARGS, "its turn ends"},
    {"rest", task_rest, METH_NOARGS, "its turn ends with an item: nothing more is requested"},
    {"finish", task_finish, METH_O, "it has ended, by this exception or None"},
    {0},
};

static PyGetSetDef task_getset[] = {{"node", task_node, NULL, "its place in the tree", NULL}, {0}};

static PyType_Slot task_slots[] = {
    {Py_tp_doc, "A stage that is suspended and resumed."},
    {Py_tp_new, task_new},
    {Py_tp_dealloc, task_dealloc},
    {Py_tp_methods, task_methods},
    {Py_tp_getset, task_getset},
    {0},
};

static PyType_Spec task_spec = {
    .name = "strata.Task",
    .basicsize = sizeof(struct task),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = task_slots,
};

int task_type_init(PyObject *module)
{
    task_type = (PyTypeObject *)PyType_FromSpec(&task_spec);
    if (!task_type) return -1;
    Py_INCREF(task_type);
    return PyModule_AddObject(module, "Task", (PyObject *)task_type);
}
