/* page_names.c: see page_names.h. Short forms come behind the strings themselves. */
#include "page/page_names.h"

#include "analyze/names/frame.h"
#include "analyze/names/kernel_name.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

int page_names_init(struct page_names *n, const struct trace *t, struct err *e)
{
    *n = (struct page_names){.t = t, .of = mem_zalloc(t->strings.n + 1, sizeof *n->of)};
    return n->of ? 0 : err_nomem(e);
}

void page_names_done(struct page_names *n)
{
    mem_free(n->of);
    mem_free(n->list);
    mem_free(n->kinds);
    *n = (struct page_names){0};
}

static uint32_t page_names_number(struct page_names *n, str_id id, enum row_kind kind)
{
    if (id >= n->t->strings.n) id = 0;
    if (n->of[id]) return n->of[id] - 1;
    if (VEC_RESERVE(n->list, n->n, n->cap, 1) || VEC_RESERVE(n->kinds, n->n, n->cap_kinds, 1)) {
        n->failed = true;
        return 0;
    }
    n->list[n->n] = id;
    n->kinds[n->n] = (uint8_t)kind;
    n->of[id] = ++n->n;
    return n->n - 1;
}

uint32_t page_names_of(struct page_names *n, str_id id)
{
    return page_names_number(n, id, KIND_OTHER);
}

uint32_t page_names_row(struct page_names *n, row_t r)
{
    return page_names_number(n, n->t->name[r], (enum row_kind)n->t->kind[r]);
}

/* ---- writing */

struct writer {
    struct page_col len, bytes, kinds, shorts;
    struct intern extra; /* short forms; the empty string is none of them */
    struct demangler demangler;
    struct buf readable, brief;
    size_t total;
};

/* Where to cut, so that no character is cut through. */
static size_t cut_at(struct str s, size_t most)
{
    size_t at = 0, len;
    while (at < most && (len = utf8_len(s, at) ? utf8_len(s, at) : 1) && at + len <= most)
        at += len;
    return at;
}

static void page_names_put_text(struct writer *w, struct str s)
{
    static const char dots[] = "\xe2\x80\xa6";
    size_t most = w->total < PAGE_TEXT_BYTES ? PAGE_NAME_BYTES : PAGE_CUT_BYTES;
    bool cut = s.n > most;
    if (cut) s.n = cut_at(s, most);
    page_col_text(&w->bytes, s);
    if (cut) page_col_text(&w->bytes, str_c(dots));
    size_t n = s.n + (cut ? sizeof dots - 1 : 0);
    page_col_uint(&w->len, n);
    w->total += n;
}

static struct str page_names_readable(struct writer *w, struct str name, enum row_kind kind)
{
    buf_reset(&w->readable);
    bool found = kind == KIND_KERNEL && demangle(&w->demangler, name, &w->readable);
    return found ? buf_str(&w->readable) : name;
}

/* A form of the name that fits a narrow box; empty when there is no better one. */
static struct str page_names_brief(struct writer *w, struct str name, enum row_kind kind)
{
    struct frame f;
    struct frame_builtin b;
    buf_reset(&w->brief);
    if (kind == KIND_KERNEL) kernel_name_short(name, &w->brief);
    if (kind != KIND_PYTHON) return buf_str(&w->brief);
    if (frame_parse(name, &f)) return f.function;
    return frame_builtin(name, &b) ? b.method : str_from(NULL, 0);
}

static bool page_names_put_name(struct writer *w, struct page_names *n, uint32_t i)
{
    enum row_kind kind = (enum row_kind)n->kinds[i];
    struct str name = page_names_readable(w, trace_str(n->t, n->list[i]), kind);
    struct str shorter = page_names_brief(w, name, kind);
    page_names_put_text(w, name);
    page_col_byte(&w->kinds, (uint8_t)kind);
    if (!shorter.n || shorter.n >= name.n) {
        page_col_uint(&w->shorts, i);
        return false;
    }
    str_id id = intern_add(&w->extra, shorter);
    if (id == STR_NONE) return true;
    page_col_uint(&w->shorts, n->n + id - 1);
    return false;
}

static void put_extra(struct writer *w, uint32_t first)
{
    for (str_id id = 1; id < w->extra.n; id++) {
        page_names_put_text(w, intern_get(&w->extra, id));
        page_col_byte(&w->kinds, KIND_OTHER);
        page_col_uint(&w->shorts, first + id - 1);
    }
}

static void page_names_put_columns(struct writer *w, struct page_block *b)
{
    w->bytes.n = 1;
    page_block_name(b, "string_len", &w->len);
    page_block_name(b, "string_bytes", &w->bytes);
    page_block_name(b, "string_kind", &w->kinds);
    page_block_name(b, "string_short", &w->shorts);
}

static void writer_done(struct writer *w)
{
    demangler_done(&w->demangler);
    intern_done(&w->extra);
    buf_done(&w->readable);
    buf_done(&w->brief);
}

int page_names_put(struct page_names *n, struct page_block *b, struct err *e)
{
    struct writer w = {.total = 0};
    bool failed = intern_init(&w.extra) || n->failed;
    demangler_init(&w.demangler);
    for (uint32_t i = 0; i < n->n && !failed; i++) failed = page_names_put_name(&w, n, i);
    put_extra(&w, n->n);
    failed = failed || !buf_ok(&w.readable) || !buf_ok(&w.brief);
    page_names_put_columns(&w, b);
    writer_done(&w);
    return failed ? err_nomem(e) : 0;
}
