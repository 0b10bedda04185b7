/* stage_type.c: what strata.stage("name") returns. One object a name, without state of its own, so
 * that it can be entered again before it is left, on many threads, and costs no allocation. */
#include "core.h"
#include "record/names.h"
#include "unit.h"

#define OVERFLOW_NAME "(more stages)"

static PyTypeObject *stage_type;
static uint32_t overflow_id;
static PyObject *known;      /* name -> stage */
static PyObject *known_sync; /* the same with sync=True */
static PyObject *known_derived;

/* Inside an event loop frames belong to the context, elsewhere to the thread. */
int stage_open(struct stage *s)
{
    if (!core.on) return 0;
    if (task_loop_runs()) return task_enter(s);
    if (!s->derived && !frames_depth()) unit_begins(s, 0);
    return frames_enter(s);
}

static PyObject *stage_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (stage_open((struct stage *)self) < 0) return NULL;
    Py_INCREF(self);
    return self;
}

bool stage_may_derive(void)
{
    struct frame *top = frames_top();
    if (!core.on || (top && !top->stage->derived)) return false;
    return !task_loop_runs() || !task_is_named();
}

int stage_close(struct stage *s, PyObject *exc_type)
{
    struct frame *top = frames_top();
    if (span_sync(s, top && top->stage == s ? top->token : NULL) < 0) return -1;
    if (*frames_open_tasks() && task_loop_runs()) {
        int rc = task_exit(s, exc_type);
        if (rc) return rc;
    }
    return frames_exit(s, exc_type);
}

static PyObject *stage_exit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    PyObject *exc_type = n > 0 && args[0] != Py_None ? args[0] : NULL;
    if (stage_close((struct stage *)self, exc_type) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *stage_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (!core.decorate) {
        PyErr_SetString(PyExc_RuntimeError, "strata is not initialised");
        return NULL;
    }
    PyObject *fn = NULL;
    if ((kwargs && PyDict_Size(kwargs)) || !PyArg_ParseTuple(args, "O:stage", &fn)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a function to decorate");
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(core.decorate, self, fn, NULL);
}

/* async with: entering and leaving are instantaneous, so the plain forms do. */
static PyObject *stage_type_finished(PyObject *value)
{
    static PyObject *done;
    if (!done) {
        PyObject *module = PyImport_ImportModule("strata._record.awaitable");
        done = module ? PyObject_GetAttrString(module, "Done") : NULL;
        Py_XDECREF(module);
    }
    PyObject *awaitable = value && done ? PyObject_CallFunctionObjArgs(done, value, NULL) : NULL;
    Py_XDECREF(value);
    return awaitable;
}

static PyObject *stage_aenter(PyObject *self, PyObject *unused)
{
    return stage_type_finished(stage_enter(self, unused));
}

static PyObject *stage_aexit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    return stage_type_finished(stage_exit(self, args, n));
}

static PyObject *stage_repr(PyObject *self)
{
    struct stage *s = (struct stage *)self;
    return PyUnicode_FromFormat(s->sync ? "strata.stage(%R, sync=True)" : "strata.stage(%R)",
                                s->name);
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *name = ((struct stage *)self)->name;
    Py_INCREF(name);
    return name;
}

static void stage_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((struct stage *)self)->name);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* functools.partial(fn, sync=True); takes `fn` over. */
static PyObject *with_sync(PyObject *fn)
{
    PyObject *module = PyImport_ImportModule("functools");
    PyObject *partial = module ? PyObject_GetAttrString(module, "partial") : NULL;
    PyObject *args = Py_BuildValue("(N)", fn), *options = Py_BuildValue("{s:O}", "sync", Py_True);
    PyObject *made = partial && args && options ? PyObject_Call(partial, args, options) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(partial);
    Py_XDECREF(args);
    Py_XDECREF(options);
    return made;
}

/* Stages are the same in every process: a name, and whether it waits, is all there is to send. */
static PyObject *stage_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct stage *s = (struct stage *)self;
    PyObject *module = PyImport_ImportModule("strata");
    PyObject *fn = module ? PyObject_GetAttrString(module, "stage") : NULL;
    Py_XDECREF(module);
    if (fn && s->sync) fn = with_sync(fn);
    return fn ? Py_BuildValue("N(O)", fn, s->name) : NULL;
}

static PyMethodDef stage_methods[] = {
    {"__enter__", stage_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))stage_exit, METH_FASTCALL, NULL},
    {"__aenter__", stage_aenter, METH_NOARGS, NULL},
    {"__aexit__", (PyCFunction)(void (*)(void))stage_aexit, METH_FASTCALL, NULL},
    {"__reduce__", stage_reduce, METH_NOARGS, NULL},
    {0},
};

static PyGetSetDef stage_getset[] = {{"name", get_name, NULL, "what it is called", NULL}, {0}};

static PyType_Slot stage_slots[] = {
    {Py_tp_doc, "A named part of the program: a context manager and a decorator."},
    {Py_tp_dealloc, stage_dealloc},
    {Py_tp_methods, stage_methods},
    {Py_tp_getset, stage_getset},
    {Py_tp_call, stage_call},
    {Py_tp_repr, stage_repr},
    {0},
};

static PyType_Spec stage_spec = {
    .name = "strata.Stage",
    .basicsize = sizeof(struct stage),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = stage_slots,
};

bool stage_check(PyObject *o)
{
    return Py_TYPE(o) == stage_type;
}

