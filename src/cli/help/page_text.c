/* page_text.c: a page of docs/rules for the terminal: paragraphs wrapped, tables aligned where they
 * fit, no marks of Markdown. It knows what these pages use, not all of Markdown. */
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/help/help.h"

/* Columns of a row in blocks, and of code. */
enum { PAGE_TEXT_INDENT = 4, PAGE_TEXT_CELLS = 6 };

struct page_text {
    struct buf *out;
    struct str rest;   /* of the page */
    struct buf joined; /* the paragraph or item that is being read */
    int indent, width; /* of its lines */
    bool color;
};

static struct str page_text_line(struct page_text *r)
{
    const char *end = memchr(r->rest.p, '\n', r->rest.n);
    size_t n = end ? (size_t)(end - r->rest.p) : r->rest.n;
    struct str line = str_from(r->rest.p, n);
    r->rest = str_from(r->rest.p + n + (end != NULL), r->rest.n - n - (end != NULL));
    return line;
}

/* Bytes of "[text](link)" at the start, and its text; 0 for anything else. */
static size_t page_text_link(struct str s, struct str *ret_text)
{
    const char *close = s.n && s.p[0] == '[' ? memchr(s.p, ']', s.n) : NULL;
    if (!close || close + 1 >= s.p + s.n || close[1] != '(') return 0;
    const char *end = memchr(close, ')', (size_t)(s.p + s.n - close));
    if (!end) return 0;
    *ret_text = str_from(s.p + 1, (size_t)(close - s.p - 1));
    return (size_t)(end - s.p) + 1;
}

/* The text without backticks, stars of bold words and targets of links. */
static void page_text_plain(struct buf *out, struct str s)
{
    bool code = false;
    for (size_t i = 0; i < s.n;) {
        struct str link, here = str_from(s.p + i, s.n - i);
        size_t n = code ? 0 : page_text_link(here, &link);
        if (n) page_text_plain(out, link);
        else if (s.p[i] == '`') code = !code;
        else if (!code && str_starts(here, "**")) n = 2;
        else if (!code && s.p[i] == '\\' && here.n > 1) buf_addc(out, s.p[i + 1]), n = 2;
        else buf_addc(out, s.p[i]);
        i += n ? n : 1;
    }
}

/* Ends the paragraph or item. */
static void page_text_flush(struct page_text *r)
{
    if (r->joined.n) text_wrap(r->out, buf_c(&r->joined), r->indent, r->width);
    buf_reset(&r->joined);
    r->indent = 0;
}

static void page_text_heading(struct page_text *r, struct str line)
{
    while (line.n && (*line.p == '#' || *line.p == ' ')) line = str_from(line.p + 1, line.n - 1);
    page_text_plain(&r->joined, line);
    text_styled(r->out, TEXT_BOLD, r->color, buf_c(&r->joined));
    buf_addc(r->out, '\n');
    buf_reset(&r->joined);
}

/* ---- tables ---- */

static int page_text_cells(struct str line, struct str *cells)
{
    int n = 0;
    size_t begin = 1;
    bool code = false;
    for (size_t i = 1; i < line.n && n < PAGE_TEXT_CELLS; i++) {
        code ^= line.p[i] == '`';
        if (line.p[i] != '|' || code || line.p[i - 1] == '\\') continue;
        cells[n++] = str_trim(str_from(line.p + begin, i - begin));
        begin = i + 1;
    }
    return n;
}

static void page_text_add_row(struct text_table *t, struct str line)
{
    struct str cells[PAGE_TEXT_CELLS];
    int n = page_text_cells(line, cells);
    struct buf text;
    buf_init(&text);
    text_table_row(t, TEXT_PLAIN);
    for (int i = 0; i < n; i++) {
        buf_reset(&text);
        page_text_plain(&text, cells[i]);
        text_table_cell(t, i, buf_c(&text));
    }
    if (text.failed) t->failed = true;
    buf_done(&text);
}

/* Columns that the table takes. */
static int page_text_table_width(const struct text_table *t)
{
    int total = 0;
    for (int c = 0; c < t->n_cols; c++) {
        int widest = utf8_width(str_c(t->head[c]));
        for (int k = 0; k < t->n_rows; k++) {
            int n = utf8_width(str_c(t->rows[k][c] ? t->rows[k][c] : ""));
            if (n > widest) widest = n;
        }
        total += widest + 2;
    }
    return total;
}

