/* inject.c: the entry points into the user's process. The NVIDIA driver calls InitializeInjection
 * during cuInit (CUDA_INJECTION64_PATH), every copy of NVTX calls InitializeInjectionNvtx2 at its
 * first range (NVTX_INJECTION64_PATH), and a program that has loaded this library itself calls
 * strata_inject_start. Whatever happens here, the program goes on. */
#include "backend/backend.h"
#include "backend/program/nvtx.h"
#include "backend/program/python_side.h"
#include "backend/program/watched.h"
#include "record/recorder.h"

#define DOOR __attribute__((visibility("default")))

DOOR int InitializeInjection(void);
DOOR int InitializeInjectionNvtx2(nvtx_export_table_fn export_table);
DOOR int strata_inject_start(const char *backend);
DOOR void strata_inject_pause(int paused);
DOOR void strata_inject_other(int begins);
DOOR void strata_inject_stop(void);
DOOR void strata_inject_watch(void);

static bool start_recorder(void)
{
    struct recorder_options o;
    struct err e;
    err_init(&e);
    recorder_options_from_env(&o);
    return recorder_start(&o, &e) == 0;
}

/* A backend nobody knows ("none") is none: the Python side alone. */
static int start(const char *name)
{
    struct backend_options o;
    struct python_side_options python;
    struct err e;
    err_init(&e);
    const struct backend *b = backend_find(name);
    if (!start_recorder()) return -1;
    backend_options_from_env(&o);
    python_side_options_from_env(&python);
    int rc = b ? b->start(&o, &e) : 0;
    if (rc < 0) backend_note("no GPU timeline: %s", e.msg);
    python_side_start(&python);
    return rc;
}

int InitializeInjection(void)
{
    (void)start("cuda");
    return 1;
}

int InitializeInjectionNvtx2(nvtx_export_table_fn export_table)
{
    return start_recorder() ? nvtx_attach(export_table) : 0;
}

int strata_inject_start(const char *backend)
{
    return start(backend ? backend : "cuda");
}

/* For programs that record only parts of themselves. */
void strata_inject_pause(int paused)
{
    struct python_side_options o;
    python_side_options_from_env(&o);
    for (int i = 0; backends[i]; i++) backends[i]->pause(paused != 0);
    if (paused) python_side_stop();
    else python_side_start(&o);
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

/* Ends the recording and lets another profiler in. */
void strata_inject_stop(void)
{
    for (int i = 0; backends[i]; i++) backends[i]->stop(true);
    python_side_stop();
}
