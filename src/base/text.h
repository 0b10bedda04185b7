/* text.h: plain aligned tables for the terminal. Numbers to the right, names to the left and cut
 * in the middle when the line would grow past its width. */
#ifndef STRATA_BASE_TEXT_H
#define STRATA_BASE_TEXT_H

#include "base/arena.h"
#include "base/buf.h"

enum text_align { TEXT_LEFT, TEXT_RIGHT };
enum text_style { TEXT_PLAIN, TEXT_RED, TEXT_YELLOW, TEXT_GREEN, TEXT_DIM, TEXT_BOLD };

#define TEXT_COLS 20

struct text_table {
    struct arena mem;
    int n_cols, n_rows, cap_rows;
    const char *head[TEXT_COLS];
    enum text_align align[TEXT_COLS];
    const char ***rows; /* rows[i][col], NULL where nothing was put */
    unsigned char *styles;
    bool failed;
};

void text_table_init(struct text_table *t);
void text_table_done(struct text_table *t);
void text_table_col(struct text_table *t, const char *head, enum text_align align);

/* Starts a row; cells follow in any order. Cells are copied, and cleaned of what a terminal obeys.
 */
void text_table_row(struct text_table *t, enum text_style style);
void text_table_cell(struct text_table *t, int col, const char *text);
void text_table_cellf(struct text_table *t, int col, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints with `indent` blanks in front, at most `width` columns as long as cutting the left-aligned
 * columns, the first one first, can do it. */
void text_table_print(const struct text_table *t, struct buf *out, int indent, int width,
                      bool color);

/* `text` in lines of at most `width` columns, broken at blanks, but not between a number and its
 * unit; a newline in it breaks too. The first line starts where the caller stands, at column
 * `indent`; the others are indented so far. */
void text_wrap(struct buf *out, const char *text, int indent, int width);

/* `text` between the escapes of the style, or bare. */
void text_styled(struct buf *out, enum text_style style, bool color, const char *text);

#endif
