/* snapshot.c: see snapshot.h. */
#include "trace/snapshot.h"

#include "base/mem.h"

void snapshot_free(struct snapshot *s)
{
    if (!s) return;
    intern_done(&s->strings);
    mem_free(s->frames);
    mem_free(s->stacks);
    mem_free(s->stack_frames);
    mem_free(s->segments);
    mem_free(s->blocks);
    mem_free(s->events);
    mem_free(s);
}
