/* text.c: see text.h. */
#include "base/text.h"

#include <stdarg.h>

#include "base/human.h"
#include "base/mem.h"
#include "base/utf8.h"

#define NARROWEST 16 /* no column is cut below this */

struct row_look {
    int indent;
    bool color;
    enum text_style style;
};

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

static bool text_grow(struct text_table *t)
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
    if (t->n_rows == t->cap_rows && text_grow(t)) t->failed = true;
    const char **cells = t->failed ? NULL : arena_zalloc(&t->mem, TEXT_COLS, sizeof *cells);
    if (!cells) {
        t->failed = true;
        return;
    }
    t->rows[t->n_rows] = cells;
    t->styles[t->n_rows++] = (unsigned char)style;
}

/* Names come from traces: what a terminal would obey is taken out here, once for all columns. */
static void text_put(struct text_table *t, int col, char *copy)
{
    if (!copy) t->failed = true;
    else t->rows[t->n_rows - 1][col] = human_clean(copy);
}

static bool can_put(const struct text_table *t, int col)
{
    return !t->failed && t->n_rows > 0 && col < t->n_cols;
}

void text_table_cell(struct text_table *t, int col, const char *text)
{
    if (can_put(t, col)) text_put(t, col, arena_strdup(&t->mem, str_c(text)));
}

void text_table_cellf(struct text_table *t, int col, const char *fmt, ...)
{
    if (!can_put(t, col)) return;
    va_list ap;
    va_start(ap, fmt);
    text_put(t, col, arena_vprintf(&t->mem, fmt, ap));
    va_end(ap);
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

static bool is_unit(struct str s)
{
    static const char *const units[] = {"%", "ns", "us", "ms", "s",  "min",
                                        "h", "B",  "KB", "MB", "GB", "TB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(s, units[i])) return true;
    return false;
}

/* Bytes of the word that starts here; a number and its unit are one word. */
static size_t word_bytes(const char *word)
{
    size_t n = strcspn(word, " \n");
    if (!n || word[n] != ' ' || word[n - 1] < '0' || word[n - 1] > '9') return n;
    const char *next = word + n + 1;
    if (!is_unit(str_from(next, strcspn(next, " \n.,;:)")))) return n;
    return n + 1 + strcspn(next, " \n");
}

void text_wrap(struct buf *out, const char *text, int indent, int width)
{
    int col = indent;
    for (const char *word = text; *word;) {
        size_t n = word_bytes(word);
        int w = utf8_width(str_from(word, n));
        bool first = col == indent;
        if (!first && col + 1 + w > width) {
            buf_addc(out, '\n');
            buf_pad(out, ' ', indent);
            col = indent;
            first = true;
        }
        if (!first) buf_addc(out, ' '), col++;
        buf_add(out, word, n);
        col += w;
        word += n;
        if (*word == '\n') {
            buf_addc(out, '\n');
            if (word[1]) buf_pad(out, ' ', indent);
            col = indent;
        }
        if (*word) word++;
    }
    if (!out->n || out->p[out->n - 1] != '\n') buf_addc(out, '\n');
}

static void text_put_cell(const struct text_table *t, struct buf *out, int col, const char *text,
                          int width)
{
    char cut[1024];
    struct str s = str_c(text ? text : "");
    if (utf8_width(s) > width) s = str_c(human_cut(s, width, cut, sizeof cut));
    int pad = width - utf8_width(s);
    if (t->align[col] == TEXT_RIGHT) buf_pad(out, ' ', pad);
    buf_add_str(out, s);
    if (t->align[col] == TEXT_LEFT && col + 1 < t->n_cols) buf_pad(out, ' ', pad);
}

static void text_put_row(const struct text_table *t, struct buf *out, const char *const *cells,
                         const int *widths, int indent)
{
    size_t from = out->n;
    buf_pad(out, ' ', indent);
    for (int c = 0; c < t->n_cols; c++) {
        if (c) buf_adds(out, "  ");
        text_put_cell(t, out, c, cells[c], widths[c]);
    }
    while (out->n > from && out->p[out->n - 1] == ' ') out->n--;
}

static void put_styled_row(const struct text_table *t, struct buf *out, const char *const *cells,
                           const int *widths, const struct row_look *look)
{
    bool styled = look->color && look->style != TEXT_PLAIN;
    if (styled) buf_adds(out, style_on(look->style));
    text_put_row(t, out, cells, widths, look->indent);
    if (styled) buf_adds(out, "\033[0m");
    buf_addc(out, '\n');
}

/* The widest cell of every column; returns the width of a line. */
static int text_measure(const struct text_table *t, int *widths)
{
    int total = 0;
    for (int c = 0; c < t->n_cols; c++) {
        widths[c] = utf8_width(str_c(t->head[c]));
        for (int r = 0; r < t->n_rows; r++) {
            const char *cell = t->rows[r][c];
            int w = cell ? utf8_width(str_c(cell)) : 0;
            if (w > widths[c]) widths[c] = w;
        }
        total += widths[c] + (c ? 2 : 0);
    }
    return total;
}

/* Takes `excess` columns away from text columns, the first one before the others; returns what none
 * of them could give. Heads are kept whole where `heads`. */
static int text_shrink(const struct text_table *t, int *widths, int excess, bool heads)
{
    for (int c = 0; c < t->n_cols && excess > 0; c++) {
        int head = heads ? utf8_width(str_c(t->head[c])) : 0;
        int least = head > NARROWEST ? head : NARROWEST;
        if (t->align[c] != TEXT_LEFT || widths[c] <= least) continue;
        int less = widths[c] - least < excess ? widths[c] - least : excess;
        widths[c] -= less;
        excess -= less;
    }
    return excess;
}

void text_table_print(const struct text_table *t, struct buf *out, int indent, int width,
                      bool color)
{
    int widths[TEXT_COLS] = {0};
    int total = indent + text_measure(t, widths);
    int excess = text_shrink(t, widths, total - width, true);
    text_shrink(t, widths, excess, false);
    struct row_look look = {.indent = indent, .color = color, .style = TEXT_DIM};
    put_styled_row(t, out, t->head, widths, &look);
    for (int r = 0; r < t->n_rows; r++) {
        look.style = (enum text_style)t->styles[r];
        put_styled_row(t, out, t->rows[r], widths, &look);
    }
    if (t->failed) out->failed = true;
}
