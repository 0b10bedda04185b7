/* cells.c: see cells.h. */
#include "report/cells.h"

#include <math.h>
#include <stdio.h>

#include "base/human.h"

static const struct cell_unit us = {"us", 1e3}, ms = {"ms", 1e6}, s = {"s", 1e9};

struct cell_unit cell_unit_total(double largest_ns)
{
    return largest_ns >= 10e9 ? s : largest_ns >= 10e6 ? ms : us;
}

struct cell_unit cell_unit_each(double largest_ns)
{
    return largest_ns >= 100e9 ? s : largest_ns >= 100e6 ? ms : us;
}

struct cell cell_time(double ns, struct cell_unit unit)
{
    return cell_number(ns / unit.ns);
}

struct cell cell_number(double v)
{
    struct cell c = {"-"};
    double a = fabs(v);
    if (a == 0 || !isfinite(v)) return c;
    if (a < 0.005) snprintf(c.s, sizeof c.s, "<0.01");
    else snprintf(c.s, sizeof c.s, "%.*f", a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2, v);
    return c;
}

struct cell cell_pct(double pct)
{
    struct cell c = {"-"};
    if (pct != 0 && isfinite(pct)) snprintf(c.s, sizeof c.s, "%.1f", pct);
    return c;
}

struct cell cell_count(uint64_t n)
{
    struct cell c = {"-"};
    if (n) snprintf(c.s, sizeof c.s, "%s", human_count(n).s);
    return c;
}

struct cell cell_bytes(int64_t bytes)
{
    struct cell c = {"-"};
    if (bytes) snprintf(c.s, sizeof c.s, "%s", human_bytes(bytes).s);
    return c;
}

struct cell cell_scaled(double v)
{
    static const char *const units[] = {"", " K", " M", " G", " T", " P", " E"};
    int unit = 0;
    for (; fabs(v) >= 999.5 && unit < 6; unit++) v /= 1000;
    struct cell c = cell_number(v);
    size_t n = strlen(c.s);
    snprintf(c.s + n, sizeof c.s - n, "%s", units[unit]);
    return c;
}

struct cell cell_text(struct str text, int width)
{
    struct cell c;
    human_cut(text, width, c.s, sizeof c.s);
    return c;
}
