/* offload_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_OFFLOAD_OFFLOAD_PRIVATE_H
#define STRATA_OFFLOAD_OFFLOAD_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct facts;
struct plan;
struct arena;
struct trial;
struct scheme;
struct sim_model;
struct sim_cut;
struct sim_call;
struct sim_plan;
struct streamed_load;
struct change;

/* facts.c: how long modules compute where nothing measured it: the larger of their
 * arithmetic at the rate the device reaches and of reading their weights once. */

/* Fills in the rates of a device of compute capability `major` (0: not known) that was not given.
 */
void assumed_rates(struct facts *f, int major);

/* Sets compute_ns of the modules and of the step when neither is known and the work is: FLOPs from
 * the list of modules, or f->tokens rows through every weight. Needs the rates. */
void assumed_compute(struct facts *f);

/* advice.c: what the numbers of a plan mean: which of them do not fit together, and what to do. */

/* Fills inconsistent, advice and the predictions of measured runs. Texts in `mem`. */
int advice_run(struct plan *p, struct arena *mem, struct err *e) MUST_USE;

/* change.c: what a scheme changes in the replay of a trace: spans of CPU time that vanish or change
 * pace, copies that take another time, and with copies ahead a model of its own. */

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

/* prefetch.c: the replay model of a run that copies weights ahead, on a stream of their own.
 *
 *     CPU          [wait compute i-1][wait copy i][issue copy i+d] launch compute i ...
 *     copy stream   ====copy i====   ====copy i+1====
 *     compute       ###i-1###            ###compute i###
 *
 * A group (a module or a block) is copied while the d groups before it compute. In the usual
 * implementation the CPU waits for the previous group's kernels before it frees their memory, and
 * for the copy of a group before it launches its kernels. A better one lets the streams wait for
 * each other through events, and the CPU run ahead. */

/* Makes c->m a copy of the trial's model with copies moved and waits added, and adds to c->scaled.
 * Memory from `mem`. */
int prefetch_move(struct change *c, struct arena *mem, struct err *e) MUST_USE;

#endif
