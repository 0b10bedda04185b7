/* _strata.c: the extension under the package: functions of the module and its start. The public
 * interface is python/strata; nothing here prints or raises for trouble with files. */
#include <math.h>
#include <stdlib.h>

#include "derived.h"
#include "record/names.h"
#include "record/rank.h"
#include "record/repeats.h"
#include "record/slow.h"
#include "unit.h"

#define INTERFACE 6 /* as in strata/_base/version.py.in */

/* start(dir, out, pipeline, rings, os_clock): recording begins with the next stage */
static PyObject *py_start(PyObject *module, PyObject *args)
{
    (void)module;
    struct recorder_options o;
    recorder_options_from_env(&o);
    int rings, os_clock;
    if (!PyArg_ParseTuple(args, "zzzpp:start", &o.where.dir, &o.where.out, &o.where.pipeline,
                          &rings, &os_clock))
        return NULL;
    o.os_clock = o.os_clock || os_clock;
    core.rings = rings && recorder_start(&o, NULL) == 0;
    core.clock = core.rings || !o.os_clock ? recorder_clock() : CLOCK_OS;
    core.tick_ms = core.clock == CLOCK_OS ? 1000000 : (uint64_t)(recorder_ticks_per_second() / 1e3);
    core.on = true;
    Py_RETURN_NONE;
}

static PyObject *py_stop(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (core.on) span_put((struct ring_record){.kind = RING_PAUSE}, 0);
    core.on = false;
    Py_RETURN_NONE;
}

static void _strata_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;
    *slot = value == Py_None ? NULL : value;
    Py_XINCREF(*slot);
    Py_XDECREF(old);
}

/* set_hooks(enter, exit, sync): called around stages from the next one on, or None */
static PyObject *py_set_hooks(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *enter, *exit, *sync;
    if (!PyArg_ParseTuple(args, "OOO:set_hooks", &enter, &exit, &sync)) return NULL;
    _strata_set(&core.enter_hook, enter);
    _strata_set(&core.exit_hook, exit);
    _strata_set(&core.sync_hook, sync);
    for (uint32_t i = 1; i < tree_size(); i++) tree_node(i)->unheard = 0;
    Py_RETURN_NONE;
}

