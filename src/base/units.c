/* units.c: see units.h. */
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST 0x1p60

struct unit {
    const char *name;
    double factor;
};

static const struct unit sizes[] = {
    {"", 1},         {"b", 1},        {"k", 1e3},      {"kb", 1e3},     {"m", 1e6},
    {"mb", 1e6},     {"g", 1e9},      {"gb", 1e9},     {"t", 1e12},     {"tb", 1e12},
    {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"tib", 0x1p40}, {NULL, 0},
};

static const struct unit times[] = {
    {"", 1e9},    {"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
    {"sec", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};

static int units_parse(const char *text, const struct unit *units, double *ret)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || !isfinite(v) || v < 0) return ERR_USAGE;
    while (*end == ' ') end++;
    for (const struct unit *u = units; u->name; u++) {
        if (strcasecmp(end, u->name) != 0) continue;
        *ret = v * u->factor;
        return *ret < MOST ? 0 : ERR_USAGE;
    }
    return ERR_USAGE;
}

int units_bytes(const char *text, const char *what, int64_t *ret, struct err *e)
{
    double v;
    if (units_parse(text, sizes, &v) < 0)
        return FAIL(e, ERR_USAGE, "%s takes a size such as 8GB or 500MiB, not '%s'", what, text);
    *ret = llround(v);
    return 0;
}

int units_time_ns(const char *text, const char *what, int64_t *ret, struct err *e)
{
    double v;
    if (units_parse(text, times, &v) < 0)
        return FAIL(e, ERR_USAGE, "%s takes a time such as 4s, 250ms or 2m, not '%s'", what, text);
    *ret = llround(v);
    return 0;
}
