/* ring_inputs.c: see ring_inputs.h. */
#include "import/ring/ring_inputs.h"

#include <string.h>

enum { DEEPEST_LIST = 3 }; /* shapes of a list of tensors stand in a list of lists of lists */

struct ring_inputs ring_inputs_of(const struct ring_entry *e)
{
    bool numbered = e->value > 0 && e->value <= INT64_MAX;
    return (struct ring_inputs){
        .shapes = ring_id(e->r),
        .numbered = numbered,
        .backward = e->r.type == 1,
        .sequence = numbered ? (int64_t)e->value - 1 : ID_NONE,
    };
}

/* The end of a plain text that begins at `i`; 0 when it has another form. */
static size_t ring_inputs_skip_text(struct str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '\\') return 0;
    return i < s.n ? i + 1 : 0;
}

static size_t ring_inputs_skip_number(struct str s, size_t i)
{
    size_t begin = i += s.p[i] == '-';
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') i++;
    return i > begin && i - begin < 20 && (s.p[begin] != '0' || i == begin + 1) ? i : 0;
}

/* One JSON array of whole numbers, plain texts and such arrays, and nothing behind it. */
static bool ring_inputs_is_array(struct str s)
{
    size_t i = 0;
    int depth = 0;
    bool value = false; /* one has just ended */
    while (i < s.n && (depth || !i)) {
        char c = s.p[i];
        if (c == '[' && !value && depth < DEEPEST_LIST) {
            depth++;
            i++;
        } else if (c == ']' && depth && (value || s.p[i - 1] == '[')) {
            depth--;
            i++;
            value = true;
        } else if (c == ',' && value && i + 1 < s.n && s.p[i + 1] == ' ') {
            i += 2;
            value = false;
        } else if (depth && !value && (c == '"' || c == '-' || (c >= '0' && c <= '9'))) {
            i = c == '"' ? ring_inputs_skip_text(s, i) : ring_inputs_skip_number(s, i);
            if (!i) return false;
            value = true;
        } else {
            return false;
        }
    }
    return depth == 0 && i == s.n && i > 0;
}

void ring_inputs_texts(const struct ring_inputs *in, const struct defs_file *defs,
                       struct str ret[3])
{
    struct str rest =
        in->shapes ? defs_file_get(defs, in->shapes, DEF_SHAPES, 0) : (struct str){NULL, 0};
    for (int i = 0; i < 3; i++) {
        const char *tab = rest.n ? memchr(rest.p, '\t', rest.n) : NULL;
        struct str one = tab ? str_from(rest.p, (size_t)(tab - rest.p)) : rest;
        ret[i] = ring_inputs_is_array(one) ? one : str_c("");
        rest = tab ? str_from(tab + 1, rest.n - one.n - 1) : str_c("");
    }
}

int ring_inputs_fill(const struct ring_inputs *in, const struct defs_file *defs,
                     struct intern *strings, struct op_info *ret)
{
    struct str texts[3];
    *ret = (struct op_info){
        .external_id = ID_NONE,
        .sequence = in->numbered ? in->sequence : ID_NONE,
        .fwd_thread = in->backward,
        .dims = STR_NONE,
        .types = STR_NONE,
        .concrete = STR_NONE,
    };
    str_id *into[] = {&ret->dims, &ret->types, &ret->concrete};
    ring_inputs_texts(in, defs, texts);
    for (int i = 0; i < 3; i++) {
        if (!texts[i].n) continue;
        *into[i] = intern_add(strings, texts[i]);
        if (*into[i] == STR_NONE) return ERR_NOMEM;
    }
    return 0;
}
