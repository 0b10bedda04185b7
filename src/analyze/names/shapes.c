/* shapes.c: see shapes.h. A cursor that counts brackets is all the parsing there is. */
#include "analyze/names/shapes.h"

#include <stdlib.h>

static size_t skip_blanks(struct str s, size_t i)
{
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r')) i++;
    return i;
}

/* End of the string that starts at `i`. */
static size_t skip_string(struct str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        if (s.p[i] == '\\') i++;
    return i < s.n ? i + 1 : s.n;
}

/* End of the value that starts at `i`: an array, a string or a bare word. */
static size_t skip_value(struct str s, size_t i)
{
    int depth = 0;
    while (i < s.n) {
        char c = s.p[i];
        if (c == '"') {
            i = skip_string(s, i);
            if (depth == 0) return i;
            continue;
        }
        if (c == '[') depth++;
        if ((c == ']' && depth == 0) || (c == ',' && depth == 0)) return i;
        i++;
        if (c == ']' && --depth == 0) return i;
    }
    return s.n;
}

/* Walks the elements of an array text. */
struct walk {
    struct str s;
    size_t i;
};

static struct walk walk_begin(struct str array)
{
    struct str s = str_trim(array);
    bool is_array = s.n >= 2 && s.p[0] == '[';
    return (struct walk){s, is_array ? skip_blanks(s, 1) : s.n};
}

/* The next element; .p is NULL at the end. */
static struct str walk_next(struct walk *w)
{
    const struct str none = {NULL, 0};
    if (w->i >= w->s.n || w->s.p[w->i] == ']') return none;
    size_t begin = w->i, end = skip_value(w->s, begin);
    if (end == begin) return none;
    w->i = skip_blanks(w->s, end);
    if (w->i < w->s.n && w->s.p[w->i] == ',') w->i = skip_blanks(w->s, w->i + 1);
    return str_trim(str_from(w->s.p + begin, end - begin));
}

static struct str element(struct str array, int n)
{
    struct walk w = walk_begin(array);
    struct str e = walk_next(&w);
    while (e.p && n-- > 0) e = walk_next(&w);
    return e;
}

static bool read_number(struct str s, int64_t *ret)
{
    char digits[24];
    if (s.n == 0 || s.n >= sizeof digits) return false;
    memcpy(digits, s.p, s.n);
    digits[s.n] = '\0';
    char *end;
    *ret = strtoll(digits, &end, 10);
    return *end == '\0';
}

static bool read_shape(struct str one, struct shape *ret)
{
    if (!one.p || one.p[0] != '[') return false;
    struct shape s = {0};
    struct walk w = walk_begin(one);
    for (struct str d; (d = walk_next(&w)).p; s.rank++)
        if (s.rank == SHAPE_RANK || !read_number(d, &s.dim[s.rank])) return false;
    *ret = s;
    return true;
}

bool shape_read(struct str dims, int arg, struct shape *ret)
{
    return read_shape(element(dims, arg), ret);
}

double shape_elements(const struct shape *s)
{
    double n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dim[i] > 0 ? (double)s->dim[i] : 0;
    return n;
}

bool shape_list(struct str dims, int arg, double *ret_all, double *ret_largest)
{
    struct walk w = walk_begin(element(dims, arg));
    struct shape s;
    bool any = false;
    *ret_all = *ret_largest = 0;
    for (struct str one; (one = walk_next(&w)).p; any = true) {
        if (!read_shape(one, &s)) return false;
        double n = shape_elements(&s);
        *ret_all += n;
        if (n > *ret_largest) *ret_largest = n;
    }
    return any;
}

struct str shape_text(struct str list, int arg)
{
    struct str s = element(list, arg);
    if (!s.p || s.n < 2 || s.p[0] != '"') return (struct str){NULL, 0};
    return str_from(s.p + 1, s.n - 2);
}

bool shape_is_tensor(struct str types, struct str dims, int arg)
{
    struct str type = shape_text(types, arg);
    struct shape s;
    if (!type.p) return shape_read(dims, arg, &s) && s.rank > 0;
    return type.n && !str_is(type, "Scalar") && !str_is(type, "ScalarList") &&
           !str_is(type, "TensorList");
}

uint64_t shape_size(const struct shape *s)
{
    uint64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= (uint64_t)s->dim[i];
    return n;
}

/* One input: the shape of a tensor, [] for everything else. */
static void flatten_one(struct str one, struct buf *out)
{
    struct walk w = walk_begin(one);
    struct str d = walk_next(&w);
    buf_addc(out, '[');
    for (bool first = true; d.p && d.p[0] != '['; d = walk_next(&w), first = false) {
        if (!first) buf_adds(out, ", ");
        buf_add_str(out, d);
    }
    buf_addc(out, ']');
}

void shape_flatten(struct str dims, struct buf *out)
{
    struct walk w = walk_begin(dims);
    struct str one = walk_next(&w);
    buf_addc(out, '[');
    for (bool first = true; one.p; one = walk_next(&w), first = false) {
        if (!first) buf_adds(out, ", ");
        flatten_one(one, out);
    }
    buf_addc(out, ']');
}
