/* nccl_plugin.h: NCCL's profiler interface. NCCL loads our library by NCCL_PROFILER_PLUGIN and
 * describes every collective and every message after it has launched the kernel: communicator,
 * number, count, type, algorithm, protocol, channels. That becomes a note (collective_note.h); the
 * kernel is timed by CUPTI.
 *
 * It is where programs that use NCCL without torch say what they send. Nothing here fails: NCCL
 * would go on without a profiler, but with a warning. */
#ifndef STRATA_BACKEND_NCCL_PLUGIN_H
#define STRATA_BACKEND_NCCL_PLUGIN_H

#include <stdbool.h>

/* Whether notes are written; before the first call they are, once NCCL has loaded us. */
void nccl_plugin_switch(bool on);

#endif
