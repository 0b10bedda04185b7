/* sides.c: see sides.h. */
#include "cli/sides.h"

#include <string.h>

int sides_split(const struct opts *o, struct sides *ret, struct err *e)
{
    int vs = -1;
    for (int i = 0; i < o->n_args; i++)
        if (strcmp(o->args[i], "vs") == 0) vs = i;
    if (vs < 0 && o->n_args != 2)
        return FAIL(e, ERR_USAGE,
                    "give BEFORE and AFTER, or several per side with 'vs' between them");
    if (vs == 0 || vs == o->n_args - 1)
        return FAIL(e, ERR_USAGE, "there is nothing on one side of 'vs'");
    int from = vs < 0 ? 1 : vs + 1;
    *ret = (struct sides){{o->args, o->args + from},
                          {vs < 0 ? 1 : (uint32_t)vs, (uint32_t)(o->n_args - from)}};
    return 0;
}
