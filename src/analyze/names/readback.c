/* readback.c: the table. Operators that call one of these inside need not stand here. */
#include "analyze/names/readback.h"

static const struct {
    const char *op;
    enum readback readback;
} ops[] = {
    {"aten::_local_scalar_dense", READBACK_ONLY},
    {"aten::item", READBACK_ONLY},
    {"aten::is_nonzero", READBACK_ONLY},
    {"aten::nonzero", READBACK_PART},
    {"aten::equal", READBACK_PART},
    {"aten::_unique2", READBACK_PART},
    {"aten::unique_dim", READBACK_PART},
    {"aten::unique_consecutive", READBACK_PART},
    {"aten::masked_select", READBACK_PART},
};

enum readback readback_of(struct str op)
{
    if (str_starts(op, "jax.Array.")) return READBACK_ONLY; /* "__float__": jax_side.py */
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_is(op, ops[i].op)) return ops[i].readback;
    return READBACK_NONE;
}
