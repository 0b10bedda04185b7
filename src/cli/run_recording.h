/* run_recording.h: the recordings of a run, read and analysed once for everything made of them: the
 * files of its folder and what the terminal shows. */
#ifndef STRATA_CLI_RUN_RECORDING_H
#define STRATA_CLI_RUN_RECORDING_H

#include "analyze/context.h"
#include "cli/cli.h"

struct run_recording {
    const char *folder;
    struct trace *t; /* NULL when nothing was recorded; after run_recording_finish the part shown */
    bool by_torch;   /* torch.profiler's: the device is not one we record ourselves */
    bool on_device;  /* some work of a device was recorded */
    bool analysed;   /* `cx` holds what a report needs */
    struct context cx;
    struct arena mem;
};

/* run_recording_done is due also after a failure. `folder` must live as long. */
int run_recording_open(struct run_recording *r, struct cli *cli, const char *folder,
                       struct err *e) MUST_USE;
void run_recording_done(struct run_recording *r);

/* Writes trace.json.gz for ui.perfetto.dev, analyses the part that matters, writes report.md and
 * report.html. Files that are there already stay as they are; what cannot be written is reported on
 * standard error. */
int run_recording_finish(struct run_recording *r, struct err *e) MUST_USE;

#endif
