/* pickle.c: see pickle.h. One switch over the instructions, as in Python's own reader. */
#include "import/snapshot/pickle.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* What the values of a pickle may take: far more than a snapshot of 1 GB needs. */
#define MOST_BYTES ((uint64_t)8 << 30)

enum { KIND_MARK = 100 }; /* on the stack only */

struct machine {
    const unsigned char *begin, *p, *end;
    struct arena *mem;
    struct err *e;
    struct pickle_value *stack;
    size_t n_stack, cap_stack;
    size_t *marks; /* places on the stack */
    size_t n_marks, cap_marks;
    struct pickle_value *memo;
    size_t n_memo, cap_memo;
    uint64_t spent; /* bytes of the arena */
};

static int fail_at(struct machine *m, const unsigned char *at, const char *what)
{
    err_at(m->e, NULL, at - m->begin);
    return FAIL(m->e, ERR_FORMAT, "%s", what);
}

static int cut_short(struct machine *m)
{
    return fail_at(m, m->end, "the pickle ends before its end mark (file cut short)");
}

/* ---- bytes */

static int pickle_take(struct machine *m, size_t n, const unsigned char **ret)
{
    if ((size_t)(m->end - m->p) < n) return cut_short(m);
    *ret = m->p;
    m->p += n;
    return 0;
}

static int pickle_take_le(struct machine *m, size_t n, uint64_t *ret)
{
    const unsigned char *at;
    TRY(pickle_take(m, n, &at));
    *ret = 0;
    for (size_t i = 0; i < n; i++) *ret |= (uint64_t)at[i] << 8 * i;
    return 0;
}

/* ---- the stack */

static int pickle_push(struct machine *m, struct pickle_value v)
{
    if (VEC_RESERVE(m->stack, m->n_stack, m->cap_stack, 1)) return err_nomem(m->e);
    assert(m->stack);
    m->stack[m->n_stack++] = v;
    return 0;
}

