/* md.h: texts and tables as markdown. */
#ifndef STRATA_REPORT_MD_H
#define STRATA_REPORT_MD_H

#include "base/text.h"

/* Text from a trace must not start a heading, a table or a link. */
void md_text(struct buf *out, const char *text);

/* Text from a trace as code, also in the cell of a table. */
void md_code(struct buf *out, const char *text);

/* A table that text_table_print would align for a terminal, with a blank line before it. */
void md_table(struct buf *out, const struct text_table *t);

#endif
