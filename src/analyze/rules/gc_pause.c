/* gc_pause.c: Python's garbage collector stops the thread that launches, and the device runs out of
 * work: automatically, because many objects are alive and many are created, or because the loop
 * calls gc.collect(). */
#include "analyze/findings/host_side.h"
#include "base/human.h"

static bool is_asked(enum host_cause c)
{
    return c == HOST_GC_ASKED;
}

static bool is_by_itself(enum host_cause c)
{
    return c == HOST_GC;
}

static int gc_pause_report(const struct context *cx, const struct host_rows *h, bool asked,
                           struct findings *out, struct err *e);

static int gc_pause_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_rows h;
    TRY(host_rows_find(cx, (struct host_rows_wanted){is_asked, 0}, &h, e));
    if (host_rows_matter(cx, &h)) TRY(gc_pause_report(cx, &h, true, out, e));
    TRY(host_rows_find(cx, (struct host_rows_wanted){is_by_itself, 0}, &h, e));
    return host_rows_matter(cx, &h) ? gc_pause_report(cx, &h, false, out, e) : 0;
}

const struct rule rule_gc_pause = {
    .id = "gc_pause",
    .summary = "Python's garbage collector stalls the GPU",
    .limit = LIMIT_CPU,
    .tries = "gc:freeze",
    .run = gc_pause_run,
};

static int gc_pause_report(const struct context *cx, const struct host_rows *h, bool asked,
                           struct findings *out, struct err *e)
{
    struct finding *f = host_rows_finding(cx, h, out, &rule_gc_pause, e);
    if (!f) return ERR_NOMEM;
    f->subject = asked ? "gc.collect()" : "Python GC";
    if (asked) {
        f->title = "gc.collect() inside the loop";
        f->tries = "gc:off";
        f->why = rule_text(cx,
                           "gc.collect() is called %s times and takes %s on average: it visits "
                           "every object of the program while nothing is launched.",
                           human_count(h->n).s, human_time(h->cpu_ns / h->n).s);
        f->fix = "Remove gc.collect() from the loop; tensors are freed without it. If something "
                 "needs it, call it every few hundred steps.";
        return 0;
    }
    f->title = "the garbage collector pauses the loop";
    f->why = rule_text(cx,
                       "Python's garbage collector runs %s times and takes %s on average; nothing "
                       "is launched meanwhile. It visits all live objects again and again because "
                       "many are created.",
                       human_count(h->n).s, human_time(h->cpu_ns / h->n).s);
    f->fix = "Call gc.collect() and gc.freeze() once before the loop, so that live objects are not "
             "visited again; or call gc.disable() and an occasional gc.collect(); or raise "
             "gc.set_threshold().";
    return 0;
}
