/* result_text.c: see result_text.h. */
#include "report/result_text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cells.h"

#define LARGE_COUNT 100000000 /* from here on in powers of a thousand: "5.57 T" */

static bool result_text_is_time(enum field_kind k)
{
    return k == FIELD_NS || k == FIELD_AT || k == FIELD_MEAN_NS;
}

static bool result_text_is_left(enum field_kind k)
{
    return k == FIELD_TEXT || k == FIELD_WORD || k == FIELD_PLACE || k == FIELD_TEXTS ||
           k == FIELD_JSON || k == FIELD_LIST;
}

/* The field of a key; *ret_outer is the object that it is in. */
static const struct field *result_text_find(const struct result *of, const char *key,
                                            const struct field **ret_outer)
{
    char outer[64];
    const char *dot = strchr(key, '.');
    *ret_outer = NULL;
    if (!dot) return result_field(of, key);
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    *ret_outer = result_field(of, outer);
    assert(*ret_outer && (*ret_outer)->kind == FIELD_OBJECT);
    return result_field((*ret_outer)->inner, dot + 1);
}

void result_text_begin(struct result_text *t, const struct result *of, const char *first,
                       const char *const *keys)
{
    *t = (struct result_text){.of = of};
    text_table_init(&t->table);
    for (int i = 0; keys[i]; i++) {
        const struct field *f = t->fields[i] = result_text_find(of, keys[i], &t->outer[i]);
        assert(f && *field_heading(f));
        text_table_col(&t->table, i || !first ? field_heading(f) : first,
                       result_text_is_left(f->kind) ? TEXT_LEFT : TEXT_RIGHT);
    }
}

void result_text_done(struct result_text *t)
{
    text_table_done(&t->table);
}

static int64_t result_text_ns(const struct rows *r, const struct field *f, const struct value *v)
{
    if (f->kind == FIELD_MEAN_NS) return llround(v->num);
    return f->kind == FIELD_AT ? trace_since_ns(r->cx->t, v->i) : v->i;
}

/* The column's field as the rows at hand have it. */
static const struct field *result_text_field(const struct result_text *t, const struct rows *r,
                                             int col)
{
    return r->of == t->of ? t->fields[col] : result_field(r->of, t->fields[col]->key);
}

static struct value result_text_value(const struct result_text *t, const struct rows *r, uint32_t i,
                                      int col)
{
    const struct field *f = result_text_field(t, r, col), *outer = t->outer[col];
    if (!f || f->kind == FIELD_LIST) return value_none();
    if (!outer) return rows_value(r, i, f);
    struct rows in = {.of = outer->inner, .cx = r->cx, .n = 1, .with = r->with, .text = r->text};
    in.list = (const char *)rows_at(r, i) + outer->offset;
    return rows_value(&in, 0, f);
}

/* Each column has the unit that its largest value reads best in, but nanoseconds only where all
 * columns have them; a mean keeps a finer unit, since its values differ most. */
static void result_text_choose_units(struct result_text *t)
{
    int least = 0;
    for (int c = 0; c < t->table.n_cols; c++)
        if (screen_unit(t->most[c]) > 0) least = 1;
    for (int c = 0; c < t->table.n_cols; c++) {
        bool mean = t->fields[c] && t->fields[c]->kind == FIELD_MEAN_NS;
        int unit = screen_unit(mean ? t->most[c] / 10 : t->most[c]);
        t->units[c] = unit > least ? unit : least;
    }
}

void result_text_fit(struct result_text *t, const struct rows *r)
{
    for (int c = 0; c < t->table.n_cols; c++) {
        const struct field *f = t->fields[c] ? result_text_field(t, r, c) : NULL;
        if (!f || !result_text_is_time(f->kind)) continue;
        for (uint32_t i = 0; i < r->n; i++) {
            struct value v = result_text_value(t, r, i, c);
            int64_t ns = v.known ? llabs(result_text_ns(r, f, &v)) : 0;
            if (ns > t->most[c]) t->most[c] = ns;
        }
    }
    result_text_choose_units(t);
}

