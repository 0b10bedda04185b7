/* view_op.c: the names, of operators and of their nodes in autograd ("TransposeBackward0"). */
#include "analyze/names/view_op.h"

#include <ctype.h>

static const char *const operators[] = {
    "t",
    "view",
    "transpose",
    "permute",
    "reshape",
    "_reshape_alias",
    "expand",
    "expand_as",
    "unsqueeze",
    "squeeze",
    "select",
    "slice",
    "as_strided",
    "detach",
    "detach_",
    "alias",
    "narrow",
    "split",
    "chunk",
    "unbind",
    "unflatten",
    "flatten",
    "_unsafe_view",
    "view_as",
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "resolve_conj",
    "resolve_neg",
    "lift_fresh",
    "result_type",
    "numpy_T",
    "adjoint",
    "movedim",
    "swapaxes",
    "diagonal",
    "unfold",
    "real",
    "view_as_real",
    "view_as_complex",
    "set_",
    "split_with_sizes",
    "T",
    "mT",
    "_unsafe_split",
    "size",
    "stride",
    "resize_",
};

static const char *const gradients[] = {
    "T",      "View",      "Transpose", "Permute",   "Reshape", "ReshapeAlias",
    "Expand", "Unsqueeze", "Squeeze",   "AsStrided", "Alias",   "UnsafeView",
    "ViewAs", "Detach",    "SwapAxes",
};

static bool view_op_in(struct str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i])) return true;
    return false;
}

static struct str view_op_skip(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return str_starts(s, prefix) ? str_from(s.p + n, s.n - n) : s;
}

bool view_op_is(struct str name)
{
    static const char backward[] = "Backward";
    name = view_op_skip(name, "autograd::engine::evaluate_function: ");
    struct str op = view_op_skip(name, "aten::");
    if (op.n != name.n) return view_op_in(op, operators, sizeof operators / sizeof *operators);
    while (name.n && isdigit((unsigned char)name.p[name.n - 1])) name.n--;
    if (!str_ends(name, backward)) return false;
    name.n -= sizeof backward - 1;
    return view_op_in(name, gradients, sizeof gradients / sizeof *gradients);
}
