/* op_range.c: see op_range.h. */
#include "import/op_range.h"

#include <ctype.h>

/* The value of `key` ("hlo_op=") in "...#key=value,key=value#"; empty when there is none. */
static struct str xla_name_value_of(struct str name, const char *key)
{
    size_t n = strlen(key);
    for (size_t at = 1; at + n <= name.n; at++) {
        char before = name.p[at - 1];
        if ((before != '#' && before != ',') || memcmp(name.p + at, key, n) != 0) continue;
        size_t end = at + n;
        while (end < name.n && name.p[end] != ',' && name.p[end] != '#') end++;
        return str_from(name.p + at + n, end - at - n);
    }
    return (struct str){name.p, 0};
}

enum xla_range xla_name(struct str name, struct str *ret)
{
    struct str module = xla_name_value_of(name, "hlo_module="),
               op = xla_name_value_of(name, "hlo_op=");
    if (op.n) {
        struct str from = xla_name_value_of(name, "name=");
        *ret = from.n ? from : op;
        return XLA_OP;
    }
    *ret = module;
    return module.n && str_has(name, "XlaModule:") ? XLA_MODULE : XLA_NONE;
}

/* Where ", key = " begins in the text; its length when it has none. */
static size_t op_range_at(struct str text, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n <= text.n; i++)
        if (memcmp(text.p + i, key, n) == 0) return i;
    return text.n;
}

/* The number behind ", key = ", or ID_NONE. */
static int64_t op_range_number(struct str text, const char *key)
{
    size_t at = op_range_at(text, key);
    int64_t n = ID_NONE;
    for (at += strlen(key); at < text.n && isdigit((unsigned char)text.p[at]); at++) {
        if (n > INT64_MAX / 100) return ID_NONE;
        n = (n == ID_NONE ? 0 : n * 10) + (text.p[at] - '0');
    }
    return n;
}

/* The list behind ", sizes = ", brackets included; empty when there is none. */
static struct str op_range_sizes(struct str text)
{
    static const char key[] = ", sizes = ";
    size_t at = op_range_at(text, key);
    if (at == text.n) return str_c("");
    size_t begin = at + sizeof key - 1, i = begin;
    int depth = 0;
    for (; i < text.n; i++) {
        depth += (text.p[i] == '[') - (text.p[i] == ']');
        if (depth == 0) break;
    }
    return i < text.n ? str_from(text.p + begin, i + 1 - begin) : str_c("");
}

/* Whether the name is one of torch's operators, in the range of any recorder. */
static bool op_range_is_torch(struct str name)
{
    static const char *const spaces[] = {
        "aten::", "prim::", "c10d::", "_c10d_functional::", "torch::", "autograd::engine::"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_starts(name, spaces[i])) return true;
    return false;
}

/* With the number of an operator, any name with a namespace in small letters, or of a node of
 * autograd: record_function writes such numbers too. */
static bool op_range_is_numbered(struct str name)
{
    size_t i = 0;
    while (i < name.n && (islower((unsigned char)name.p[i]) || isdigit((unsigned char)name.p[i]) ||
                          name.p[i] == '_'))
        i++;
    if (i && i + 1 < name.n && name.p[i] == ':' && name.p[i + 1] == ':') return true;
    while (name.n && isdigit((unsigned char)name.p[name.n - 1])) name.n--;
    return str_ends(name, "Backward");
}

int op_range_fill(struct batch *p, struct str text, struct batch_row *row, struct op_info *op)
{
    static const char *const keys[] = {", op_id = ", ", seq = ", ", sizes = ", ", input_op_ids = "};
    *op = (struct op_info){ID_NONE, ID_NONE, 0, STR_NONE, STR_NONE, STR_NONE};
    struct str name = text;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t at = op_range_at(text, keys[i]);
        if (at < name.n) name.n = at;
    }
    bool numbered = name.n < text.n && op_range_at(text, keys[0]) < text.n;
    bool of_torch = op_range_is_torch(name) || (numbered && op_range_is_numbered(name));
    row->kind = of_torch ? KIND_OP : KIND_ANNOTATION;
    if (!numbered && !of_torch) name = text;
    row->name = intern_add(batch_strings(p), name);
    struct str sizes = of_torch ? op_range_sizes(text) : str_c("");
    if (of_torch) op->sequence = op_range_number(text, ", seq = ");
    if (sizes.n) op->dims = intern_add(batch_strings(p), sizes);
    return row->name == STR_NONE || (sizes.n && op->dims == STR_NONE) ? ERR_NOMEM : 0;
}
