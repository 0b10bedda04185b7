/* structure_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STRUCTURE_STRUCTURE_PRIVATE_H
#define STRATA_ANALYZE_STRUCTURE_STRUCTURE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct levels;
struct level_round;
struct outline;

/* levels.c: the call that makes up most of a round, or ITEM_NONE. */
uint32_t level_main(const struct outline *o, const struct level_round *r);

/* levels_judge.c: tells layers from steps and chooses the level that is the program's loop.
 * `inside`: the levels lie in rounds that are known already. */
int levels_judge(const struct outline *o, struct levels *ls, bool inside, struct err *e) MUST_USE;

#endif