/* connect(probe, decorate, context_variable) */
static PyObject *py_connect(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *probe, *decorate, *variable;
    if (!PyArg_ParseTuple(args, "OOO:connect", &probe, &decorate, &variable)) return NULL;
    _strata_set(&core.probe, probe);
    _strata_set(&core.decorate, decorate);
    Py_XDECREF(core.var_get);
    Py_XDECREF(core.var_set);
    core.var_get = PyObject_GetAttrString(variable, "get");
    core.var_set = PyObject_GetAttrString(variable, "set");
    if (!core.var_get || !core.var_set) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_set_probe(PyObject *module, PyObject *probe)
{
    (void)module;
    _strata_set(&core.probe, probe);
    core.next_probe = 0;
    Py_RETURN_NONE;
}

/* set_checkpoint(hook, soon): called at the end of stages, to write the run's files */
static PyObject *py_set_checkpoint(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *hook;
    int soon;
    if (!PyArg_ParseTuple(args, "Op:set_checkpoint", &hook, &soon)) return NULL;
    _strata_set(&core.checkpoint, hook);
    core.soon = soon;
    core.is_new = false;
    Py_RETURN_NONE;
}

/* checkpoint_in(seconds): the next one */
static PyObject *py_checkpoint_in(PyObject *module, PyObject *args)
{
    (void)module;
    double seconds;
    if (!PyArg_ParseTuple(args, "d:checkpoint_in", &seconds)) return NULL;
    seconds = seconds > 0 && seconds < 1e6 ? seconds : 0;
    core.next_checkpoint =
        clock_ticks(core.clock) + (uint64_t)(seconds * 1e3 * (double)core.tick_ms);
    Py_RETURN_NONE;
}

/* set_place(out, pipeline): where the run's folder is made, if it is not there yet */
static PyObject *py_set_place(PyObject *module, PyObject *args)
{
    (void)module;
    struct rundir_request where = {0};
    if (!PyArg_ParseTuple(args, "zz:set_place", &where.out, &where.pipeline)) return NULL;
    recorder_set_place(&where);
    Py_RETURN_NONE;
}

static int _strata_by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of sorted values: between neighbours, as numpy does it. */
static double _strata_quantile(const uint64_t *v, uint32_t n, double q)
{
    if (n == 0) return 0;
    double at = q * (n - 1);
    uint32_t i = (uint32_t)at;
    if (i + 1 >= n) return (double)v[n - 1];
    return (double)v[i] + (at - i) * ((double)v[i + 1] - (double)v[i]);
}

static double _strata_spread(const struct stage_node *s)
{
    if (s->n_calls < 2) return 0;
    double n = (double)s->n_calls, mean = (double)s->total / n;
    double variance = (s->square_sum - n * mean * mean) / (n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

static PyObject *_strata_describe(uint32_t node, double ns)
{
    struct stage_node *s = tree_node(node);
    struct str text = names_text(s->name);
    /* another program gave it: a report must not fail because of a name */
    PyObject *name = PyUnicode_DecodeUTF8(text.p, (Py_ssize_t)text.n, "replace");
    if (!name) return NULL;
    if (s->n_samples) qsort(s->samples, s->n_samples, sizeof *s->samples, _strata_by_size);
    return Py_BuildValue(
        "{s:I,s:I,s:N,s:K,s:K,s:K,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:L,s:L}", /* */
        "node", node, "parent", s->parent, "name", name, "calls", (unsigned long long)s->n_calls,
        "errors", (unsigned long long)s->n_errors, "recursions",
        (unsigned long long)s->n_recursions, "total_ns", (double)s->total * ns, "inner_ns",
        (double)s->inner * ns, "error_ns", (double)s->error_total * ns, "first_ns",
        (double)s->first * ns, "min_ns", (double)s->least * ns, "max_ns", (double)s->most * ns,
        "std_ns", _strata_spread(s) * ns, "median_ns",
        _strata_quantile(s->samples, s->n_samples, 0.5) * ns, "p95_ns",
        _strata_quantile(s->samples, s->n_samples, 0.95) * ns, "active_ns", (double)s->active * ns,
        "awaited_ns", (double)s->awaited * ns, "rss_bytes", (long long)s->rss_bytes,
        "rss_peak_bytes", (long long)s->rss_peak_bytes);
}

/* A list of dicts, one per node of the tree, parents before children. */
static PyObject *py_snapshot(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    double ns = 1e9 / recorder_ticks_per_second();
    if (core.clock == CLOCK_OS) ns = 1;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 1; list && i < tree_size(); i++) {
        PyObject *d = _strata_describe(i, ns);
        if (!d || PyList_Append(list, d) < 0) Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

static PyObject *py_reset(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    tree_reset();
    Py_RETURN_NONE;
}

/* The node of the innermost open stage, 0 outside of all. */
static PyObject *py_current(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    uint32_t node = task_loop_runs() ? task_current_node() : 0;
    struct frame *top = frames_top();
    return PyLong_FromUnsignedLong(node ? node : top ? top->node : TREE_ROOT);
}

static PyObject *text_or_none(const char *text)
{
    if (text) return PyUnicode_DecodeFSDefault(text);
    Py_RETURN_NONE;
}

/* The run's folder, made now if it is not there; None when that does not work. */
static PyObject *py_run_dir(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (core.rings) (void)(recorder_open(NULL) == 0);
    return text_or_none(recorder_dir());
}

/* The same without making it. */
static PyObject *py_made_dir(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return text_or_none(recorder_dir());
}

static PyObject *py_trouble(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return text_or_none(recorder_trouble());
}

static PyObject *py_lost(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(recorder_lost());
}

/* Of a name as the program gives it. While strata is off any name does; so it must be now. */
static uint16_t _strata_id_of(PyObject *name)
{
    Py_ssize_t n;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    if (!text) PyErr_Clear();
    return (uint16_t)names_id(text ? str_from(text, (size_t)n) : str_c("?"));
}

static PyObject *py_instant(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *name;
    if (!PyArg_ParseTuple(args, "O:instant", &name)) return NULL;
    if (core.on)
        span_put((struct ring_record){.kind = RING_INSTANT, .name = _strata_id_of(name)}, 0);
    Py_RETURN_NONE;
}

static PyObject *py_counter(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *name, *given;
    union {
        double number;
        uint64_t bits;
    } value;
    if (!PyArg_ParseTuple(args, "OO:counter", &name, &given)) return NULL;
    if (!core.on) Py_RETURN_NONE;
    value.number = PyFloat_AsDouble(given);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
        PyErr_Clear(); /* no number: no value */
        Py_RETURN_NONE;
    }
    span_put((struct ring_record){.kind = RING_COUNTER, .name = _strata_id_of(name)}, value.bits);
    Py_RETURN_NONE;
}

static PyObject *py_step(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "K:step", &number)) return NULL;
    slow_step();
    repeats_step();
    if (core.on) span_put((struct ring_record){.kind = RING_STEP}, number);
    Py_RETURN_NONE;
}

static PyObject *py_launch_key(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    char key[512];
    return text_or_none(rank_launch_key(key, sizeof key) ? key : NULL);
}

/* The address of what is known of units, from now on, for the library of a timeline. */
static PyObject *py_units(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromVoidPtr(repeats_watch());
}

/* (rank, world) from the launcher's environment, (-1, -1) when there is none */
static PyObject *py_rank(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    struct rank r = rank_find();
    return Py_BuildValue("(ii)", r.rank, r.world);
}

static PyObject *py_set_rank(PyObject *module, PyObject *args)
{
    (void)module;
    int rank, world;
    if (!PyArg_ParseTuple(args, "ii:set_rank", &rank, &world)) return NULL;
    recorder_set_rank(rank, world);
    Py_RETURN_NONE;
}

static PyObject *py_set_process_name(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *name;
    if (!PyArg_ParseTuple(args, "O:set_process_name", &name)) return NULL;
    if (core.rings) recorder_set_process_name(_strata_id_of(name));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"stage", (PyCFunction)(void (*)(void))stage_get, METH_FASTCALL | METH_KEYWORDS,
     "stage(name, *, sync=False)\n--\n\n"
     "A named part of the program: use it in a with statement or as a decorator."},
    {"start", py_start, METH_VARARGS, NULL},
    {"stop", py_stop, METH_NOARGS, NULL},
    {"set_hooks", py_set_hooks, METH_VARARGS, NULL},
    {"set_probe", py_set_probe, METH_O, NULL},
    {"made_dir", py_made_dir, METH_NOARGS, NULL},
    {"set_checkpoint", py_set_checkpoint, METH_VARARGS, "(hook, soon)"},
    {"checkpoint_in", py_checkpoint_in, METH_VARARGS, "(seconds)"},
    {"set_place", py_set_place, METH_VARARGS, NULL},
    {"connect", py_connect, METH_VARARGS, NULL},
    {"snapshot", py_snapshot, METH_NOARGS, NULL},
    {"reset", py_reset, METH_NOARGS, NULL},
    {"current", py_current, METH_NOARGS, NULL},
    {"run_dir", py_run_dir, METH_NOARGS, NULL},
    {"trouble", py_trouble, METH_NOARGS, NULL},
    {"lost", py_lost, METH_NOARGS, NULL},
    {"instant", py_instant, METH_VARARGS, NULL},
    {"counter", py_counter, METH_VARARGS, NULL},
    {"step", py_step, METH_VARARGS, NULL},
    {"units", py_units, METH_NOARGS, NULL},
    {"launch_key", py_launch_key, METH_NOARGS, NULL},
    {"rank", py_rank, METH_NOARGS, NULL},
    {"set_rank", py_set_rank, METH_VARARGS, NULL},
    {"set_process_name", py_set_process_name, METH_VARARGS, NULL},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "strata._strata", "The recorder under strata.", -1, methods,
};

PyMODINIT_FUNC PyInit__strata(void);
PyMODINIT_FUNC PyInit__strata(void)
{
    PyObject *module = tree_init() ? PyErr_NoMemory() : PyModule_Create(&definition);
    if (module && (stage_type_init(module) < 0 || task_type_init(module) < 0 ||
                   PyModule_AddFunctions(module, derived_methods) < 0 ||
                   PyModule_AddFunctions(module, unit_methods) < 0 ||
                   PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) < 0))
        Py_CLEAR(module);
    return module;
}
