/* mcp_cut.c: see mcp_cut.h. A walk over the text that copies or skips: documents of large traces
 * are not worth a tree. */
#include "cli/mcp_cut.h"

#include "base/jout.h"
#include "base/utf8.h"

enum { DEEPEST = 64, MOST_LISTS = 32 };

struct list_cut {
    struct str key;
    uint32_t from, shown, of;
};

struct walk {
    const char *p, *end;
    const struct mcp_cut *how;
    struct buf *out;
    struct list_cut lists[MOST_LISTS];
    uint32_t n_lists;
    bool cut_inside;
};

static void skip_blanks(struct walk *w)
{
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\n' || *w->p == '\t' || *w->p == '\r'))
        w->p++;
}

static bool next_is(struct walk *w, char c)
{
    skip_blanks(w);
    return w->p < w->end && *w->p == c;
}

static void put(struct walk *w, const char *p, size_t n)
{
    buf_add(w->out, p, n);
}

/* The text with its quotes. */
static struct str take_string(struct walk *w)
{
    const char *begin = w->p++;
    while (w->p < w->end && *w->p != '"') w->p += *w->p == '\\' ? 2 : 1;
    w->p = w->p < w->end ? w->p + 1 : w->end;
    return str_from(begin, (size_t)(w->p - begin));
}

/* Whether a text may be cut before byte `at`: no escape and no character spans it. */
static bool splits(struct str s, size_t at)
{
    size_t slashes = 0, back = at;
    while (back > 1 && s.p[back - 1] == '\\') back--, slashes++;
    return slashes % 2 || ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

/* Where a cut near `at` does no harm; escapes of the form \uXXXX are left whole. */
static size_t safe_cut(struct str s, size_t at)
{
    while (at > 1 && splits(s, at)) at--;
    for (size_t back = 1; back <= 5 && at > back + 1; back++)
        if (s.p[at - back] == 'u' && splits(s, at - back)) return at - back - 1;
    return at;
}

static void put_string(struct walk *w, struct str s)
{
    size_t most = w->how->most_bytes;
    if (!most || s.n <= most + 2) {
        put(w, s.p, s.n);
        return;
    }
    size_t head = safe_cut(s, 1 + most / 2), tail = safe_cut(s, s.n - 1 - most / 2);
    put(w, s.p, head);
    put(w, "...", 3);
    put(w, s.p + tail, s.n - tail);
    w->cut_inside = true;
}

static void value(struct walk *w, int depth);

static void object(struct walk *w, int depth, uint32_t number)
{
    char text[32];
    bool first = true;
    w->p++;
    put(w, "{", 1);
    if (number) {
        int n = snprintf(text, sizeof text, "\"number\":%u", number);
        put(w, text, (size_t)n);
        first = false;
    }
    while (next_is(w, '"')) {
        if (!first) put(w, ",", 1);
        first = false;
        struct str key = take_string(w);
        put(w, key.p, key.n);
        put(w, ":", 1);
        if (next_is(w, ':')) w->p++;
        skip_blanks(w);
        if (depth == 0 && next_is(w, '[') && w->n_lists < MOST_LISTS)
            w->lists[w->n_lists].key = key;
        value(w, depth + 1);
        if (next_is(w, ',')) w->p++;
    }
    if (next_is(w, '}')) w->p++;
    put(w, "}", 1);
}

/* The next value, whatever it is: most of a large document is left out. */
static void skip_value(struct walk *w)
{
    int depth = 0;
    skip_blanks(w);
    while (w->p < w->end) {
        char c = *w->p;
        if (!depth && (c == ',' || c == ']' || c == '}')) return;
        if (c == '"') {
            take_string(w);
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        w->p++;
        if (!depth && (c == '}' || c == ']')) return;
    }
}

struct page {
    uint32_t from, to;
    bool numbered;
};

/* Copies the entries of the page, skips the others; returns how many there are. */
static uint32_t entries(struct walk *w, int depth, const struct page *page, uint32_t *shown)
{
    uint32_t i = 0;
    *shown = 0;
    for (; w->p < w->end && !next_is(w, ']'); i++) {
        const char *before = w->p;
        if (i < page->from || i >= page->to) skip_value(w);
        else {
            if ((*shown)++) put(w, ",", 1);
            if (page->numbered && next_is(w, '{')) object(w, depth + 1, i + 1);
            else value(w, depth + 1);
        }
        if (next_is(w, ',')) w->p++;
        if (w->p == before) break; /* not JSON */
    }
    return i;
}

static bool is_key(struct str key, const char *name)
{
    return name && key.n > 2 && str_is(str_from(key.p + 1, key.n - 2), name);
}

static uint32_t most_of(const struct walk *w, struct str key)
{
    if (is_key(key, w->how->hidden)) return 0;
    return is_key(key, w->how->list) ? w->how->limit : w->how->others;
}

static void array(struct walk *w, int depth)
{
    struct list_cut *l = depth == 1 ? &w->lists[w->n_lists] : NULL;
    bool top = l && w->n_lists < MOST_LISTS && l->key.n;
    bool main = top && is_key(l->key, w->how->list);
    struct page page = {main ? w->how->offset : 0, 0, main};
    uint32_t most = top ? most_of(w, l->key) : w->how->inner, shown;
    page.to = page.from > UINT32_MAX - most ? UINT32_MAX : page.from + most;
    w->p++;
    put(w, "[", 1);
    uint32_t n = entries(w, depth, &page, &shown);
    if (next_is(w, ']')) w->p++;
    put(w, "]", 1);
    if (shown == n) return;
    w->cut_inside |= !top;
    if (!top) return;
    l->from = page.from;
    l->shown = shown;
    l->of = n;
    w->n_lists++;
}

static void value(struct walk *w, int depth)
{
    skip_blanks(w);
    if (w->p >= w->end || depth > DEEPEST) {
        w->p = w->end;
        return;
    }
    if (*w->p == '{') {
        object(w, depth, 0);
    } else if (*w->p == '[') {
        array(w, depth);
    } else if (*w->p == '"') {
        put_string(w, take_string(w));
    } else {
        const char *begin = w->p;
        while (w->p < w->end && !strchr(",]} \n\t\r", *w->p)) w->p++;
        put(w, begin, (size_t)(w->p - begin));
    }
}

static void put_lists(struct jout *j, const struct walk *w)
{
    jout_obj(j, NULL);
    for (uint32_t i = 0; i < w->n_lists; i++) {
        const struct list_cut *l = &w->lists[i];
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)l->key.n - 2, l->key.p + 1);
        jout_obj(j, key);
        jout_uint(j, "shown", l->shown);
        jout_uint(j, "of", l->of);
        if (is_key(l->key, w->how->list) && l->from + l->shown < l->of)
            jout_uint(j, "next_offset", l->from + l->shown);
        jout_end_obj(j);
    }
    if (w->cut_inside) jout_bool(j, "cut_inside", true);
    jout_end_obj(j);
}

