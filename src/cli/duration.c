/* duration.c: see duration.h. */
#include "cli/duration.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS 86400000.0

static double unit_ms(const char *text)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"min", 60000}, {"h", 3600000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0) return units[i].ms;
    return 0;
}

int opt_duration(const struct opts *o, const char *name, long *ret_ms, struct err *e)
{
    const char *text = opt_get(o, name, NULL);
    char *end;
    if (!text) return 0;
    double n = strtod(text, &end);
    double ms = end != text ? n * unit_ms(end) : 0;
    if (!(ms >= 1 && ms <= DAY_MS))
        return FAIL(e, ERR_USAGE, "--%s %s: a time such as 5s, 500ms or 2m", name, text);
    *ret_ms = (long)ms;
    return 0;
}
