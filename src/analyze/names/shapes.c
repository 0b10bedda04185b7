/* shapes.c: see shapes.h. */
#include "analyze/names/shapes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_valid.h"

/* The items of an array, one after the other; .p is NULL at the end. What is not an array has none.
 */
static struct str shapes_next(struct str *rest)
{
    struct str item;
    *rest = str_trim(*rest);
    bool begun = rest->n && (*rest->p == '[' || *rest->p == ',');
    return begun && json_next_item(rest, &item) ? item : (struct str){NULL, 0};
}

static struct str shapes_element(struct str array, int n)
{
    struct str rest = array, e = shapes_next(&rest);
    while (e.p && n-- > 0) e = shapes_next(&rest);
    return e;
}

static bool shapes_read_number(struct str s, int64_t *ret)
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
    for (struct str d; (d = shapes_next(&one)).p; s.rank++)
        if (s.rank == SHAPE_RANK || !shapes_read_number(d, &s.dim[s.rank])) return false;
    *ret = s;
    return true;
}

bool shape_read(struct str dims, int arg, struct shape *ret)
{
    return read_shape(shapes_element(dims, arg), ret);
}

double shape_elements(const struct shape *s)
{
    double n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dim[i] > 0 ? (double)s->dim[i] : 0;
    return n;
}

bool shape_list(struct str dims, int arg, double *ret_all, double *ret_largest)
{
    struct str list = shapes_element(dims, arg);
    struct shape s;
    bool any = false;
    *ret_all = *ret_largest = 0;
    for (struct str one; (one = shapes_next(&list)).p; any = true) {
        if (!read_shape(one, &s)) return false;
        double n = shape_elements(&s);
        *ret_all += n;
        if (n > *ret_largest) *ret_largest = n;
    }
    return any;
}

struct str shape_text(struct str list, int arg)
{
    struct str s = shapes_element(list, arg);
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

static void shapes_write(const struct shape *s, const char *comma, char *ret, size_t room)
{
    size_t n = 0;
    for (int i = 0; i < s->rank && n + 32 < room; i++)
        n += (size_t)snprintf(ret + n, room - n, "%s%lld", i ? comma : "[", (long long)s->dim[i]);
    if (n + 2 < room) snprintf(ret + n, room - n, "]");
}

bool shape_is_in(struct str text, const struct shape *s)
{
    char tight[256] = "", wide[256] = "";
    if (!s->rank) return false;
    shapes_write(s, ",", tight, sizeof tight);
    shapes_write(s, ", ", wide, sizeof wide);
    return str_find(text, tight) >= 0 || str_find(text, wide) >= 0;
}

/* One input: the shape of a tensor, [] for everything else. */
static void flatten_one(struct str one, struct buf *out)
{
    struct str d = shapes_next(&one);
    buf_addc(out, '[');
    for (bool first = true; d.p && d.p[0] != '['; d = shapes_next(&one), first = false) {
        if (!first) buf_adds(out, ", ");
        buf_add_str(out, d);
    }
    buf_addc(out, ']');
}

void shape_flatten(struct str dims, struct buf *out)
{
    struct str rest = dims, one = shapes_next(&rest);
    buf_addc(out, '[');
    for (bool first = true; one.p; one = shapes_next(&rest), first = false) {
        if (!first) buf_adds(out, ", ");
        flatten_one(one, out);
    }
    buf_addc(out, ']');
}
