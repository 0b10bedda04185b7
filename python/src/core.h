/* core.h: what the files of the extension share. Everything runs under the interpreter lock.
 *
 * A stage that is entered leaves a frame. Where it is kept depends on who runs:
 *
 *   plain code            on a stack of the thread (frames.c)
 *   inside an event loop  in a Task, linked to its parent through a context variable: tasks take
 *                         turns on the thread, and each has a context of its own (task_type.c)
 *   inside a greenlet     the same: they have contexts of their own, too
 *
 * Coroutines and generators that are stages themselves are Tasks too, which are resumed and
 * suspended: what they have open when they are suspended leaves the stack with them. */
#ifndef STRATA_PYTHON_CORE_H
#define STRATA_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "record/recorder.h"
#include "tree.h"

struct stage {
    PyObject_HEAD PyObject *name;
    uint16_t id;  /* of names.h */
    bool sync;    /* it waits for the device before the clock is read, at both ends */
    bool derived; /* without a label of the user: a call of a module, backward */
};

struct frame {
    uint64_t start, inner; /* ticks; inner: of the stages inside it that have ended */
    struct stage *stage;   /* owned */
    PyObject *token;       /* what the enter hook wants back, owned, or NULL */
    uint32_t node;
    bool recursion;
};

struct core {
    bool on;
    bool rings; /* records go to files, too */
    enum clock_source clock;
    uint64_t tick_ms;                                     /* ticks of a millisecond, about */
    uint64_t next_probe, next_rss;                        /* ticks */
    int64_t rss_bytes;                                    /* as of the last look */
    PyObject *enter_hook, *exit_hook, *sync_hook, *probe; /* the package's, or NULL */
    PyObject *checkpoint;     /* the package's: writes the run's files, or NULL */
    uint64_t next_checkpoint; /* ticks */
    bool soon;   /* ... or as soon as an outermost stage with something new has ended */
    bool is_new; /* a stage was entered that was not known */
    PyObject *decorate;
    PyObject *get_loop;          /* asyncio's _get_running_loop, once asyncio is there */
    PyObject *get_greenlet;      /* greenlet's getcurrent, once that is there */
    PyObject *var_get, *var_set; /* of the context variable */
};
extern struct core core;

/* stage_type.c */
int stage_type_init(PyObject *module);
bool stage_check(PyObject *o);
struct stage *stage_derived(PyObject *name); /* borrowed; NULL with an error set */
bool stage_may_derive(void);                 /* no label of the user is open here */
int stage_open(struct stage *s);
int stage_close(struct stage *s, PyObject *exc_type);
PyObject *stage_get(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);

/* task_type.c */
int task_type_init(PyObject *module);
bool task_loop_runs(void); /* an event loop on this thread, or a greenlet other than its first */
int task_enter(struct stage *s);
int task_exit(struct stage *s, PyObject *exc_type); /* 1, or 0 when it is not open here */
uint32_t task_current_node(void);
bool task_is_named(void); /* the current one is a stage with a label of the user */

/* frames.c: the stack of the calling thread. */
int frames_enter(struct stage *s);
int frames_exit(struct stage *s, PyObject *exc_type); /* 1, or 0 when it is not open here */
struct frame *frames_top(void);                       /* NULL when nothing is open */
size_t frames_depth(void);
int frames_push(struct frame f); /* takes over what it owns; -1 when out of memory */
struct frame frames_pop(void);
int *frames_open_tasks(void); /* how many Tasks of with statements are open on this thread */

/* span.c: what happens around every stage, wherever its frame is kept. 0, or -1 with a Python
 * error set, which only those are that must reach the user: Ctrl-C, out of memory. */
int span_prepare(struct frame *f, struct stage *s, uint32_t parent_node); /* starts its clock */
int span_finish(struct frame *f, PyObject *exc_type, struct stage_call c, struct frame *parent);
int span_sync(const struct stage *s, PyObject *token); /* token: of the frame that ends, or NULL */
uint16_t span_error_name(PyObject *exc_type);

/* Writes a record if they are kept, with the time filled in if it is 0; returns the time. */
uint64_t span_put(struct ring_record r, uint64_t value);

#endif
