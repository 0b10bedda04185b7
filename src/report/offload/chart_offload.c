/* chart_offload.c: see views_offload.h. One line per kind of host memory; the axis starts at zero
 * so that lengths compare; the current run is a dashed line. */
#include "report/offload/views_offload.h"

#include <math.h>

#include "base/human.h"

enum { WIDTH = 760, HEIGHT = 380, LEFT = 70, RIGHT = 130, TOP = 40, BOTTOM = 50 };

struct chart {
    struct buf *out;
    const struct plan *p;
    double most_bytes, most_ns; /* where the axes end */
};

/* 1, 2 or 5 times a power of ten that divides `most` into four to ten parts. */
static double tick_size(double most)
{
    double unit = pow(10, floor(log10(most)) - 1);
    static const double steps[] = {1, 2, 5, 10, 20, 50, 100};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (most / (unit * steps[i]) <= 6) return unit * steps[i];
    return most;
}

static double x_of(const struct chart *c, double bytes)
{
    return LEFT + bytes / c->most_bytes * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *c, double ns)
{
    return HEIGHT - BOTTOM - ns / c->most_ns * (HEIGHT - TOP - BOTTOM);
}

static void put_style(const struct chart *c)
{
    buf_printf(
        c->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
        "<title>Time by resident weights</title>\n"
        "<style>svg{--fg:#222;--grid:#ddd;--a:#c2410c;--b:#1d4ed8;background:#fff}\n"
        "@media(prefers-color-scheme:dark){svg{--fg:#ddd;--grid:#444;--a:#fb923c;--b:#93c5fd;"
        "background:#1b1b1b}}\n"
        "text{font:13px sans-serif;fill:var(--fg)}.grid{stroke:var(--grid)}\n"
        ".a,.b{fill:none;stroke-width:2.5}.a{stroke:var(--a)}.b{stroke:var(--b)}\n"
        ".ta{fill:var(--a)}.tb{fill:var(--b)}.now{stroke:var(--fg);stroke-dasharray:5 4}"
        "</style>\n",
        WIDTH, HEIGHT);
    buf_printf(
        c->out,
        "<text x=\"%d\" y=\"22\">total time of %u step%s by weights kept on the device</text>\n",
        LEFT, c->p->facts.steps, c->p->facts.steps == 1 ? "" : "s");
}

static void put_axes(const struct chart *c)
{
    double step = tick_size(c->most_ns);
    for (int i = 0; i * step <= c->most_ns * 1.0001; i++) {
        double v = i * step, y = y_of(c, v);
        buf_printf(c->out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                   LEFT, WIDTH - RIGHT, y, y);
        buf_printf(c->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                   y + 4, human_time((int64_t)v).s);
    }
    step = tick_size(c->most_bytes);
    for (int i = 0; i * step <= c->most_bytes * 1.0001; i++)
        buf_printf(c->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                   x_of(c, i * step), HEIGHT - BOTTOM + 20, human_bytes((int64_t)(i * step)).s);
    buf_printf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">resident</text>\n",
               LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 10);
}

static void chart_offload_put_line(const struct chart *c, enum offload_host h)
{
    const struct curve_point *curve = c->p->curve;
    const char *kind = h == HOST_PINNED ? "b" : "a";
    buf_printf(c->out, "<polyline class=\"%s\" points=\"", kind);
    for (int i = 0; i < PLAN_CURVE; i++)
        buf_printf(c->out, "%.1f,%.1f ", x_of(c, (double)curve[i].resident_bytes),
                   y_of(c, (double)curve[i].from[h].total_ns));
    const struct curve_point *middle = &curve[PLAN_CURVE / 2];
    buf_printf(c->out, "\"/>\n<text class=\"t%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", kind,
               x_of(c, (double)middle->resident_bytes) + 6,
               y_of(c, (double)middle->from[h].total_ns) - 8, host_name(h));
}

static void put_now(const struct chart *c)
{
    double y = y_of(c, (double)c->p->rows[c->p->base].total_ns);
    buf_printf(c->out, "<line class=\"now\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
               WIDTH - RIGHT, y, y);
    buf_printf(c->out, "<text x=\"%d\" y=\"%.1f\">as it is: %s</text>\n", WIDTH - RIGHT + 6, y + 4,
               human_time(c->p->rows[c->p->base].total_ns).s);
}

void chart_offload_svg(struct buf *out, const struct plan *p)
{
    struct chart c = {.out = out, .p = p, .most_bytes = (double)p->facts.model_bytes};
    c.most_ns = (double)p->rows[p->base].total_ns;
    for (int i = 0; i < PLAN_CURVE; i++)
        for (int h = 0; h < HOST_KINDS; h++)
            c.most_ns = fmax(c.most_ns, (double)p->curve[i].from[h].total_ns);
    if (c.most_ns < 1) c.most_ns = 1;
    put_style(&c);
    put_axes(&c);
    for (int h = 0; h < HOST_KINDS; h++) chart_offload_put_line(&c, (enum offload_host)h);
    put_now(&c);
    buf_adds(out, "</svg>\n");
}
