/* serving_label.c: see serving_label.h. */
#include "analyze/names/serving_label.h"

#include <ctype.h>

/* The number behind `key`, or -1. */
static int64_t serving_label_number(struct str name, const char *key)
{
    long at = str_find(name, key);
    int64_t n = -1;
    if (at < 0) return -1;
    for (size_t i = (size_t)at + strlen(key); i < name.n && isdigit((unsigned char)name.p[i]);
         i++) {
        if (n > INT32_MAX) return -1;
        n = (n < 0 ? 0 : n * 10) + (name.p[i] - '0');
    }
    return n;
}

static struct serving_label serving_label_bracket(struct str name)
{
    struct serving_label l = {.requests = serving_label_number(name, "bs=")};
    bool decode = str_has(name, "DECODE"),
         prefill = str_has(name, "EXTEND") || str_has(name, "PREFILL");
    if (str_has(name, "MIXED") || (decode && prefill)) l.phase = SERVING_MIXED;
    else if (decode) l.phase = SERVING_DECODE;
    else if (prefill) l.phase = SERVING_PREFILL;
    l.decoding = l.phase == SERVING_DECODE ? l.requests : 0;
    return l;
}

static struct serving_label serving_label_execute(struct str name)
{
    int64_t context = serving_label_number(name, "_context_");
    int64_t generation = serving_label_number(name, "_generation_");
    struct serving_label l = {.requests = context + generation, .decoding = generation};
    if (context < 0 || generation < 0) return (struct serving_label){0};
    l.phase = context == 0 ? SERVING_DECODE : generation == 0 ? SERVING_PREFILL : SERVING_MIXED;
    return l;
}

struct serving_label serving_label_of(struct str name)
{
    if (str_starts(name, "step[")) return serving_label_bracket(name);
    if (str_starts(name, "execute_")) return serving_label_execute(name);
    return (struct serving_label){0};
}

const char *serving_phase_name(enum serving_phase p)
{
    static const char *const names[] = {"none", "prefill", "decode", "mixed"};
    return names[p];
}