static void result_text_word(struct str s, char *out, size_t cap)
{
    snprintf(out, cap, STR_FMT, STR_ARG(s));
    for (char *c = out; *c; c++)
        if (*c == '_') *c = ' ';
}

static void result_text_cell(const struct rows *r, const struct field *f, const struct value *v,
                             int unit, struct buf *out)
{
    char word[64];
    switch (f->kind) {
    case FIELD_TEXT: buf_add_str(out, v->text.n ? v->text : str_c("-")); break;
    case FIELD_WORD:
        result_text_word(v->text, word, sizeof word);
        buf_adds(out, word);
        break;
    case FIELD_FLAG: buf_adds(out, v->i ? field_heading(f) : ""); break;
    case FIELD_INT: buf_printf(out, "%lld", (long long)v->i); break;
    case FIELD_COUNT:
        if (v->i < LARGE_COUNT) buf_adds(out, v->i ? human_count((uint64_t)v->i).s : "-");
        else buf_adds(out, cell_scaled((double)v->i).s);
        break;
    case FIELD_BYTES: buf_adds(out, v->i ? human_bytes(v->i).s : "-"); break;
    case FIELD_NS:
    case FIELD_MEAN_NS:
    case FIELD_AT: buf_adds(out, screen_time_text(result_text_ns(r, f, v), unit).s); break;
    case FIELD_PCT: buf_adds(out, v->num != 0 ? human_pct(v->num).s : "-"); break;
    case FIELD_NUM: buf_adds(out, cell_number(v->num).s); break;
    case FIELD_PLACE:
        buf_add_str(out, v->place.file);
        frame_print_line(out, v->place.line);
        buf_printf(out, " " STR_FMT, STR_ARG(v->place.function));
        break;
    default: break;
    }
}

/* A list of numbers: "64x1x1". */
static void result_text_list(const struct rows *r, uint32_t i, const struct field *f,
                             struct buf *out)
{
    struct rows inner = f->rows(r, i);
    inner.of = f->inner;
    inner.cx = r->cx;
    for (uint32_t k = 0; k < inner.n; k++) {
        struct value v = rows_value(&inner, k, &inner.of->fields[0]);
        buf_printf(out, "%s%lld", k ? "x" : "", (long long)v.i);
    }
    if (!inner.n) buf_addc(out, '-');
}

void result_text_add(struct result_text *t, const struct rows *r, uint32_t i, const char *name,
                     enum text_style style)
{
    struct buf cell;
    buf_init(&cell);
    text_table_row(&t->table, style);
    for (int c = 0; c < t->table.n_cols; c++) {
        if (!t->fields[c]) continue;
        const struct field *f = result_text_field(t, r, c);
        buf_reset(&cell);
        if (c == 0 && name) {
            text_table_cell(&t->table, c, name);
            continue;
        }
        struct value v = result_text_value(t, r, i, c);
        if (f && f->kind == FIELD_LIST) result_text_list(r, i, f, &cell);
        else if (!v.known) buf_adds(&cell, v.doubted ? "?" : "-");
        else result_text_cell(r, f, &v, t->units[c], &cell);
        text_table_cell(&t->table, c, buf_c(&cell));
    }
    if (!buf_ok(&cell)) t->table.failed = true;
    buf_done(&cell);
}

void result_text_print(const struct result_text *t, const struct screen *s)
{
    screen_table(s, &t->table);
}

void result_text_show(const struct screen *s, const struct rows *r, const char *const *keys,
                      uint32_t most)
{
    struct result_text t;
    result_text_begin(&t, r->of, NULL, keys);
    result_text_fit(&t, r);
    for (uint32_t i = 0; i < r->n && i < most; i++) result_text_add(&t, r, i, NULL, TEXT_PLAIN);
    result_text_print(&t, s);
    result_text_done(&t);
}
