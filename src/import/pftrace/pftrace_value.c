/* pftrace_value.c: see pftrace_private.h. */
#include "import/pftrace/pftrace_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/jout.h"
#include "base/json_valid.h"

/* DebugAnnotation */
enum {
    VALUE_NAME_IID = 1,
    VALUE_BOOL = 2,
    VALUE_UINT = 3,
    VALUE_INT = 4,
    VALUE_DOUBLE = 5,
    VALUE_STRING = 6,
    VALUE_POINTER = 7,
    VALUE_NESTED = 8,
    VALUE_JSON = 9,
    VALUE_NAME = 10,
    VALUE_DICT = 11,
    VALUE_ARRAY = 12,
    VALUE_STRING_IID = 17
};

static struct str pftrace_value_text_of(const struct pf_text *t)
{
    return t ? str_from(t->text.p, t->text.n) : str_c("");
}

static void pftrace_value_set_text(struct pf_value *v, enum pf_kind kind, struct str text)
{
    v->kind = kind;
    v->text = text;
}

struct pf_value pf_read_value(const struct pf_view *at, struct str bytes)
{
    struct pf_value v = {.nested = bytes};
    const struct pf_text *known = NULL;
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        switch (f.number) {
        case VALUE_NAME_IID: known = pf_find(at, PF_ARG_NAMES, f.value); break;
        case VALUE_NAME: v.name = f.bytes; break;
        case VALUE_BOOL: v.kind = PF_BOOL; break;
        case VALUE_POINTER:
        case VALUE_UINT: v.kind = PF_UINT; break;
        case VALUE_INT: v.kind = PF_INT; break;
        case VALUE_DOUBLE: v.kind = PF_REAL; break;
        case VALUE_STRING: pftrace_value_set_text(&v, PF_STRING, f.bytes); break;
        case VALUE_STRING_IID:
            pftrace_value_set_text(&v, PF_STRING,
                                   pftrace_value_text_of(pf_find(at, PF_ARG_TEXTS, f.value)));
            break;
        case VALUE_JSON: pftrace_value_set_text(&v, PF_JSON, f.bytes); break;
        case VALUE_NESTED:
        case VALUE_DICT:
        case VALUE_ARRAY: v.kind = PF_NESTED; break;
        default: break;
        }
        if (f.number >= VALUE_BOOL && f.number <= VALUE_POINTER && f.type != PB_BYTES)
            v.number = f.value;
    }
    if (known) v.name = pftrace_value_text_of(known);
    v.arg = known ? known->arg : event_find_arg(v.name.p, v.name.n);
    return v;
}

/* A number written as text, all of it. */
static bool text_int(struct str s, int64_t *ret)
{
    char digits[32], *end;
    if (s.n == 0 || s.n >= sizeof digits) return false;
    memcpy(digits, s.p, s.n);
    digits[s.n] = '\0';
    errno = 0;
    bool hex = s.n > 2 && digits[0] == '0' && (digits[1] | 32) == 'x';
    long long v =
        *digits == '-' || !hex ? strtoll(digits, &end, 10) : (long long)strtoull(digits, &end, 16);
    if (*end || errno) return false;
    *ret = v;
    return true;
}

bool pf_value_int(const struct pf_value *v, int64_t *ret)
{
    double real;
    switch (v->kind) {
    case PF_INT:
    case PF_UINT:
    case PF_BOOL: *ret = (int64_t)v->number; return true;
    case PF_REAL:
        real = pb_double(v->number);
        if (!(fabs(real) < 9e18)) return false;
        *ret = (int64_t)real;
        return true;
    case PF_STRING:
    case PF_JSON:
        if (str_is(v->text, "true") || str_is(v->text, "false")) {
            *ret = v->text.n == 4;
            return true;
        }
        return text_int(v->text, ret);
    default: return false;
    }
}

