/* views_memory.h: memory, from a trace or a snapshot, for people and programs. */
#ifndef STRATA_REPORT_LISTS_VIEWS_MEMORY_H
#define STRATA_REPORT_LISTS_VIEWS_MEMORY_H

#include "analyze/memory/held.h"
#include "analyze/memory/memory.h"
#include "analyze/quality/integrity.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_memory.c: memory over the steps, for people and for programs. */

struct view_memory {
    const struct context *cx;
    const struct integrity *integrity;
    const struct stages *stages;
    const struct memory *memory;
    uint32_t most_steps; /* in JSON */
};

void view_memory_text(const struct screen *s, const struct view_memory *v);
void view_memory_json(struct jout *j, const char *key, const struct view_memory *v);

/* view_snapshot.c: a memory snapshot for people and for programs: who holds the memory, when it ran
 * out, what lies unused, what grows. */

void view_snapshot_text(const struct screen *s, const struct held *h);
void view_snapshot_json(struct jout *j, const struct held *h, uint32_t most);

/* What the file is, on a few lines. */
void view_snapshot_info_text(const struct screen *s, const struct held *h);
void view_snapshot_info_json(struct jout *j, const struct held *h);

#endif
