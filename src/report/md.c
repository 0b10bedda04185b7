/* md.c: see md.h. */
#include "report/md.h"

#include <string.h>

void md_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\|`*_<>[]#", *text)) buf_addc(out, '\\');
        buf_addc(out, *text == '\n' ? ' ' : *text);
    }
}

void md_table(struct buf *out, const struct text_table *t)
{
    buf_adds(out, "\n|");
    for (int c = 0; c < t->n_cols; c++) buf_printf(out, " %s |", t->head[c]);
    buf_adds(out, "\n|");
    for (int c = 0; c < t->n_cols; c++) buf_adds(out, t->align[c] == TEXT_RIGHT ? "--:|" : "---|");
    buf_addc(out, '\n');
    for (int r = 0; r < t->n_rows; r++) {
        buf_addc(out, '|');
        for (int c = 0; c < t->n_cols; c++) {
            buf_addc(out, ' ');
            md_text(out, t->rows[r][c] ? t->rows[r][c] : "");
            buf_adds(out, " |");
        }
        buf_addc(out, '\n');
    }
    if (t->failed) out->failed = true;
}
