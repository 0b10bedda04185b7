/* text.c: see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/human.h"
#include "base/mem.h"
#include "base/utf8.h"

#define NARROWEST 16 /* the first column is never cut below this */

void text_table_init(struct text_table *t)
{
    *t = (struct text_table){0};
    arena_init(&t->mem);
}

void text_table_done(struct text_table *t)
{
    arena_done(&t->mem);
    mem_free(t->rows);
    mem_free(t->styles);
    *t = (struct text_table){0};
}

void text_table_col(struct text_table *t, const char *head, enum text_align align)
{
    if (t->n_cols == TEXT_COLS) return;
    t->head[t->n_cols] = head;
    t->align[t->n_cols++] = align;
}

static bool grow(struct text_table *t)
{
    int cap = t->cap_rows ? t->cap_rows * 2 : 32;
    const char ***rows = mem_grow(t->rows, (size_t)cap, sizeof *rows);
    if (!rows) return true;
    t->rows = rows;
    unsigned char *styles = mem_grow(t->styles, (size_t)cap, 1);
    if (!styles) return true;
    t->styles = styles;
    t->cap_rows = cap;
    return false;
}

void text_table_row(struct text_table *t, enum text_style style)
{
    if (t->n_rows == t->cap_rows && grow(t)) t->failed = true;
    const char **cells = t->failed ? NULL : arena_zalloc(&t->mem, TEXT_COLS, sizeof *cells);
    if (!cells) {
        t->failed = true;
        return;
    }
    t->rows[t->n_rows] = cells;
    t->styles[t->n_rows++] = (unsigned char)style;
}

void text_table_cell(struct text_table *t, int col, const char *text)
{
    if (t->failed || t->n_rows == 0 || col >= t->n_cols) return;
    char *copy = arena_strdup(&t->mem, str_c(text));
    if (!copy) t->failed = true;
    else t->rows[t->n_rows - 1][col] = copy;
}

void text_table_cellf(struct text_table *t, int col, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_table_cell(t, col, text);
}

static const char *style_on(enum text_style s)
{
    static const char *const on[] = {"", "\033[31m", "\033[33m", "\033[32m", "\033[2m", "\033[1m"};
    return on[s];
}

void text_styled(struct buf *out, enum text_style style, bool color, const char *text)
{
    bool styled = color && style != TEXT_PLAIN;
    if (styled) buf_adds(out, style_on(style));
    buf_adds(out, text);
    if (styled) buf_adds(out, "\033[0m");
}

static void put_cell(const struct text_table *t, struct buf *out, int col, const char *text,
                     int width)
{
    char cut[512];
    struct str s = str_c(text ? text : "");
    if (col == 0) s = str_c(human_cut(s, width, cut, sizeof cut));
    int pad = width - utf8_width(s);
    if (t->align[col] == TEXT_RIGHT) buf_pad(out, ' ', pad);
    buf_add_str(out, s);
    if (t->align[col] == TEXT_LEFT && col + 1 < t->n_cols) buf_pad(out, ' ', pad);
}

static void put_row(const struct text_table *t, struct buf *out, const char *const *cells,
                    const int *widths, int indent)
{
    buf_pad(out, ' ', indent);
    for (int c = 0; c < t->n_cols; c++) {
        if (c) buf_adds(out, "  ");
        put_cell(t, out, c, cells[c], widths[c]);
    }
    while (out->n && out->p[out->n - 1] == ' ') out->n--;
}

void text_table_print(const struct text_table *t, struct buf *out, int indent, int width,
                      bool color)
{
    int widths[TEXT_COLS] = {0};
    int total = indent;
    for (int c = 0; c < t->n_cols; c++) {
        widths[c] = utf8_width(str_c(t->head[c]));
        for (int r = 0; r < t->n_rows; r++) {
            const char *cell = t->rows[r][c];
            int w = cell ? utf8_width(str_c(cell)) : 0;
            if (w > widths[c]) widths[c] = w;
        }
        total += widths[c] + (c ? 2 : 0);
    }
    if (total > width && t->n_cols) {
        int room = widths[0] - (total - width);
        widths[0] = room < NARROWEST ? (widths[0] < NARROWEST ? widths[0] : NARROWEST) : room;
    }
    if (color) buf_adds(out, style_on(TEXT_DIM));
    put_row(t, out, t->head, widths, indent);
    if (color) buf_adds(out, "\033[0m");
    buf_addc(out, '\n');
    for (int r = 0; r < t->n_rows; r++) {
        bool styled = color && t->styles[r];
        if (styled) buf_adds(out, style_on(t->styles[r]));
        put_row(t, out, t->rows[r], widths, indent);
        if (styled) buf_adds(out, "\033[0m");
        buf_addc(out, '\n');
    }
    if (t->failed) out->failed = true;
}
