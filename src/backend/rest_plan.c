/* rest_plan.c: see rest.h. */
#include "backend/rest.h"

#define SECOND 1000000000.0

static const double first_least_ns =
                        10 * SECOND, /* recorded before the first rest, from the first work on */
    first_most_ns = 30 * SECOND,     /* where units are not steady, or not known */
    window_least_ns = 1 * SECOND,    /* recorded after waking */
    window_most_ns = 30 * SECOND,    /* where units are that long */
    rest_first_ns = 10 * SECOND, rest_most_ns = 60 * SECOND, rest_windows = 20;
static const double changed = 0.25; /* of the time that units took before */
enum { UNITS_PER_WINDOW = 3 };      /* the first of them began before */

static double rest_plan_since(const struct rest_plan *p, const struct rest_look *k)
{
    return (double)(k->now_ns - p->since_ns) / p->scale;
}

/* Units take longer than before, or less long. */
static bool rest_plan_has_drifted(const struct rest_plan *p, const struct rest_look *k)
{
    if (!p->usual_ns || !k->usual_ns || !k->steady) return false;
    double ratio = (double)k->usual_ns / (double)p->usual_ns;
    return ratio > 1 + changed || ratio < 1 / (1 + changed);
}

static bool rest_plan_wakes(const struct rest_plan *p, const struct rest_look *k)
{
    double ns = rest_plan_since(p, k);
    return k->held || ns >= (double)p->slept ||
           (ns >= rest_first_ns && rest_plan_has_drifted(p, k));
}

static bool rest_plan_is_tired(const struct rest_plan *p, const struct rest_look *k)
{
    double ns = rest_plan_since(p, k);
    if (k->held) return false;
    if (!p->n_rests) return ns >= (k->steady ? first_least_ns : first_most_ns);
    if (ns < window_least_ns) return false;
    return ns >= window_most_ns || !k->name ||
           (k->name == p->name && k->n - p->n >= UNITS_PER_WINDOW);
}

/* Longer each time, and long beside what was recorded just now. */
static uint64_t rest_plan_length(const struct rest_plan *p, double window_ns)
{
    double ns = rest_first_ns;
    for (uint32_t i = 0; i < p->n_rests && ns < rest_most_ns; i++) ns *= 2;
    if (ns > rest_most_ns) ns = rest_most_ns;
    if (p->n_rests && ns < rest_windows * window_ns) ns = rest_windows * window_ns;
    return (uint64_t)ns;
}

bool rest_plan_look(struct rest_plan *p, const struct rest_look *k)
{
    if (!p->began_ns && !k->works) return false;
    if (!p->began_ns) p->began_ns = p->since_ns = k->now_ns;
    if (p->resting ? !rest_plan_wakes(p, k) : !rest_plan_is_tired(p, k)) return p->resting;
    if (!p->resting) p->slept = rest_plan_length(p, rest_plan_since(p, k));
    if (!p->resting) p->usual_ns = k->steady ? k->usual_ns : 0;
    p->n_rests += !p->resting;
    p->resting = !p->resting;
    p->since_ns = k->now_ns;
    p->name = k->name;
    p->n = k->n;
    return p->resting;
}