/* A row too wide for a line: its first cell, and the others below it with their heads. */
static void page_text_put_block(struct page_text *r, const struct text_table *t, int row)
{
    for (int c = 0; c < t->n_cols; c++) {
        const char *cell = t->rows[row][c];
        if (!cell || !*cell) continue;
        buf_reset(&r->joined);
        if (c && *t->head[c]) buf_printf(&r->joined, "%s: ", t->head[c]);
        buf_adds(&r->joined, cell);
        buf_pad(r->out, ' ', c ? PAGE_TEXT_INDENT : 2);
        text_wrap(r->out, buf_c(&r->joined), PAGE_TEXT_INDENT, r->width);
    }
    buf_reset(&r->joined);
}

/* The table that begins with this line. */
static void page_text_put_table(struct page_text *r, struct str line)
{
    struct str cells[PAGE_TEXT_CELLS];
    struct text_table t;
    struct buf head[PAGE_TEXT_CELLS];
    int n = page_text_cells(line, cells);
    text_table_init(&t);
    for (int i = 0; i < n; i++) {
        buf_init(&head[i]);
        page_text_plain(&head[i], cells[i]);
        text_table_col(&t, buf_c(&head[i]), TEXT_LEFT);
    }
    page_text_line(r); /* the line of dashes */
    while (r->rest.n && *r->rest.p == '|') page_text_add_row(&t, page_text_line(r));
    bool fits = 2 + page_text_table_width(&t) <= r->width;
    if (fits) text_table_print(&t, r->out, 2, r->width, r->color);
    for (int i = 0; i < t.n_rows && !fits && !t.failed; i++) page_text_put_block(r, &t, i);
    if (t.failed) r->out->failed = true;
    for (int i = 0; i < n; i++) buf_done(&head[i]);
    text_table_done(&t);
}

/* ---- lines ---- */

/* Code up to the next fence, as it stands. */
static void page_text_put_code(struct page_text *r)
{
    while (r->rest.n) {
        struct str line = page_text_line(r);
        if (str_starts(line, "```")) return;
        buf_pad(r->out, ' ', PAGE_TEXT_INDENT);
        buf_add_str(r->out, line);
        buf_addc(r->out, '\n');
    }
}

/* Columns of the mark of an item: "- ", "12. "; 0 where the line is none. */
static int page_text_mark(struct str line)
{
    size_t n = 0;
    if (str_starts(line, "- ")) return 2;
    while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9') n++;
    return n && n + 1 < line.n && line.p[n] == '.' && line.p[n + 1] == ' ' ? (int)n + 2 : 0;
}

/* A comment, which may have several lines. */
static void page_text_skip(struct page_text *r, struct str line)
{
    while (!str_has(line, "-->") && r->rest.n) line = page_text_line(r);
}

/* A line of a paragraph, or the first one of an item. */
static void page_text_join(struct page_text *r, struct str text, int mark)
{
    if (mark) {
        buf_add(r->out, text.p, (size_t)mark);
        text = str_from(text.p + mark, text.n - (size_t)mark);
        r->indent = mark;
    }
    if (r->joined.n) buf_addc(&r->joined, ' ');
    page_text_plain(&r->joined, text);
}

static void page_text_put_line(struct page_text *r, struct str line)
{
    bool own = str_starts(line, "#") || str_starts(line, "|") || str_starts(line, "```");
    int mark = page_text_mark(line);
    struct str text = str_trim(line);
    if (own || mark || !text.n || str_starts(line, "<!--")) page_text_flush(r);
    if (str_starts(line, "<!--")) page_text_skip(r, line);
    else if (str_starts(line, "#")) page_text_heading(r, line);
    else if (str_starts(line, "|")) page_text_put_table(r, line);
    else if (str_starts(line, "```")) page_text_put_code(r);
    else if (!text.n) buf_addc(r->out, '\n');
    else page_text_join(r, text, mark);
}

void page_text_print(struct cli *cli, const char *page)
{
    struct page_text r = {
        .out = &cli->out, .rest = str_c(page), .width = cli->width, .color = cli->color};
    buf_init(&r.joined);
    while (r.rest.n) page_text_put_line(&r, page_text_line(&r));
    page_text_flush(&r);
    if (r.joined.failed) cli->out.failed = true;
    buf_done(&r.joined);
}
