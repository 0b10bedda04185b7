/* xla_name.c: see xla_name.h. */
#include "import/xla_name.h"

/* The value of `key` ("hlo_op=") in "...#key=value,key=value#"; empty when there is none. */
static struct str value_of(struct str name, const char *key)
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
    struct str module = value_of(name, "hlo_module="), op = value_of(name, "hlo_op=");
    if (op.n) {
        struct str from = value_of(name, "name=");
        *ret = from.n ? from : op;
        return XLA_OP;
    }
    *ret = module;
    return module.n && str_has(name, "XlaModule:") ? XLA_MODULE : XLA_NONE;
}
