/* recording.c: see recording.h. */
#include "backend/recording.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "backend/nccl/nccl_notes.h"
#include "backend/program/python_side.h"
#include "record/recorder.h"

static atomic_bool no_device;

void recording_expect_device(bool device)
{
    atomic_store(&no_device, !device);
}

static void python_options(struct python_side_options *o)
{
    python_side_options_from_env(o);
    if (atomic_load(&no_device) && !getenv("STRATA_OPS")) o->ops = TORCH_OPS_ALL;
}

bool recording_prepare(void)
{
    struct recorder_options o;
    struct err e;
    err_init(&e);
    recorder_options_from_env(&o);
    return recorder_start(&o, &e) == 0;
}

int recording_start(const char *name, bool from_the_start)
{
    struct backend_options o;
    struct python_side_options python;
    struct err e;
    err_init(&e);
    const struct backend *b = backend_find(name);
    if (!recording_prepare()) return -1;
    backend_options_from_env(&o);
    o.from_the_start = from_the_start;
    python_options(&python);
    python.late = !from_the_start;
    int rc = b ? b->start(&o, &e) : 0;
    if (rc < 0) backend_note("no GPU timeline: %s", e.msg);
    python_side_start(&python);
    nccl_notes_switch(true);
    if (flight_wanted()) flight_start();
    return rc;
}

void recording_pause(bool paused)
{
    struct python_side_options o;
    python_options(&o);
    o.late = true;
    for (int i = 0; backends[i]; i++) backends[i]->pause(paused);
    nccl_notes_switch(!paused);
    if (paused) python_side_stop();
    else python_side_start(&o);
}

void recording_rest(bool rest)
{
    struct python_side_options o;
    python_options(&o);
    o.late = true;
    for (int i = 0; backends[i]; i++) backends[i]->pause(rest);
    nccl_notes_switch(!rest);
    if (rest) python_side_rest();
    else python_side_start(&o);
}

void recording_stop(void)
{
    for (int i = 0; backends[i]; i++) backends[i]->stop(true);
    nccl_notes_switch(false);
    python_side_stop();
}
