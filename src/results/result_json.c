/* result_json.c: see result_json.h. */
#include "results/result_json.h"

/* ---- rows */

static void result_json_place(struct jout *j, const char *key, const struct frame *f)
{
    jout_obj(j, key);
    jout_str(j, "file", f->file);
    jout_int(j, "line", f->line);
    jout_str(j, "function", f->function);
    jout_end_obj(j);
}

static void result_json_nested(struct jout *j, const struct rows *r, uint32_t i,
                               const struct field *f)
{
    struct rows inner = {.list = (const char *)rows_at(r, i) + f->offset, .n = 1, .with = r->with};
    if (f->rows) inner = f->rows(r, i);
    inner.of = f->inner;
    if (!inner.cx) inner.cx = r->cx;
    if (!inner.text) inner.text = r->text;
    if (!inner.n && f->sparse) return;
    if (f->kind == FIELD_LIST) result_json_list(j, f->key, &inner, 0, inner.n);
    else if (inner.n) result_json_row(j, f->key, &inner, 0);
    else jout_null(j, f->key);
}

static void result_json_value(struct jout *j, const struct rows *r, uint32_t i,
                              const struct field *f)
{
    struct value v = rows_value(r, i, f);
    const char *key = *f->key ? f->key : NULL;
    if (!v.known && f->sparse && !v.doubted) return;
    if (!v.known) {
        jout_null(j, key);
        return;
    }
    switch (f->kind) {
    case FIELD_WORD:
    case FIELD_TEXT: jout_str(j, key, v.text); break;
    case FIELD_ID:
    case FIELD_JSON: jout_raw(j, key, v.text); break;
    case FIELD_FLAG: jout_bool(j, key, v.i != 0); break;
    case FIELD_INT:
    case FIELD_COUNT:
    case FIELD_BYTES: jout_int(j, key, v.i); break;
    case FIELD_NS: jout_us(j, key, v.i); break;
    case FIELD_AT: jout_us(j, key, trace_since_ns(r->cx->t, v.i)); break;
    case FIELD_MEAN_NS: jout_num(j, key, v.num / 1e3, f->decimals); break;
    case FIELD_MS: jout_num(j, key, (double)v.i / 1e6, 3); break;
    case FIELD_PCT:
    case FIELD_NUM: jout_num(j, key, v.num, f->decimals); break;
    case FIELD_PLACE: result_json_place(j, key, &v.place); break;
    default: break;
    }
}

static void result_json_field(struct jout *j, const struct rows *r, uint32_t i,
                              const struct field *f)
{
    if (f->kind == FIELD_LIST || f->kind == FIELD_OBJECT) {
        result_json_nested(j, r, i, f);
    } else if (f->kind == FIELD_MAP || f->kind == FIELD_TEXT_MAP) {
        jout_obj(j, f->key);
        f->put(j, r, i);
        jout_end_obj(j);
    } else if (f->kind == FIELD_TEXTS) {
        jout_arr(j, f->key);
        f->put(j, r, i);
        jout_end_arr(j);
    } else {
        result_json_value(j, r, i, f);
    }
}

void result_json_fields(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct field *f;
    for (uint32_t k = 0; (f = result_nth(r->of, k)); k++)
        if (!jout_skips(j, f->key)) result_json_field(j, r, i, f);
}

void result_json_row(struct jout *j, const char *key, const struct rows *r, uint32_t i)
{
    if (!*r->of->fields[0].key) {
        result_json_field(j, r, i, &r->of->fields[0]);
        return;
    }
    jout_obj(j, key);
    result_json_fields(j, r, i);
    jout_end_obj(j);
}

void result_json_list(struct jout *j, const char *key, const struct rows *r, uint32_t first,
                      uint32_t most)
{
    jout_arr(j, key);
    for (uint32_t i = first; i < r->n && i - first < most; i++)
        if ((!r->of->has || r->of->has(r, i)) && !jout_skips(j, NULL))
            result_json_row(j, NULL, r, i);
    jout_end_arr(j);
    if (r->text && r->text->failed) j->out->failed = true;
}

void document_json(struct jout *j, const char *key, const struct context *cx,
                   const struct result *of, const void *row, const void *with)
{
    struct buf text;
    buf_init(&text);
    struct rows r = {of, cx, row, 1, with, &text};
    result_json_row(j, key, &r, 0);
    if (!buf_ok(&text)) j->out->failed = true;
    buf_done(&text);
}

/* ---- columns and schema */

