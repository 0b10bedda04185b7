/* module_name.h: how torch's modules are written in stacks: "nn.Module: Linear_3". */
#ifndef STRATA_TRACE_MODULE_NAME_H
#define STRATA_TRACE_MODULE_NAME_H

#include "base/str.h"

/* "LlamaDecoderLayer" of "nn.Module: LlamaDecoderLayer_3"; empty for other names. */
static inline struct str module_class(struct str name)
{
    static const char start[] = "nn.Module: ";
    const size_t skip = sizeof start - 1;
    if (name.n <= skip || !str_starts(name, start)) return (struct str){"", 0};
    struct str s = str_from(name.p + skip, name.n - skip);
    size_t n = s.n;
    while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9') n--;
    if (n > 1 && n < s.n && s.p[n - 1] == '_') s.n = n - 1;
    return s;
}

#endif
