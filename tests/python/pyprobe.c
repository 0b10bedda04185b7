/* pyprobe.c: the Python side of a capture as a library of functions that a test calls through
 * ctypes, which lets go of the GIL around them, as torch does around its calls of the driver. */
#include <stdio.h>
#include <string.h>

#include "backend/program/nvtx.h"
#include "backend/program/pystack.h"
#include "backend/program/pytable.h"
#include "backend/program/python_side.h"
#include "backend/program/watched.h"
#include "base/clock.h"
#include "record/recorder.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int probe_start(const char *dir);
EXPORT const char *probe_init(void);
EXPORT int probe_ready(void);
EXPORT void probe_mark(long line);
EXPORT double probe_walk_ns(int times);
EXPORT double probe_sample_ns(int times);
EXPORT void probe_side(unsigned samples, int ops);
EXPORT void probe_call(void);
EXPORT void probe_stop(void);
EXPORT const char *probe_trouble(const char *part);
EXPORT int InitializeInjectionNvtx2(nvtx_export_table_fn export_table);

EXPORT int probe_start(const char *dir)
{
    struct recorder_options o;
    recorder_options_from_env(&o);
    o.where.dir = dir;
    return recorder_start(&o, NULL);
}

/* Why there will be no stacks; empty when there will. */
EXPORT const char *probe_init(void)
{
    static struct err e;
    err_init(&e);
    return pystack_init(&e) < 0 ? e.msg : "";
}

EXPORT int probe_ready(void)
{
    return pystack_ready();
}

/* A stack whose end is not a time but the line that is known to run. */
EXPORT void probe_mark(long line)
{
    pystack_mark(1, (uint64_t)line);
}

EXPORT double probe_walk_ns(int times)
{
    uint64_t begin = clock_mono_ns();
    uint32_t sum = 0;
    for (int i = 0; i < times; i++) sum += pystack_now();
    uint64_t took = clock_mono_ns() - begin;
    return sum ? (double)took / times : -1;
}

EXPORT void probe_side(unsigned samples, int ops)
{
    struct python_side_options o = {true, samples, (enum torch_ops_level)ops};
    python_side_start(&o);
    watched_add_me();
}

/* A call of the driver has ended. */
EXPORT void probe_call(void)
{
    watched_passes(clock_ticks(recorder_clock()));
}

EXPORT void probe_stop(void)
{
    python_side_stop();
}

EXPORT const char *probe_trouble(const char *part)
{
    const char *why = python_side_trouble(part);
    return why ? why : "";
}

EXPORT int InitializeInjectionNvtx2(nvtx_export_table_fn export_table)
{
    return nvtx_attach(export_table);
}

/* What reading a stack from outside costs; a sample takes two. */
EXPORT double probe_sample_ns(int times)
{
    static struct pywalk_memo memo;
    struct pyframe frames[PYWALK_DEEPEST];
    const struct pyapi *api = pystack_api();
    if (!api) return -1;
    uint64_t begin = clock_mono_ns();
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum += pywalk_any(api, (uintptr_t)api->this_thread_state(), &memo, frames, PYWALK_DEEPEST);
    uint64_t took = clock_mono_ns() - begin;
    return sum ? (double)took / times : -1;
}
