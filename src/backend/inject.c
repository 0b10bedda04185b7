/* inject.c: the entry points into the user's process. The NVIDIA driver calls InitializeInjection
 * during cuInit (CUDA_INJECTION64_PATH), every copy of NVTX calls InitializeInjectionNvtx2 at its
 * first range (NVTX_INJECTION64_PATH), and a program that has loaded this library itself calls
 * strata_inject_start. Whatever happens here, the program goes on. */
#include "backend/backend.h"
#include "backend/parts.h"
#include "backend/program/library_wait.h"
#include "backend/program/nvtx.h"
#include "backend/program/pystack.h"
#include "backend/program/python_side.h"
#include "backend/program/watched.h"
#include "backend/recording.h"
#include "record/defs.h"

#define DOOR __attribute__((visibility("default")))

DOOR int InitializeInjection(void);
DOOR int InitializeInjectionNvtx2(nvtx_export_table_fn export_table);
DOOR int strata_inject_start(const char *backend);
DOOR void strata_inject_pause(int paused);
DOOR void strata_inject_other(int begins);
DOOR void strata_inject_flush(void);
DOOR void strata_inject_stop(void);
DOOR void strata_inject_watch(void);
DOOR int strata_inject_watch_soon(void *unused);
DOOR void strata_inject_wait(void);
DOOR void strata_inject_device(const char *backend);
DOOR void strata_inject_on_switch(void (*told)(int on));
DOOR void strata_inject_check(void);
DOOR void strata_inject_source(const char *text);
DOOR uint64_t strata_inject_wait_begin(void);
DOOR void strata_inject_wait_end(uint64_t begin, const char *name);

int InitializeInjection(void)
{
    if (parts_wanted()) {
        parts_wait();
        parts_device("cuda");
    } else {
        (void)recording_start("cuda", true);
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
    return recording_start(backend ? backend : "cuda", false);
}

/* For programs that record only parts of themselves. */
void strata_inject_pause(int paused)
{
    recording_pause(paused != 0);
}

/* For programs that are recorded when somebody asks for it; see parts.h. */
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

/* A library of the program waits for a device on threads of its own: from its Python side. */
uint64_t strata_inject_wait_begin(void)
{
    return library_wait_begin();
}

void strata_inject_wait_end(uint64_t begin, const char *name)
{
    library_wait_end(begin, name);
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

/* The program is about to end: what the devices have done by now is in the files afterwards. */
void strata_inject_flush(void)
{
    for (int i = 0; backends[i]; i++) backends[i]->flush();
    python_side_flush();
}

/* Ends the recording and lets another profiler in. */
void strata_inject_stop(void)
{
    recording_stop();
}
