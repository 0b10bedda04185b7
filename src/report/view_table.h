/* view_table.h: the operator table for people and for programs. */
#ifndef STRATA_REPORT_VIEW_TABLE_H
#define STRATA_REPORT_VIEW_TABLE_H

#include "analyze/context.h"
#include "analyze/ops/op_table.h"
#include "report/screen.h"

/* What the table is about besides time: its columns are shown even without --wide. */
enum view_table_focus { FOCUS_TIME, FOCUS_CPU_MEMORY, FOCUS_DEVICE_MEMORY, FOCUS_FLOPS };

struct view_table_opts {
    enum op_by by;
    enum view_table_focus focus;
    bool wide; /* every column, however wide */
};

void view_table_text(const struct screen *s, const struct op_table *table,
                     const struct view_table_opts *o);

/* At most `limit` rows. */
void view_table_json(struct buf *out, const struct context *cx, const struct op_table *table,
                     const struct view_table_opts *o, uint32_t limit);

#endif
