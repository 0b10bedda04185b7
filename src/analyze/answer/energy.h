/* energy.h: the energy that the devices took, by step, stage and token: from NVML's counter of all
 * energy, which our recorder reads twice per second, or where a device has none from its power,
 * read ten times per second.
 *
 * Between two readings energy is spread evenly, so what is shorter than that has a share by time.
 * On many devices power is the mean of the second before, and follows what happens by so much. A
 * stage has the energy that its device took while the work ran that the stage launched, whenever
 * that was; what is left over was taken while none of it ran. */
#ifndef STRATA_ANALYZE_ANSWER_ENERGY_H
#define STRATA_ANALYZE_ANSWER_ENERGY_H

#include "analyze/stages/stages.h"

/* One reading of a device: watts, or the joules of its counter. */
struct energy_reading {
    int64_t ts_ns;
    double value;
};

/* The power of a device over time. */
struct energy_power {
    int32_t device;
    const struct energy_reading *readings; /* by time */
    uint32_t n;
};

enum energy_by { ENERGY_UNKNOWN, ENERGY_BY_COUNTER, ENERGY_BY_POWER };

struct energy_stage {
    const struct stage *stage;
    double joules, per_call;
};

struct energy {
    enum energy_by by;           /* of the device that is known least well */
    uint32_t devices;            /* with readings */
    double joules;               /* of all of them, during the wall clock */
    double mean_w, most_w;       /* of all together; of one reading of one device */
    double per_step;             /* NaN where nothing repeats */
    double per_token;            /* of a server of language models in one phase; NaN */
    int64_t every_ns;            /* between readings of the counter, or of power */
    struct energy_stage *stages; /* of parts of the program that launched work; in their order */
    uint32_t n_stages;
    struct energy_power *power; /* of devices with readings */
    uint32_t n_power;
};

extern const struct pass energy_pass;

static inline const struct energy *energy_of(const struct context *cx)
{
    return context_kept(cx, PASS_ENERGY);
}

const char *energy_by_name(enum energy_by by); /* "counter", "power" */

#endif
