/* inject.c: the entry points into the user's process. The NVIDIA driver calls InitializeInjection
 * during cuInit (CUDA_INJECTION64_PATH), every copy of NVTX calls InitializeInjectionNvtx2 at its
 * first range (NVTX_INJECTION64_PATH), and a program that has loaded this library itself calls
 * strata_inject_start. Whatever happens here, the program goes on. */
#include "backend/backend.h"
#include "backend/parts.h"
#include "backend/program/depth.h"
#include "backend/program/nvtx.h"
#include "backend/program/pystack.h"
#include "backend/program/python_side.h"
#include "backend/program/watched.h"
#include "backend/recording.h"
#include "backend/rest.h"
#include "record/defs.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);
EXPORT int InitializeInjectionNvtx2(nvtx_export_table_fn export_table);
EXPORT int strata_inject_start(const char *backend);
EXPORT void strata_inject_pause(int paused);
EXPORT void strata_inject_other(int begins);
EXPORT void strata_inject_units(void *seen);
EXPORT void strata_inject_hold(int begins);
EXPORT void strata_inject_flush(void);
EXPORT void strata_inject_stop(void);
EXPORT void strata_inject_watch(void);
EXPORT int strata_inject_watch_soon(void *unused);
EXPORT void strata_inject_wait(void);
EXPORT void strata_inject_device(const char *backend);
EXPORT void strata_inject_entered(void);
EXPORT int strata_inject_enter(const char *run, const char *python);
EXPORT void strata_inject_on_switch(void (*told)(int on));
EXPORT void strata_inject_check(void);
EXPORT void strata_inject_source(const char *text);
EXPORT void strata_inject_setting(const char *text);
EXPORT uint64_t strata_inject_wait_begin(void);
EXPORT void strata_inject_wait_end(uint64_t begin, const char *name);
EXPORT int strata_inject_unit(uint64_t warm, uint64_t kind);
EXPORT int strata_inject_unit_ends(void);
EXPORT void strata_inject_turn(void);

/* A long run of a program that was started to be recorded is not recorded throughout. */
static int inject_start(const char *backend, bool from_the_start)
{
    int rc = recording_start(backend, from_the_start);
    if (rest_wanted()) rest_start();
    return rc;
}

int InitializeInjection(void)
{
    if (parts_wanted()) {
        parts_wait();
        parts_device("cuda");
    } else {
        (void)inject_start("cuda", true);
    }
    return 1;
}

int InitializeInjectionNvtx2(nvtx_export_table_fn export_table)
{
    if (parts_wanted()) parts_wait();
    return recording_prepare() ? nvtx_attach(export_table) : 0;
}

int strata_inject_start(const char *backend)
{
    return inject_start(backend ? backend : "cuda", false);
}

/* For programs that record only parts of themselves. */
void strata_inject_pause(int paused)
{
    recording_pause(paused != 0);
}

/* For programs that are recorded on request; see parts.h. */
void strata_inject_wait(void)
{
    parts_wait();
}

/* The driver is up already: where we came later than it. */
void strata_inject_device(const char *backend)
{
    const struct backend *b = backend_find(backend);
    if (b) parts_device(b->name);
}

/* The program was not started by us: its driver may have come up before. */
void strata_inject_entered(void)
{
    parts_look_for_device();
}

/* On a thread that strata record has started in a process (src/attach). */
int strata_inject_enter(const char *run, const char *python)
{
    parts_look_for_device();
    parts_wait_in(run);
    python_enter(python);
    return 0;
}

void strata_inject_on_switch(void (*told)(int on))
{
    parts_on_switch(told);
}

/* The caller is Python code and has the GIL: the self-test of its frames can be made now. */
void strata_inject_check(void)
{
    if (pystack_init(NULL) < 0) return; /* what is wrong is noted elsewhere */
}

/* A compiler in the program knows which line a kernel comes from (DEF_SOURCE). */
void strata_inject_source(const char *text)
{
    defs_id(DEF_SOURCE, str_c(text));
}

/* What is set in the program (RING_FACT_SETTING): from its Python side. */
void strata_inject_setting(const char *text)
{
    defs_id(DEF_FACT, str_c(text));
}

/* A library of the program waits for a device on threads of its own: from its Python side. */
uint64_t strata_inject_wait_begin(void)
{
    return library_wait_begin();
}

void strata_inject_wait_end(uint64_t begin, const char *name)
{
    library_wait_end(begin, name);
}

/* Borders of units that may be recorded in depth: from modules and stages. Not 0: call the last,
 * without the GIL. */
int strata_inject_unit(uint64_t warm, uint64_t kind)
{
    return depth_unit(warm, kind);
}

int strata_inject_unit_ends(void)
{
    return depth_unit_ends();
}

void strata_inject_turn(void)
{
    depth_turn();
}

/* torch.profiler is about to begin in this program, or has ended: from its Python side. */
void strata_inject_other(int begins)
{
    for (int i = 0; backends[i]; i++) backends[i]->meet_other(begins != 0);
}

/* The calling thread matters although it has launched nothing yet. */
void strata_inject_watch(void)
{
    watched_add_me();
}

/* The same, as a call that Python's main thread makes when it comes to it. */
int strata_inject_watch_soon(void *unused)
{
    (void)unused;
    watched_add_me();
    return 0;
}

/* The Python extension, a recorder of its own, sees what the program repeats. */
void strata_inject_units(void *seen)
{
    if (seen) rest_listen(seen);
}

/* What runs from now on must be recorded, also in a long run that is not recorded throughout. */
void strata_inject_hold(int begins)
{
    rest_hold(begins != 0);
}

/* The program is about to end: what the devices have done by now is in the files afterwards. */
void strata_inject_flush(void)
{
    for (int i = 0; backends[i]; i++) backends[i]->flush();
    python_side_flush();
}

/* Ends the recording and lets another profiler in. */
void strata_inject_stop(void)
{
    rest_stop();
    recording_stop();
}
