/* sides.h: the operands of commands that compare: "BEFORE AFTER", or several per side with "vs"
 * between them. */
#ifndef STRATA_CLI_SIDES_H
#define STRATA_CLI_SIDES_H

#include <stdint.h>

#include "base/opt.h"

struct sides {
    char **paths[2];
    uint32_t n[2]; /* at least one each */
};

int sides_split(const struct opts *o, struct sides *ret, struct err *e) MUST_USE;

#endif
