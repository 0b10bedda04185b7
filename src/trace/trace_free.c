/* trace_free.c: the end of a trace: every column in the list, and what stands beside them. */
#include "base/mem.h"
#include "trace/column.h"

static void free_columns(struct trace *t)
{
    for (int i = 0; i < trace_n_columns; i++) mem_free(*column_items(&trace_columns[i], t));
}

void trace_free(struct trace *t)
{
    if (!t) return;
    if (t->columns_owned) free_columns(t);
    if (t->args) t->args->free(t->args);
    mem_free(t->lanes);
    mem_free(t->processes);
    mem_free(t->devices);
    mem_free(t->metas);
    mem_free(t->cats);
    mem_free(t->path);
    intern_done(&t->strings);
    file_unmap(&t->mapping);
    mem_free(t);
}