static const char *result_json_unit(enum field_kind k)
{
    switch (k) {
    case FIELD_COUNT:
    case FIELD_INT: return "count";
    case FIELD_BYTES: return "bytes";
    case FIELD_NS:
    case FIELD_MEAN_NS:
    case FIELD_AT: return "us";
    case FIELD_PCT: return "pct";
    case FIELD_NUM: return "number";
    case FIELD_PLACE: return "source";
    case FIELD_WORD: return "word";
    default: return "text";
    }
}

void result_json_columns(struct jout *j, const char *key, const struct result *of)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < of->n_fields; i++) {
        const struct field *f = &of->fields[i];
        if (f->page == PAGE_NOT) continue;
        jout_arr(j, NULL);
        jout_cstr(j, NULL, f->key);
        jout_cstr(j, NULL, field_heading(f));
        jout_cstr(j, NULL, result_json_unit(f->kind));
        jout_cstr(j, NULL, f->term);
        jout_bool(j, NULL, f->page == PAGE_BAR);
        jout_end_arr(j);
    }
    jout_end_arr(j);
}

static const char *result_json_type(enum field_kind k)
{
    switch (k) {
    case FIELD_WORD:
    case FIELD_TEXT: return "string";
    case FIELD_FLAG: return "boolean";
    case FIELD_ID:
    case FIELD_INT:
    case FIELD_COUNT:
    case FIELD_BYTES: return "integer";
    case FIELD_JSON:
    case FIELD_TEXTS:
    case FIELD_LIST: return "array";
    case FIELD_PLACE:
    case FIELD_OBJECT:
    case FIELD_TEXT_MAP:
    case FIELD_MAP: return "object";
    default: return "number";
    }
}

static void result_json_schema_type(struct jout *j, const char *key, const char *type)
{
    jout_obj(j, key);
    jout_cstr(j, "type", type);
    jout_end_obj(j);
}

/* One that need not be known. */
static void result_json_schema_number(struct jout *j, const char *key)
{
    jout_obj(j, key);
    jout_arr(j, "type");
    jout_cstr(j, NULL, "number");
    jout_cstr(j, NULL, "null");
    jout_end_arr(j);
    jout_end_obj(j);
}

static void result_json_schema_place(struct jout *j)
{
    static const char *const keys[] = {"file", "line", "function"};
    jout_obj(j, "properties");
    for (int i = 0; i < 3; i++) result_json_schema_type(j, keys[i], i == 1 ? "integer" : "string");
    jout_end_obj(j);
    jout_arr(j, "required");
    for (int i = 0; i < 3; i++) jout_cstr(j, NULL, keys[i]);
    jout_end_arr(j);
    jout_bool(j, "additionalProperties", false);
}

static void result_json_schema_keys(struct jout *j, const struct result *of);

static void result_json_schema_field(struct jout *j, const char *key, const struct field *f)
{
    jout_obj(j, key);
    const char *type = result_json_type(f->kind);
    const char *other = f->kind == FIELD_ID ? "string" : field_may_be_null(f) ? "null" : NULL;
    if (other) {
        jout_arr(j, "type");
        jout_cstr(j, NULL, type);
        jout_cstr(j, NULL, other);
        jout_end_arr(j);
    } else {
        jout_cstr(j, "type", type);
    }
    if (*field_heading(f)) jout_cstr(j, "title", field_heading(f));
    if (*field_means(f)) jout_cstr(j, "description", field_means(f));
    if (f->kind == FIELD_PLACE) result_json_schema_place(j);
    if (f->kind == FIELD_MAP) result_json_schema_number(j, "additionalProperties");
    if (f->kind == FIELD_TEXT_MAP) result_json_schema_type(j, "additionalProperties", "string");
    if (f->kind == FIELD_TEXTS) result_json_schema_type(j, "items", "string");
    if (f->kind == FIELD_OBJECT) result_json_schema_keys(j, f->inner);
    if (f->kind == FIELD_LIST) result_json_schema(j, "items", f->inner);
    jout_end_obj(j);
}

static void result_json_schema_keys(struct jout *j, const struct result *of)
{
    const struct field *f;
    jout_obj(j, "properties");
    for (uint32_t i = 0; (f = result_nth(of, i)); i++) result_json_schema_field(j, f->key, f);
    jout_end_obj(j);
    jout_arr(j, "required");
    for (uint32_t i = 0; (f = result_nth(of, i)); i++)
        if (!f->sparse) jout_cstr(j, NULL, f->key);
    jout_end_arr(j);
    jout_bool(j, "additionalProperties", false);
}

void result_json_schema(struct jout *j, const char *key, const struct result *of)
{
    if (!*of->fields[0].key) {
        result_json_schema_field(j, key, &of->fields[0]);
        return;
    }
    jout_obj(j, key);
    jout_cstr(j, "type", "object");
    result_json_schema_keys(j, of);
    jout_end_obj(j);
}
