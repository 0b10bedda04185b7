/* basics.c: see basics.h. */
#include "analyze/basics.h"

int basics_run(const struct trace *t, struct arena *mem, struct basics *ret, struct err *e)
{
    ret->t = t;
    TRY(calls_init(&ret->calls, t, mem, e));
    TRY(timeline_run(t, mem, &ret->timeline, e));
    return steps_run(t, ret, mem, &ret->steps, e);
}