/* How much of the stack lies above the last mark. */
static size_t pickle_above(const struct machine *m)
{
    return m->n_stack - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

static int pickle_need(struct machine *m, size_t n)
{
    return pickle_above(m) >= n ? 0 : fail_at(m, m->p - 1, "a pickle that takes more than it made");
}

static int set_mark(struct machine *m)
{
    if (VEC_RESERVE(m->marks, m->n_marks, m->cap_marks, 1)) return err_nomem(m->e);
    m->marks[m->n_marks++] = m->n_stack;
    return 0;
}

/* What was pushed since the last mark, which goes. It stays there until the next push. */
static int take_marked(struct machine *m, struct pickle_value **ret, size_t *ret_n)
{
    if (!m->n_marks) return fail_at(m, m->p - 1, "a pickle that looks for a mark it did not set");
    size_t at = m->marks[--m->n_marks];
    *ret = m->stack ? m->stack + at : NULL; /* nothing was pushed yet */
    *ret_n = m->n_stack - at;
    m->n_stack = at;
    return 0;
}

/* ---- values */

static void *pickle_spend(struct machine *m, size_t n, size_t size)
{
    m->spent += (uint64_t)n * size;
    if (m->spent > MOST_BYTES) return NULL;
    return arena_alloc(m->mem, n * size);
}

static int no_room(struct machine *m)
{
    if (m->spent <= MOST_BYTES) return err_nomem(m->e);
    return FAIL(m->e, ERR_LIMIT, "its values take more than 8 GB of memory");
}

static int push_list(struct machine *m, uint32_t kind, const struct pickle_value *items, size_t n)
{
    if (n > UINT32_MAX / 2) return fail_at(m, m->p - 1, "a list that is too long");
    assert(items || !n);
    struct pickle_list *l = pickle_spend(m, 1, sizeof *l);
    struct pickle_value *copy = n ? pickle_spend(m, n, sizeof *copy) : NULL;
    if (!l || (n && !copy)) return no_room(m);
    if (n) memcpy(copy, items, n * sizeof *copy);
    *l = (struct pickle_list){copy, (uint32_t)n, (uint32_t)n, 0};
    return pickle_push(m, (struct pickle_value){.kind = kind, .list = l});
}

static int push_marked(struct machine *m, uint32_t kind)
{
    struct pickle_value *items;
    size_t n;
    TRY(take_marked(m, &items, &n));
    if (kind == PICKLE_DICT && n % 2) return fail_at(m, m->p - 1, "a dict with half an entry");
    return push_list(m, kind, items, n);
}

static int push_top(struct machine *m, size_t n)
{
    TRY(pickle_need(m, n));
    m->n_stack -= n;
    return push_list(m, PICKLE_LIST, m->stack + m->n_stack, n);
}

/* Adds to the list or dict below `items`, which are the top of the stack. */
static int pickle_append(struct machine *m, uint32_t kind, const struct pickle_value *items,
                         size_t n)
{
    TRY(pickle_need(m, 1));
    struct pickle_value *to = &m->stack[m->n_stack - 1];
    if (to->kind != kind) return fail_at(m, m->p - 1, "items for what cannot hold them");
    struct pickle_list *l = to->list;
    assert(items && (l->items || !l->n));
    if (n > UINT32_MAX / 2 - l->n) return fail_at(m, m->p - 1, "a list that is too long");
    if (l->n + n > l->cap) {
        size_t cap = l->n ? (l->n + n) + (l->n + n) / 2 + 4 : n; /* most get all at once */
        struct pickle_value *grown = pickle_spend(m, cap, sizeof *grown);
        if (!grown) return no_room(m);
        if (l->n) memcpy(grown, l->items, l->n * sizeof *grown);
        l->items = grown;
        l->cap = (uint32_t)cap;
    }
    if (n) memcpy(l->items + l->n, items, n * sizeof *items);
    l->n += (uint32_t)n;
    return 0;
}

static int append_marked(struct machine *m, uint32_t kind)
{
    struct pickle_value *items;
    size_t n;
    TRY(take_marked(m, &items, &n));
    if (kind == PICKLE_DICT && n % 2) return fail_at(m, m->p - 1, "a dict with half an entry");
    return pickle_append(m, kind, items, n);
}

static int append_top(struct machine *m, uint32_t kind, size_t n)
{
    TRY(pickle_need(m, n + 1));
    m->n_stack -= n;
    return pickle_append(m, kind, m->stack + m->n_stack, n);
}

static int push_int(struct machine *m, int64_t v)
{
    return pickle_push(m, (struct pickle_value){.kind = PICKLE_INT, .integer = v});
}

static int push_text(struct machine *m, size_t length_bytes)
{
    uint64_t n;
    const unsigned char *at;
    TRY(pickle_take_le(m, length_bytes, &n));
    if (n > UINT32_MAX) return fail_at(m, m->p, "a text of more than 4 GB");
    TRY(pickle_take(m, (size_t)n, &at));
    return pickle_push(
        m, (struct pickle_value){.kind = PICKLE_TEXT, .n = (uint32_t)n, .text = (const char *)at});
}

/* Little-endian, two's complement, of any length. */
static int push_long(struct machine *m, size_t length_bytes)
{
    uint64_t n, v = 0;
    const unsigned char *at;
    TRY(pickle_take_le(m, length_bytes, &n));
    if (n > INT32_MAX) return fail_at(m, m->p, "an integer of more than 2 GB");
    TRY(pickle_take(m, (size_t)n, &at));
    bool negative = n && at[n - 1] >= 0x80;
    size_t used = n;
    while (used > 8 && at[used - 1] == (negative ? 0xff : 0)) used--;
    bool fits = used < 8 || (used == 8 && (at[7] >= 0x80) == negative);
    for (size_t i = 0; i < 8; i++) v |= (uint64_t)(i < used ? at[i] : negative ? 0xff : 0) << 8 * i;
    if (fits) return push_int(m, (int64_t)v);
    /* addresses are unsigned: the full 64 bits are kept as they are */
    if (!negative && used <= 9 && (used == 8 || at[8] == 0)) return push_int(m, (int64_t)v);
    return push_int(m, negative ? INT64_MIN : INT64_MAX);
}

static int push_float(struct machine *m)
{
    const unsigned char *at;
    uint64_t bits = 0;
    struct pickle_value v = {.kind = PICKLE_FLOAT};
    TRY(pickle_take(m, 8, &at));
    for (int i = 0; i < 8; i++) bits = bits << 8 | at[i];
    memcpy(&v.number, &bits, sizeof bits);
    return pickle_push(m, v);
}

/* ---- the memo */

static int memo_get(struct machine *m, size_t length_bytes)
{
    uint64_t i;
    TRY(pickle_take_le(m, length_bytes, &i));
    if (i >= m->n_memo || m->memo[i].kind == KIND_MARK)
        return fail_at(m, m->p, "a pickle that refers to what it did not keep");
    return pickle_push(m, m->memo[i]);
}

/* Numbers follow each other in what Python writes; a gap is allowed, but not one that the file
 * could not fill. */
static int memo_put(struct machine *m, uint64_t i)
{
    TRY(pickle_need(m, 1));
    if (i > (uint64_t)(m->end - m->begin)) return fail_at(m, m->p, "a memo without measure");
    size_t more = i >= m->n_memo ? (size_t)(i + 1 - m->n_memo) : 0;
    if (VEC_RESERVE(m->memo, m->n_memo, m->cap_memo, more)) return err_nomem(m->e);
    for (; more; more--) m->memo[m->n_memo++] = (struct pickle_value){.kind = KIND_MARK};
    m->memo[i] = m->stack[m->n_stack - 1];
    return 0;
}

static int memo_put_at(struct machine *m, size_t length_bytes)
{
    uint64_t i;
    TRY(pickle_take_le(m, length_bytes, &i));
    return memo_put(m, i);
}

/* ---- instructions */

static int pickle_refuse(struct machine *m, unsigned char op)
{
    char what[160];
    /* GLOBAL, STACK_GLOBAL, INST, OBJ, NEWOBJ(_EX), REDUCE, BUILD, EXT, PERSID, buffers */
    bool calls = memchr("c\x93io\x81\x92Rb\x82\x83\x84PQ\x97\x98", op, 15) != NULL;
    snprintf(what, sizeof what,
             calls ? "instruction 0x%02x of the pickle would import or call something: refused"
                   : "unknown instruction 0x%02x in the pickle",
             op);
    return fail_at(m, m->p - 1, what);
}

static int pickle_pop(struct machine *m)
{
    TRY(pickle_need(m, 1));
    m->n_stack--;
    return 0;
}

static int pop_mark(struct machine *m)
{
    struct pickle_value *items;
    size_t n;
    return take_marked(m, &items, &n);
}

static int pickle_duplicate(struct machine *m)
{
    TRY(pickle_need(m, 1));
    assert(m->stack);
    return pickle_push(m, m->stack[m->n_stack - 1]);
}

static int push_le(struct machine *m, size_t n)
{
    uint64_t v;
    TRY(pickle_take_le(m, n, &v));
    return push_int(m, n == 4 ? (int32_t)(uint32_t)v : (int64_t)v);
}

static int pickle_skip(struct machine *m, size_t n)
{
    const unsigned char *at;
    return pickle_take(m, n, &at);
}

/* Long because it is the table of instructions; names as in Python's pickle.py. */
static int pickle_step(struct machine *m, unsigned char op)
{
    switch (op) {
    case 0x80: return pickle_skip(m, 1);                                         /* PROTO */
    case 0x95: return pickle_skip(m, 8);                                         /* FRAME */
    case '(': return set_mark(m);                                                /* MARK */
    case '0': return pickle_pop(m);                                              /* POP */
    case '1': return pop_mark(m);                                                /* POP_MARK */
    case '2': return pickle_duplicate(m);                                        /* DUP */
    case 'N': return pickle_push(m, (struct pickle_value){.kind = PICKLE_NONE}); /* NONE */
    case 0x88:                                                                   /* NEWTRUE */
    case 0x89:                                                                   /* NEWFALSE */
        return pickle_push(m, (struct pickle_value){.kind = PICKLE_BOOL, .integer = op == 0x88});
    case 'J': return push_le(m, 4);                      /* BININT */
    case 'K': return push_le(m, 1);                      /* BININT1 */
    case 'M': return push_le(m, 2);                      /* BININT2 */
    case 0x8a: return push_long(m, 1);                   /* LONG1 */
    case 0x8b: return push_long(m, 4);                   /* LONG4 */
    case 'G': return push_float(m);                      /* BINFLOAT */
    case 0x8c:                                           /* SHORT_BINUNICODE */
    case 'U':                                            /* SHORT_BINSTRING */
    case 'C': return push_text(m, 1);                    /* SHORT_BINBYTES */
    case 'X':                                            /* BINUNICODE */
    case 'T':                                            /* BINSTRING */
    case 'B': return push_text(m, 4);                    /* BINBYTES */
    case 0x8d:                                           /* BINUNICODE8 */
    case 0x8e:                                           /* BINBYTES8 */
    case 0x96: return push_text(m, 8);                   /* BYTEARRAY8 */
    case ']':                                            /* EMPTY_LIST */
    case 0x8f:                                           /* EMPTY_SET */
    case ')': return push_list(m, PICKLE_LIST, NULL, 0); /* EMPTY_TUPLE */
    case '}': return push_list(m, PICKLE_DICT, NULL, 0); /* EMPTY_DICT */
    case 'l':                                            /* LIST */
    case 't':                                            /* TUPLE */
    case 0x91: return push_marked(m, PICKLE_LIST);       /* FROZENSET */
    case 'd': return push_marked(m, PICKLE_DICT);        /* DICT */
    case 0x85: return push_top(m, 1);                    /* TUPLE1 */
    case 0x86: return push_top(m, 2);                    /* TUPLE2 */
    case 0x87: return push_top(m, 3);                    /* TUPLE3 */
    case 'a': return append_top(m, PICKLE_LIST, 1);      /* APPEND */
    case 'e':                                            /* APPENDS */
    case 0x90: return append_marked(m, PICKLE_LIST);     /* ADDITEMS */
    case 's': return append_top(m, PICKLE_DICT, 2);      /* SETITEM */
    case 'u': return append_marked(m, PICKLE_DICT);      /* SETITEMS */
    case 'h': return memo_get(m, 1);                     /* BINGET */
    case 'j': return memo_get(m, 4);                     /* LONG_BINGET */
    case 'q': return memo_put_at(m, 1);                  /* BINPUT */
    case 'r': return memo_put_at(m, 4);                  /* LONG_BINPUT */
    case 0x94: return memo_put(m, m->n_memo);            /* MEMOIZE */
    default: return pickle_refuse(m, op);
    }
}

static int pickle_run(struct machine *m, struct pickle_value *ret)
{
    while (m->p < m->end) {
        unsigned char op = *m->p++;
        if (op != '.') {
            TRY(pickle_step(m, op));
            continue;
        }
        TRY(pickle_need(m, 1));
        if (m->n_stack != 1 || m->n_marks)
            return fail_at(m, m->p - 1, "a pickle that leaves something behind");
        *ret = m->stack[0];
        return 0;
    }
    return cut_short(m);
}

int pickle_read(struct str bytes, struct arena *mem, struct pickle_value *ret, struct err *e)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    struct machine m = {.begin = p, .p = p, .end = p + bytes.n, .mem = mem, .e = e};
    int rc = bytes.n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5
                 ? pickle_run(&m, ret)
                 : fail_at(&m, p, "not a pickle of protocol 2 to 5");
    mem_free(m.stack);
    mem_free(m.marks);
    mem_free(m.memo);
    return rc;
}