int stage_type_init(PyObject *module)
{
    stage_type = (PyTypeObject *)PyType_FromSpec(&stage_spec);
    overflow_id = names_id(str_c(OVERFLOW_NAME));
    known = PyDict_New();
    known_sync = PyDict_New();
    known_derived = PyDict_New();
    if (!stage_type || !known || !known_sync || !known_derived) return -1;
    Py_INCREF(stage_type);
    return PyModule_AddObject(module, "Stage", (PyObject *)stage_type);
}

static struct stage *make_stage(PyObject *name, uint32_t id, PyObject *in)
{
    struct stage *s = PyObject_New(struct stage, stage_type);
    if (!s) return NULL;
    Py_INCREF(name);
    s->name = name;
    s->id = (uint16_t)id;
    s->sync = in == known_sync;
    s->derived = in == known_derived;
    if (PyDict_SetItem(in, name, (PyObject *)s) < 0) Py_CLEAR(s);
    return s;
}

static PyObject *new_stage(PyObject *name, uint32_t id, bool sync)
{
    return (PyObject *)make_stage(name, id, sync ? known_sync : known);
}

struct stage *stage_derived(PyObject *name)
{
    PyObject *found = PyDict_GetItemWithError(known_derived, name);
    if (found || PyErr_Occurred()) return (struct stage *)found;
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(name, &n);
    if (!text) return NULL;
    uint32_t id = names_id(str_from(text, (size_t)n));
    struct stage *s = make_stage(name, id ? id : overflow_id, known_derived);
    Py_XDECREF(s); /* the dict keeps it */
    return s;
}

/* A program that makes up names without end gets one stage for all beyond the limit. */
static PyObject *overflow_stage(bool sync)
{
    PyObject *name = PyUnicode_InternFromString(OVERFLOW_NAME);
    if (!name) return NULL;
    PyObject *s = PyDict_GetItemWithError(sync ? known_sync : known, name);
    if (s) Py_INCREF(s);
    else if (!PyErr_Occurred()) s = new_stage(name, overflow_id, sync);
    Py_DECREF(name);
    return s;
}

static PyObject *stage_type_add_stage(PyObject *name, bool sync)
{
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(name, &n);
    if (!text) PyErr_Clear(); /* lone surrogates: the stage works, its name in files is a mark */
    uint32_t id = text ? names_id(str_from(text, (size_t)n)) : names_id(str_c("?"));
    return id ? new_stage(name, id, sync) : overflow_stage(sync);
}

/* The inputs of the stage's next call are to be kept. */
static int want_inputs(PyObject *name)
{
    PyObject *module = PyImport_ImportModule("strata._record.saved_inputs");
    PyObject *done = module ? PyObject_CallMethod(module, "want", "O", name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* A mistake of the program is reported once, on standard error: marks never raise into it. Takes
 * `text` over. */
static void stage_type_say(PyObject *text)
{
    PyObject *module = text ? PyImport_ImportModule("strata._base.settings") : NULL;
    PyObject *done = module ? PyObject_CallMethod(module, "say", "O", text) : NULL;
    if (!done) PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(module);
    Py_XDECREF(text);
}

/* The options after the name; whether it is a stage that waits for the device, -1 for a failure. */
static int parse_options(PyObject *name, PyObject *const *values, PyObject *kwnames)
{
    int sync = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(kwnames); i++) {
        PyObject *key = PyTuple_GetItem(kwnames, i);
        int on = PyObject_IsTrue(values[i]);
        if (on < 0) return -1;
        if (PyUnicode_CompareWithASCIIString(key, "sync") == 0) {
            sync = on;
        } else if (PyUnicode_CompareWithASCIIString(key, "save_inputs") == 0) {
            if (on && want_inputs(name) < 0) return -1;
        } else {
            stage_type_say(PyUnicode_FromFormat(
                "strata.stage(%R, %U=...): there is no such option; it has sync and save_inputs",
                name, key));
        }
    }
    return sync;
}

/* The name as a text that is not empty, owned by the caller. */
static PyObject *stage_type_name(PyObject *given)
{
    if (PyUnicode_Check(given) && PyUnicode_GetLength(given) > 0) {
        Py_INCREF(given);
        return given;
    }
    if (PyUnicode_Check(given)) {
        stage_type_say(PyUnicode_FromString(
            "strata.stage(\"\"): a stage needs a name; it is called (unnamed)"));
        return PyUnicode_InternFromString("(unnamed)");
    }
    stage_type_say(PyUnicode_FromFormat("strata.stage(%R): a stage is named by a str", given));
    PyObject *name = PyObject_Str(given);
    if (name && PyUnicode_GetLength(name) > 0) return name;
    Py_XDECREF(name);
    PyErr_Clear();
    return PyUnicode_InternFromString("(unnamed)");
}

static PyObject *stage_type_find(PyObject *name, PyObject *const *options, PyObject *kwnames)
{
    int sync = kwnames ? parse_options(name, options, kwnames) : 0;
    if (sync < 0) return NULL;
    PyObject *s = PyDict_GetItemWithError(sync ? known_sync : known, name);
    if (s) Py_INCREF(s);
    else if (!PyErr_Occurred()) s = stage_type_add_stage(name, sync);
    return s;
}

PyObject *stage_get(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    (void)module;
    if (n < 1) {
        PyErr_SetString(PyExc_TypeError, "strata.stage() takes a name");
        return NULL;
    }
    PyObject *name = stage_type_name(args[0]);
    if (!name) return NULL;
    if (n > 1)
        stage_type_say(PyUnicode_FromFormat(
            "strata.stage(%R, ...) takes one name; the rest is left out", name));
    PyObject *s = stage_type_find(name, args + n, kwnames);
    Py_DECREF(name);
    return s;
}