bool pf_value_real(const struct pf_value *v, double *ret)
{
    int64_t number;
    char digits[64], *end;
    if (v->kind == PF_REAL) {
        *ret = pb_double(v->number);
        return isfinite(*ret);
    }
    if ((v->kind == PF_STRING || v->kind == PF_JSON) && v->text.n && v->text.n < sizeof digits) {
        memcpy(digits, v->text.p, v->text.n);
        digits[v->text.n] = '\0';
        *ret = strtod(digits, &end);
        return !*end && isfinite(*ret);
    }
    if (!pf_value_int(v, &number)) return false;
    *ret = (double)number;
    return true;
}

/* The numbers of "[64, 1, 1]". */
static bool text_dim3(struct str s, uint32_t ret[3])
{
    int n = 0;
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            if (s.p[i] == '-' || s.p[i] == '.') return false;
            i++;
            continue;
        }
        uint64_t value = 0;
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && value <= UINT32_MAX; i++)
            value = value * 10 + (uint64_t)(s.p[i] - '0');
        if (n == 3 || value > UINT32_MAX) return false;
        ret[n++] = (uint32_t)value;
    }
    return n == 3;
}

bool pf_value_dim3(const struct pf_view *at, const struct pf_value *v, uint32_t ret[3])
{
    if (v->kind == PF_STRING || v->kind == PF_JSON) return text_dim3(v->text, ret);
    if (v->kind != PF_NESTED) return false;
    struct pb m = pb_open(v->nested);
    struct pb_field f;
    int n = 0;
    while (pb_next(&m, &f)) {
        if (f.number != VALUE_ARRAY || f.type != PB_BYTES) continue;
        struct pf_value item = pf_read_value(at, f.bytes);
        int64_t number;
        if (n == 3 || !pf_value_int(&item, &number) || number < 0 || number > UINT32_MAX)
            return false;
        ret[n++] = (uint32_t)number;
    }
    return n == 3;
}

static void put_real(struct buf *out, double v)
{
    if (!isfinite(v)) buf_adds(out, "null");
    else buf_printf(out, "%.17g", v);
}

/* Members of a dictionary or an array, in the order they are written. */
static void pftrace_value_put_nested(const struct pf_view *at, struct str bytes, int depth,
                                     struct buf *out)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    bool dict = false, any = false;
    size_t begin = out->n;
    buf_addc(out, '[');
    while (buf_ok(out) && pb_next(&m, &f)) {
        if ((f.number != VALUE_DICT && f.number != VALUE_ARRAY) || f.type != PB_BYTES) continue;
        if (!any) dict = f.number == VALUE_DICT;
        if (dict != (f.number == VALUE_DICT)) continue;
        if (any) buf_addc(out, ',');
        any = true;
        struct pf_value item = pf_read_value(at, f.bytes);
        if (dict) {
            jout_quote(out, item.name);
            buf_addc(out, ':');
        }
        pf_value_json(at, &item, depth + 1, out);
    }
    buf_addc(out, dict ? '}' : ']');
    if (dict && buf_ok(out)) out->p[begin] = '{';
}

/* Texts that stand for what they say: there are no empty lists, and shapes are written as text. */
static bool is_json(const struct pf_value *v)
{
    if (v->kind == PF_JSON) return json_valid(v->text);
    if (str_is(v->text, "[]") || str_is(v->text, "{}")) return true;
    return v->arg && v->arg->type == ARG_RAW && v->text.n && *v->text.p == '[' &&
           json_valid(v->text);
}

void pf_value_json(const struct pf_view *at, const struct pf_value *v, int depth, struct buf *out)
{
    switch (v->kind) {
    case PF_INT: buf_printf(out, "%lld", (long long)v->number); break;
    case PF_UINT: buf_printf(out, "%llu", (unsigned long long)v->number); break;
    case PF_BOOL: buf_adds(out, v->number ? "true" : "false"); break;
    case PF_REAL: put_real(out, pb_double(v->number)); break;
    case PF_STRING:
    case PF_JSON:
        if (is_json(v)) buf_add_str(out, v->text);
        else jout_quote(out, v->text);
        break;
    case PF_NESTED:
        if (depth < PB_DEEPEST) pftrace_value_put_nested(at, v->nested, depth, out);
        else buf_adds(out, "null");
        break;
    case PF_NOTHING: buf_adds(out, "null"); break;
    }
}
