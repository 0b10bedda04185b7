/* stage_pick.h: which stages a table shows that has no room for all of them: the largest, in the
 * order of the program. */
#ifndef STRATA_REPORT_LISTS_STAGE_PICK_H
#define STRATA_REPORT_LISTS_STAGE_PICK_H

#include "analyze/stages/stages.h"
#include "report/result_text.h"

struct stage_pick {
    uint32_t *list; /* indices into stages.list, ascending */
    uint32_t n;
    uint32_t n_left; /* those there was no room for */
};

/* At most `most` of the stages that are at most `deepest` levels inside others; with `parts_only`,
 * of the parts of the program. Returns false when out of memory: then nothing is picked. */
bool stage_pick_run(const struct stages *st, uint32_t deepest, bool parts_only, uint32_t most,
                    struct stage_pick *ret);
void stage_pick_done(struct stage_pick *p);

/* What a table calls a stage: its name under those around it. Returns `out`. */
const char *stage_label(const struct stage *s, char *out, size_t cap);

/* The chosen stages with their main columns, and what lies between them: on the screen of a report
 * and in markdown. result_text_done is due. */
void stage_table(struct result_text *t, const struct context *cx, const struct stage_pick *pick,
                 bool cpu_only);

#endif
