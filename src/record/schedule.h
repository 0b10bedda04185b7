/* schedule.h: which steps of a loop are recorded; counts as torch.profiler.schedule does. */
#ifndef STRATA_RECORD_SCHEDULE_H
#define STRATA_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "strata/strata.h"

enum schedule_phase { SCHEDULE_SKIPPED, SCHEDULE_WARMUP, SCHEDULE_ACTIVE };

/* The phase of step `n` under `s`; without active steps nothing is ever recorded. */
enum schedule_phase schedule_phase(const struct strata_schedule *s, uint64_t n);

/* The schedule of this process, counted from the next step on, which is step 0; until then nothing
 * is recorded. NULL records everything. */
void schedule_set(const struct strata_schedule *s);
bool schedule_active(void);

struct schedule_change {
    uint64_t number; /* of the step that begins */
    bool was_active, active;
    bool getting_ready; /* a warm-up step begins */
};
/* A step begins. */
struct schedule_change schedule_next(void);

#endif
