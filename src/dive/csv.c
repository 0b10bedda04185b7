/* csv.c: see csv.h. */
#include "dive/csv.h"

#include "base/mem.h"
#include "base/vec.h"

void csv_init(struct csv *c, struct str text, struct arena *mem)
{
    *c = (struct csv){.text = text, .mem = mem};
    if (str_starts(text, "\xef\xbb\xbf")) c->at = 3;
}

void csv_done(struct csv *c)
{
    mem_free(c->fields);
}

/* The field without its doubled quotes; .p is NULL when out of memory. */
static struct str csv_undouble(struct csv *c, struct str raw)
{
    char *p = arena_alloc(c->mem, raw.n + 1);
    size_t n = 0;
    for (size_t i = 0; p && i < raw.n; i++) {
        p[n++] = raw.p[i];
        i += raw.p[i] == '"';
    }
    return str_from(p, n);
}

/* What stands between the quotes; c->at is left behind the closing one. */
static struct str scan_quoted(struct csv *c)
{
    size_t begin = ++c->at;
    bool doubled = false;
    while (c->at < c->text.n) {
        if (c->text.p[c->at] == '"') {
            if (c->at + 1 >= c->text.n || c->text.p[c->at + 1] != '"') break;
            doubled = true;
            c->at++;
        }
        c->at++;
    }
    struct str raw = str_from(c->text.p + begin, c->at - begin);
    c->at += c->at < c->text.n;
    return doubled ? csv_undouble(c, raw) : raw;
}

static bool ends_field(char ch)
{
    return ch == ',' || ch == '\r' || ch == '\n';
}

static struct str csv_scan_field(struct csv *c)
{
    size_t begin = c->at;
    struct str quoted = {0};
    bool is_quoted = c->at < c->text.n && c->text.p[c->at] == '"';
    if (is_quoted) quoted = scan_quoted(c);
    while (c->at < c->text.n && !ends_field(c->text.p[c->at])) c->at++;
    return is_quoted ? quoted : str_from(c->text.p + begin, c->at - begin);
}

static void skip_line_ends(struct csv *c)
{
    while (c->at < c->text.n && (c->text.p[c->at] == '\r' || c->text.p[c->at] == '\n')) c->at++;
}

int csv_next(struct csv *c, struct err *e)
{
    skip_line_ends(c);
    c->n = 0;
    c->begin = c->at;
    if (c->at >= c->text.n) return 0;
    for (;;) {
        if (c->n >= CSV_MOST_FIELDS)
            return FAIL(e, ERR_LIMIT, "a row has more than %u fields", CSV_MOST_FIELDS);
        struct str field = csv_scan_field(c);
        if (!field.p || VEC_RESERVE(c->fields, c->n, c->cap, 1)) return err_nomem(e);
        c->fields[c->n++] = field;
        if (c->at >= c->text.n || c->text.p[c->at] != ',') return 1;
        c->at++;
    }
}
