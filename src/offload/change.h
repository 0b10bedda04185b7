/* change.h: what a scheme changes in the replay of a trace: spans of CPU time that vanish or change
 * pace, copies that take another time, and with copies ahead a model of its own. */
#ifndef STRATA_OFFLOAD_CHANGE_H
#define STRATA_OFFLOAD_CHANGE_H

#include "offload/trial.h"

struct change {
    const struct trial *tr;
    const struct scheme *sc;
    bool later; /* what stays was always there: a later step; else it stays after its first use */

    const struct sim_model *m; /* out: what to replay; works are numbered as in the trial's */
    struct sim_cut *dropped, *scaled; /* out */
    uint32_t n_dropped, n_scaled;
};

/* Fills the rest from tr, sc and later. Memory from `mem`. */
int change_make(struct change *c, struct arena *mem, struct err *e) MUST_USE;

/* Gives the copies their times and calls in a plan that was built from m, dropped and scaled. */
void change_copies(const struct change *c, struct sim_plan *plan);

/* Whether the scheme does without this load. */
bool change_drops(const struct change *c, const struct streamed_load *l);

/* Whether the scheme copies ahead, but leaves this load where it is. */
bool change_in_turn(const struct change *c, const struct streamed_load *l);

/* Whether the call lies in the load and on its thread. */
bool change_in_load(const struct change *c, const struct sim_call *call, uint32_t load);

#endif
