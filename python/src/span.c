/* span.c: see core.h. The order matters: what the hooks do is not part of the stage, so they run
 * before its clock starts and after it has stopped. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core.h"
#include "record/names.h"
#include "record/repeats.h"
#include "record/slow.h"

enum { PROBE_MS = 1, RSS_MS = 10, CHECKPOINT_MS = 1000 };

struct core core;

uint64_t span_put(struct ring_record r, uint64_t value)
{
    if (!r.ticks) r.ticks = clock_ticks(core.clock);
    if (core.rings) recorder_put(r, value);
    return r.ticks;
}

/* A hook's failure is not the user's: only what is not an ordinary exception goes on. */
static int span_forgive(void)
{
    if (!PyErr_Occurred()) return 0;
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
        return -1;
    PyErr_Clear();
    return 0;
}

static int call_hook(PyObject *hook, PyObject *a, PyObject *b, PyObject *c, PyObject **ret)
{
    PyObject *result = PyObject_CallFunctionObjArgs(hook, a, b, c, NULL);
    if (!result) return span_forgive();
    if (ret) *ret = result;
    else Py_DECREF(result);
    return 0;
}

/* Occasionally, not at every stage: has the program begun to use a device? The package then puts
 * its hooks in. */
static int span_probe(uint64_t now)
{
    core.next_probe = now + PROBE_MS * core.tick_ms;
    return call_hook(core.probe, NULL, NULL, NULL, NULL);
}

int span_sync(const struct stage *s, PyObject *token)
{
    if (!s->sync || !core.sync_hook) return 0;
    return call_hook(core.sync_hook, token ? token : Py_None, NULL, NULL, NULL);
}

/* The node of the stage, or of the same stage around it. */
static uint32_t span_find_node(uint32_t parent, uint32_t name, bool *ret_recursion)
{
    for (uint32_t node = parent; node; node = tree_node(node)->parent) {
        if (tree_node(node)->name != name) continue;
        *ret_recursion = true;
        return node;
    }
    *ret_recursion = false;
    return tree_child(parent, name);
}

/* The hook returns what it wants back at the end, None, or a number: calls of this stage that it
 * does not want to hear of. */
static int call_enter_hook(struct frame *f)
{
    if (tree_node(f->node)->unheard) {
        tree_node(f->node)->unheard--;
        return 0;
    }
    PyObject *node = PyLong_FromUnsignedLong(f->node);
    if (!node) return span_forgive();
    int rc = call_hook(core.enter_hook, node, f->stage->name, NULL, &f->token);
    Py_DECREF(node);
    if (!f->token) return rc;
    if (PyLong_Check(f->token)) tree_node(f->node)->unheard = (uint32_t)PyLong_AsLong(f->token);
    if (PyLong_Check(f->token) || f->token == Py_None) Py_CLEAR(f->token);
    return rc;
}

int span_prepare(struct frame *f, struct stage *s, uint32_t parent_node)
{
    *f = (struct frame){.stage = s};
    Py_INCREF(s);
    uint32_t known = tree_size();
    f->node = span_find_node(parent_node, s->id, &f->recursion);
    core.is_new |= tree_size() != known;
    f->start = clock_ticks(core.clock);
    bool due = f->start >= core.next_probe && core.probe;
    bool ready = recorder_mine || !core.rings;
    if (__builtin_expect(ready && !due && !core.enter_hook && !s->sync, 1)) return 0;
    if (!ready) recorder_adopt(); /* makes files */
    int rc = due ? span_probe(f->start) : 0;
    if (rc == 0) rc = span_sync(s, NULL);
    if (rc == 0 && core.enter_hook) rc = call_enter_hook(f);
    if (rc < 0) {
        Py_CLEAR(f->token);
        Py_CLEAR(f->stage);
    }
    f->start = clock_ticks(core.clock);
    return rc;
}

static int64_t read_rss(void)
{
    char text[64];
    int fd = fd_open("/proc/self/statm", O_RDONLY, 0);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *second = strchr(text, ' ');
    return second ? strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

/* Looking costs some microseconds: the stages of the next milliseconds share what was seen. */
static void note_rss(uint32_t node, uint64_t now)
{
    if (now >= core.next_rss) {
        core.rss_bytes = read_rss();
        core.next_rss = now + RSS_MS * core.tick_ms;
    }
    struct stage_node *s = tree_node(node);
    s->rss_bytes = core.rss_bytes;
    if (core.rss_bytes > s->rss_peak_bytes) s->rss_peak_bytes = core.rss_bytes;
}

static int call_exit_hook(struct frame *f, PyObject *exc_type)
{
    PyObject *node = PyLong_FromUnsignedLong(f->node);
    if (!node) return span_forgive();
    int rc = call_hook(core.exit_hook, node, f->token, exc_type ? exc_type : Py_None, NULL);
    Py_DECREF(node);
    return rc;
}

/* The files of the run, as far as it has come. */
static int check_point(uint64_t now, bool outermost)
{
    bool due = now >= core.next_checkpoint || (outermost && core.soon && core.is_new);
    if (__builtin_expect(!due, 1)) return 0;
    core.is_new = false;
    core.next_checkpoint = now + CHECKPOINT_MS * core.tick_ms; /* unless it says otherwise */
    return call_hook(core.checkpoint, NULL, NULL, NULL, NULL);
}

int span_finish(struct frame *f, PyObject *exc_type, struct stage_call c, struct frame *parent)
{
    c.inner = f->inner;
    c.recursion = f->recursion;
    c.failed = exc_type != NULL;
    tree_add_call(f->node, &c);
    enum slow_rank rank = f->stage->derived                   ? SLOW_DERIVED
                          : parent && !parent->stage->derived ? SLOW_INNER
                                                              : SLOW_OUTERMOST;
    if (rank != SLOW_DERIVED || !parent) slow_saw(rank, f->stage->id, f->start, f->start + c.ticks);
    repeats_saw(f->stage->id, f->start, f->start + c.ticks);
    if (parent) parent->inner += f->recursion ? f->inner : c.ticks;
    note_rss(f->node, f->start + c.ticks);
    int rc = 0;
    if (core.exit_hook && f->token) rc = call_exit_hook(f, exc_type);
    Py_CLEAR(f->token);
    Py_CLEAR(f->stage);
    if (rc == 0 && core.checkpoint) rc = check_point(f->start + c.ticks, !parent);
    return rc;
}

uint16_t span_error_name(PyObject *exc_type)
{
    if (!exc_type || !core.rings) return 0;
    PyObject *name = PyObject_GetAttrString(exc_type, "__name__");
    Py_ssize_t n = 0;
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    uint32_t id = text ? names_id(str_from(text, (size_t)n)) : 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return (uint16_t)(id ? id : names_id(str_c("exception")));
}
