/* view_memory.h: memory over the steps, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_MEMORY_H
#define STRATA_REPORT_VIEW_MEMORY_H

#include "analyze/memory/memory.h"
#include "analyze/quality/integrity.h"
#include "report/screen.h"

struct view_memory {
    const struct context *cx;
    const struct integrity *integrity;
    const struct stages *stages;
    const struct memory *memory;
    uint32_t most_steps; /* in JSON */
};

void view_memory_text(const struct screen *s, const struct view_memory *v);
void view_memory_json(struct buf *out, const struct view_memory *v);

#endif
