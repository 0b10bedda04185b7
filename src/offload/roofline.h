/* roofline.h: how long modules compute where nothing measured it: the larger of their arithmetic at
 * the rate the device reaches and of reading their weights once. */
#ifndef STRATA_OFFLOAD_ROOFLINE_H
#define STRATA_OFFLOAD_ROOFLINE_H

#include "offload/facts.h"

/* Fills in the rates of a device of compute capability `major` (0: not known) that nobody gave. */
void roofline_rates(struct facts *f, int major);

/* Sets compute_ns of the modules and of the step when neither is known and the work is: FLOPs from
 * the list of modules, or f->tokens rows through every weight. Needs the rates. */
void roofline_compute(struct facts *f);

#endif
