/* result.c: see result.h. */
#include "results/result.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "analyze/names/source_place.h"
#include "analyze/quality/integrity.h"

const void *rows_at(const struct rows *r, uint32_t i)
{
    if (r->of->by_pointer) return ((const void *const *)r->list)[i];
    return (const char *)r->list + i * r->of->row_bytes;
}

const struct field *result_field(const struct result *of, const char *key)
{
    for (uint32_t i = 0; i < of->n_fields; i++)
        if (strcmp(of->fields[i].key, key) == 0) return &of->fields[i];
    return NULL;
}

const struct field *result_nth(const struct result *of, uint32_t i)
{
    if (!of->keys) return i < of->n_fields ? &of->fields[i] : NULL;
    return of->keys[i] ? result_field(of, of->keys[i]) : NULL;
}

const char *field_heading(const struct field *f)
{
    return f->key + strlen(f->key) + 1;
}

const char *field_means(const struct field *f)
{
    return field_heading(f) + strlen(field_heading(f)) + 1;
}

struct value value_none(void)
{
    return (struct value){0};
}

struct value value_int(int64_t v)
{
    return (struct value){.known = true, .i = v};
}

struct value value_num(double v)
{
    return (struct value){.known = isfinite(v) != 0, .num = v};
}

struct value value_text(struct str s)
{
    return (struct value){.known = s.p != NULL, .text = s};
}

struct value value_cstr(const char *s)
{
    return s ? value_text(str_c(s)) : value_none();
}

struct value value_place(struct frame f)
{
    return (struct value){.known = f.file.p != NULL, .place = f};
}

struct value value_row_place(const struct trace *t, row_t frame)
{
    struct frame f;
    if (frame == ROW_NONE || !frame_parse(trace_name(t, frame), &f)) return value_none();
    f.file = frame_path(f.file);
    return value_place(f);
}

struct value value_name(const struct trace *t, row_t r)
{
    return r == ROW_NONE ? value_none() : value_text(trace_name(t, r));
}

static int64_t result_signed(const void *p, size_t size)
{
    if (size == sizeof(int64_t)) return *(const int64_t *)p;
    assert(size == sizeof(int32_t));
    return *(const int32_t *)p;
}

static int64_t result_unsigned(const void *p, size_t size)
{
    if (size == sizeof(uint64_t)) return (int64_t) * (const uint64_t *)p;
    assert(size == sizeof(uint32_t));
    return *(const uint32_t *)p;
}

static struct value result_member(const struct field *f, const void *p)
{
    switch (f->kind) {
    case FIELD_WORD:
    case FIELD_TEXT:
        return f->size == sizeof(struct str) ? value_text(*(const struct str *)p)
                                             : value_cstr(*(const char *const *)p);
    case FIELD_FLAG: return value_int(*(const bool *)p);
    case FIELD_COUNT: return value_int(result_unsigned(p, f->size));
    case FIELD_MEAN_NS:
    case FIELD_PCT:
    case FIELD_NUM: return value_num(*(const double *)p);
    default: return value_int(result_signed(p, f->size));
    }
}

static bool result_is_double(enum field_kind k)
{
    return k == FIELD_MEAN_NS || k == FIELD_PCT || k == FIELD_NUM;
}

/* Negative or 0 for "none", as the structs of the passes have it. */
static bool result_is_null(const struct field *f, const struct value *v)
{
    if (f->kind == FIELD_TEXT || f->kind == FIELD_WORD) return f->null == NULL_ZERO && !v->text.n;
    if (result_is_double(f->kind))
        return f->null == NULL_ZERO ? v->num == 0 : f->null == NULL_NEGATIVE && v->num < 0;
    return f->null == NULL_ZERO ? v->i == 0 : f->null == NULL_NEGATIVE && v->i < 0;
}

/* Lists, objects and what is written by a function are not one value. */
static bool result_is_value(enum field_kind k)
{
    return k < FIELD_LIST || k == FIELD_ID || k == FIELD_JSON;
}

struct value rows_value(const struct rows *r, uint32_t i, const struct field *f)
{
    if (!result_is_value(f->kind)) return value_none();
    struct value v =
        f->get ? f->get(r, i) : result_member(f, (const char *)rows_at(r, i) + f->offset);
    if (v.known && f->kind != FIELD_PLACE && result_is_null(f, &v)) v.known = false;
    if (f->trust == TRUST_IDLE && !integrity_of(r->cx)->idle_trusted) {
        v.known = false;
        v.doubted = true;
    }
    return v;
}

bool field_may_be_null(const struct field *f)
{
    return f->null != NULL_NEVER || f->trust != TRUST_ALWAYS || result_is_double(f->kind) ||
           f->kind == FIELD_PLACE;
}