void mcp_cut(struct str doc, const struct mcp_cut *how, struct buf *out)
{
    struct walk w = {.p = doc.p, .end = doc.p + doc.n, .how = how, .out = out};
    size_t from = out->n;
    value(&w, 0);
    if ((!w.n_lists && !w.cut_inside) || out->n - from < 2 || out->p[out->n - 1] != '}') return;
    struct jout j;
    out->n--;
    buf_adds(out, out->n - from > 1 ? ",\"left_out\":" : "\"left_out\":");
    jout_init(&j, out, false);
    put_lists(&j, &w);
    buf_addc(out, '}');
}

/* At the value of `key` of the object at the top; false when there is none. */
static bool find_key(struct walk *w, const char *key)
{
    if (!next_is(w, '{')) return false;
    w->p++;
    while (next_is(w, '"')) {
        struct str name = take_string(w);
        if (next_is(w, ':')) w->p++;
        if (name.n >= 2 && str_is(str_from(name.p + 1, name.n - 2), key)) return true;
        skip_value(w);
        if (next_is(w, ',')) w->p++;
    }
    return false;
}

bool mcp_cut_pick(struct str doc, const char *list, uint32_t number, struct buf *out,
                  uint32_t *ret_of)
{
    static const struct mcp_cut all = {.inner = UINT32_MAX};
    struct walk w = {.p = doc.p, .end = doc.p + doc.n, .how = &all, .out = out};
    uint32_t shown = 0;
    *ret_of = 0;
    if (!find_key(&w, list) || !next_is(&w, '[')) return false;
    w.p++;
    struct page page = {number - 1, number, true};
    *ret_of = entries(&w, 1, &page, &shown);
    return shown == 1;
}