/* ---- looking things up */

const struct pickle_value *pickle_get(const struct pickle_value *d, const char *key)
{
    if (!d || d->kind != PICKLE_DICT) return NULL;
    size_t n = strlen(key);
    for (uint32_t i = 0; i + 1 < d->list->n; i += 2) {
        const struct pickle_value *k = &d->list->items[i];
        if (k->kind == PICKLE_TEXT && k->n == n && memcmp(k->text, key, n) == 0)
            return &d->list->items[i + 1];
    }
    return NULL;
}

int64_t pickle_int(const struct pickle_value *d, const char *key, int64_t otherwise)
{
    const struct pickle_value *v = pickle_get(d, key);
    if (v && (v->kind == PICKLE_INT || v->kind == PICKLE_BOOL)) return v->integer;
    if (v && v->kind == PICKLE_FLOAT && v->number > -9e18 && v->number < 9e18)
        return (int64_t)v->number;
    return otherwise;
}

struct str pickle_text(const struct pickle_value *d, const char *key)
{
    const struct pickle_value *v = pickle_get(d, key);
    return v && v->kind == PICKLE_TEXT ? str_from(v->text, v->n) : str_from("", 0);
}

const struct pickle_value *pickle_items(const struct pickle_value *v, uint32_t *ret_n)
{
    bool list = v && v->kind == PICKLE_LIST;
    *ret_n = list ? v->list->n : 0;
    return list ? v->list->items : NULL;
}
