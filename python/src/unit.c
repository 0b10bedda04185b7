/* unit.c: see unit.h. */
#include "unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_EVERY_MS = 50,
    MOST_LOOKED_AT = 8, /* arguments of a call */
    TELL_AT = 3         /* units; the first ones may be another phase of the program */
};

static struct {
    char path[1024]; /* of the library that records; empty: none will */
    uint64_t next_look;
    int (*begins)(uint64_t warm, uint64_t kind);
    int (*ends)(void);
    void (*turn)(void);
} library;

static PyObject *tensor_type;  /* torch.Tensor, once it is there */
static PyObject *current_task; /* torch._C._current_graph_task_id, or None */

/* Called as a unit begins: what is set then may not be set around it. */
static struct {
    PyObject *call;
    unsigned n_units;
} listener;

static bool unit_symbol(void *handle, const char *name, void *function)
{
    void *at = dlsym(handle, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

/* The library comes with the device's driver. */
static bool unit_find(void)
{
    if (library.turn) return true;
    if (!library.path[0]) return false;
    uint64_t now = clock_ticks(core.clock);
    if (now < library.next_look) return false;
    library.next_look = now + LOOK_EVERY_MS * core.tick_ms;
    void *handle = dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD);
    return handle && unit_symbol(handle, "strata_inject_unit", &library.begins) &&
           unit_symbol(handle, "strata_inject_unit_ends", &library.ends) &&
           unit_symbol(handle, "strata_inject_turn", &library.turn);
}

/* Waits for the device. */
static void unit_turn(void)
{
    PyThreadState *state = PyEval_SaveThread();
    library.turn();
    PyEval_RestoreThread(state);
}

/* torch has it since 2.0. */
static PyObject *unit_current_task(void)
{
    PyObject *name = current_task ? NULL : PyUnicode_FromString("torch._C");
    PyObject *torch = name ? PyImport_GetModule(name) : NULL;
    if (torch) {
        current_task = PyObject_GetAttrString(torch, "_current_graph_task_id");
        if (!current_task) current_task = Py_NewRef(Py_None);
    }
    Py_XDECREF(name);
    Py_XDECREF(torch);
    PyErr_Clear();
    return current_task && current_task != Py_None ? current_task : NULL;
}

/* Whether this thread runs a backward pass: layers that are computed again in it (checkpoints) are
 * parts of a unit. */
static bool unit_is_backward(void)
{
    PyObject *ask = unit_current_task();
    PyObject *id = ask ? PyObject_CallNoArgs(ask) : NULL;
    bool backward = id && PyLong_Check(id) && PyLong_AsLong(id) >= 0;
    Py_XDECREF(id);
    PyErr_Clear();
    return backward;
}

static void unit_tell(void)
{
    if (!listener.call || ++listener.n_units != TELL_AT) return;
    Py_XDECREF(PyObject_CallNoArgs(listener.call));
    PyErr_Clear();
}

void unit_begins(const void *what, uint64_t size)
{
    if (!core.rings || unit_is_backward()) return;
    unit_tell();
    if (!unit_find()) return;
    uint64_t warm = (uint64_t)(uintptr_t)what;
    if (library.begins(warm, (warm ^ (size * 0x9e3779b97f4a7c15u)) + 2)) unit_turn();
}

static bool unit_is_tensor(PyObject *o)
{
    if (!tensor_type) {
        PyObject *name = PyUnicode_FromString("torch");
        PyObject *torch = name ? PyImport_GetModule(name) : NULL;
        tensor_type = torch ? PyObject_GetAttrString(torch, "Tensor") : NULL;
        Py_XDECREF(name);
        Py_XDECREF(torch);
        PyErr_Clear();
    }
    return tensor_type && PyType_Check(tensor_type) &&
           PyObject_TypeCheck(o, (PyTypeObject *)tensor_type);
}

/* 0 for what is neither a tensor nor a list that begins with one. */
static uint64_t unit_size_of(PyObject *o)
{
    if (PyList_Check(o) && PyList_Size(o) > 0) o = PyList_GetItem(o, 0);
    if (!o || !unit_is_tensor(o)) return 0;
    PyObject *shape = PyObject_GetAttrString(o, "shape");
    Py_hash_t hash = shape ? PyObject_Hash(shape) : -1;
    Py_XDECREF(shape);
    PyErr_Clear();
    return hash == -1 ? 0 : (uint64_t)hash | 1;
}

uint64_t unit_size(PyObject *args, PyObject *kwargs)
{
    uint64_t size = 0;
    if (!core.rings || !unit_find()) return 0;
    Py_ssize_t n = args && PyTuple_Check(args) ? PyTuple_Size(args) : 0, at = 0;
    for (Py_ssize_t i = 0; !size && i < n && i < MOST_LOOKED_AT; i++)
        size = unit_size_of(PyTuple_GetItem(args, i));
    PyObject *key, *value;
    for (int i = 0; !size && kwargs && PyDict_Check(kwargs) && i < MOST_LOOKED_AT; i++) {
        if (!PyDict_Next(kwargs, &at, &key, &value)) break;
        size = unit_size_of(value);
    }
    return size;
}

/* units_of(path): the library that records units in depth, where it will be loaded from */
static PyObject *py_units_of(PyObject *module, PyObject *path)
{
    (void)module;
    Py_ssize_t n = 0;
    const char *p = PyUnicode_AsUTF8AndSize(path, &n);
    if (!p) return NULL;
    library.turn = NULL;
    snprintf(library.path, sizeof library.path, "%s", (size_t)n < sizeof library.path ? p : "");
    Py_RETURN_NONE;
}

/* unit_tells(call): what is called with the third unit that begins from here on */
static PyObject *py_unit_tells(PyObject *module, PyObject *call)
{
    (void)module;
    PyObject *old = listener.call;
    listener.call = Py_NewRef(call);
    listener.n_units = 0;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* unit_ends(): what units lie in has ended: generate, a pipeline */
static PyObject *py_unit_ends(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (library.turn && library.ends()) unit_turn();
    Py_RETURN_NONE;
}

PyMethodDef unit_methods[] = {
    {"units_of", py_units_of, METH_O, NULL},
    {"unit_tells", py_unit_tells, METH_O, NULL},
    {"unit_ends", py_unit_ends, METH_NOARGS, NULL},
    {0},
};
