/* advice.h: what the numbers of a plan mean: which of them do not fit together, and what to do. */
#ifndef STRATA_OFFLOAD_ADVICE_H
#define STRATA_OFFLOAD_ADVICE_H

#include "offload/planner.h"

/* Fills inconsistent, advice and the predictions of measured runs. Texts in `mem`. */
int advice_run(struct plan *p, struct arena *mem, struct err *e) MUST_USE;

#endif
