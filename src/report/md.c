/* md.c: see md.h. */
#include "report/md.h"

#include <string.h>

/* `>` quotes at the beginning only; in the middle it is the end of what `<` would have begun. */
void md_text(struct buf *out, const char *text)
{
    if (*text == '>') buf_addc(out, '\\');
    for (; *text; text++) {
        if (strchr("\\|`*_<[]#", *text)) buf_addc(out, '\\');
        buf_addc(out, *text == '\n' ? ' ' : *text);
    }
}

/* Nothing can be escaped inside of code, so that a quote would end it. */
void md_code(struct buf *out, const char *text)
{
    buf_addc(out, '`');
    if (!*text) buf_addc(out, '-');
    for (; *text; text++) {
        if (*text == '|') buf_addc(out, '\\');
        buf_addc(out, *text == '\n' ? ' ' : *text == '`' ? '\'' : *text);
    }
    buf_addc(out, '`');
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
