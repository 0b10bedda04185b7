/* native_cfi.c: see native_modules.h. Every byte is read through a reader that knows where its
 * section may end; the first read beyond that makes it fail for good. */
#include "backend/program/native_modules.h"

#include <string.h>

enum {
    MOST_STATES = 8,   /* remembered at once */
    MOST_STEPS = 4096, /* instructions of one function */
    WORD = 8,
    TABLE_ENCODING = 0x3b, /* four bytes each, relative to the index */
};

struct reader {
    uintptr_t at, end;
    bool failed;
};

/* From `at` to the end of the segment it lies in. */
static struct reader reader_at(const struct native_image *m, uintptr_t at)
{
    for (size_t i = 0; i < m->n_segments; i++)
        if (at >= m->segments[i].begin && at < m->segments[i].end)
            return (struct reader){at, m->segments[i].end, false};
    return (struct reader){0, 0, true};
}

static bool native_cfi_take(struct reader *r, void *out, size_t n)
{
    memset(out, 0, n);
    if (r->failed || r->end - r->at < n) {
        r->failed = true;
        return false;
    }
    memcpy(out, (const void *)r->at, n);
    r->at += n;
    return true;
}

static uint8_t take_byte(struct reader *r)
{
    uint8_t b;
    native_cfi_take(r, &b, sizeof b);
    return b;
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t v;
    native_cfi_take(r, &v, sizeof v);
    return v;
}

static uint64_t take_uleb(struct reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = take_byte(r);
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) return v;
    }
    r->failed = true;
    return 0;
}

static int64_t take_sleb(struct reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64;) {
        uint8_t b = take_byte(r);
        v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (b & 0x80) continue;
        if ((b & 0x40) && shift < 64) v |= ~(uint64_t)0 << shift;
        return (int64_t)v;
    }
    r->failed = true;
    return 0;
}

static void native_cfi_skip(struct reader *r, uint64_t n)
{
    if (r->failed || r->end - r->at < n) r->failed = true;
    else r->at += n;
}

/* A pointer in one of the encodings that occur: absolute, or relative to itself. */
static uintptr_t take_pointer(struct reader *r, uint8_t encoding)
{
    uintptr_t from = (encoding & 0x70) == 0x10 ? r->at : 0;
    if ((encoding & 0x70) > 0x10 || (encoding & 0x80)) r->failed = true;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: {
        uint64_t v;
        native_cfi_take(r, &v, sizeof v);
        return from + v;
    }
    case 0x03: return from + take_u32(r);
    case 0x0b: return from + (uintptr_t)(int64_t)(int32_t)take_u32(r);
    case 0x01: return from + take_uleb(r);
    case 0x09: return from + (uintptr_t)take_sleb(r);
    default: r->failed = true; return 0;
    }
}

/* What all functions of a unit have in common. */
struct common {
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding; /* of pointers to code */
    bool sized;       /* functions have augmentation data of their own, with its length */
    bool is_signal;   /* the ip is where it was interrupted, not behind a call */
    struct reader program;
};

/* The length of an entry; `r` then ends with it. False for the long format and for the end. */
static bool native_cfi_enter(struct reader *r)
{
    uint32_t length = take_u32(r);
    if (r->failed || !length || length == UINT32_MAX || r->end - r->at < length) return false;
    r->end = r->at + length;
    return true;
}

static void read_augmentation(struct reader *r, const char *letters, struct common *c)
{
    uint64_t n = take_uleb(r);
    if (r->failed || r->end - r->at < n) {
        r->failed = true;
        return;
    }
    uintptr_t end = r->at + n;
    for (const char *a = letters + 1; *a && !r->failed; a++) {
        if (*a == 'R') c->encoding = take_byte(r);
        else if (*a == 'L') (void)take_byte(r);
        else if (*a == 'S') c->is_signal = true;
        else if (*a == 'P') {
            uint8_t encoding = take_byte(r) & 0x7f; /* it may be indirect: only its length counts */
            (void)take_pointer(r, encoding);
        } else break; /* and what follows is skipped with the rest */
    }
    r->at = end;
}

static bool read_common(const struct native_image *m, uintptr_t at, struct common *c)
{
    struct reader r = reader_at(m, at);
    *c = (struct common){0};
    if (!native_cfi_enter(&r) || take_u32(&r) != 0) return false;
    uint8_t version = take_byte(&r);
    char letters[16];
    size_t n = 0;
    while (n < sizeof letters - 1 && (letters[n] = (char)take_byte(&r))) n++;
    letters[n] = 0;
    if (r.failed || n == sizeof letters - 1 || (letters[0] && letters[0] != 'z')) return false;
    c->code_align = take_uleb(&r);
    c->data_align = take_sleb(&r);
    if (version == 1) (void)take_byte(&r);
    else (void)take_uleb(&r);
    c->sized = letters[0] == 'z';
    if (c->sized) read_augmentation(&r, letters, c);
    c->program = r;
    return !r.failed && c->data_align == -WORD;
}

/* DWARF's numbers of registers on x86-64. */
static int native_cfi_number_of(uint64_t dwarf)
{
    switch (dwarf) {
    case 3: return NATIVE_BX;
    case 6: return NATIVE_BP;
    case 7: return NATIVE_SP;
    case 12: return NATIVE_R12;
    case 13: return NATIVE_R13;
    case 14: return NATIVE_R14;
    case 15: return NATIVE_R15;
    case 16: return NATIVE_IP;
    default: return -1;
    }
}

/* The rules as they stand at one place of a function. */
struct row {
    struct native_rule rule;
    bool unknown; /* by an expression, or a register we do not follow */
    bool ends;    /* the outermost function */
};

struct machine {
    struct row now, initial, kept[MOST_STATES];
    int n_kept;
    const struct common *c;
    uintptr_t at, stop; /* the place that the rules are for; the one that is requested */
    bool failed;
};

static void set_saved(struct machine *x, uint64_t dwarf, int64_t words)
{
    int n = native_cfi_number_of(dwarf);
    if (n < 0 || n == NATIVE_SP) return;
    /* the factor is -8: a saved register lies below the frame */
    if (words < -127 || words > 127) x->now.unknown = true;
    else x->now.rule.saved[n] = (int8_t)-words;
}

static void native_cfi_restore(struct machine *x, uint64_t dwarf)
{
    int n = native_cfi_number_of(dwarf);
    if (n >= 0 && n != NATIVE_SP) x->now.rule.saved[n] = x->initial.rule.saved[n];
}

static void native_cfi_forget(struct machine *x, uint64_t dwarf)
{
    int n = native_cfi_number_of(dwarf);
    if (n == NATIVE_IP) x->now.ends = true;
    if (n >= 0 && n != NATIVE_SP) x->now.rule.saved[n] = 0;
}

static void native_cfi_set_base(struct machine *x, uint64_t dwarf)
{
    int n = native_cfi_number_of(dwarf);
    x->now.unknown = n < 0 || n == NATIVE_IP;
    if (!x->now.unknown) x->now.rule.base = (uint8_t)n;
}

static void set_offset(struct machine *x, int64_t offset)
{
    if (offset < 0 || offset > INT32_MAX) x->now.unknown = true;
    else x->now.rule.offset = (int32_t)offset;
}

static void native_cfi_advance(struct machine *x, uint64_t by)
{
    x->at += by * x->c->code_align;
}

static void obey_extended(struct machine *x, struct reader *r, uint8_t op)
{
    uint64_t a;
    switch (op) {
    case 0x00: break;                                          /* nop */
    case 0x01: x->at = take_pointer(r, x->c->encoding); break; /* set_loc */
    case 0x02: native_cfi_advance(x, take_byte(r)); break;     /* advance_loc1 */
    case 0x03: native_cfi_advance(x, take_byte(r) | (uint64_t)take_byte(r) << 8); break;
    case 0x04: native_cfi_advance(x, take_u32(r)); break;
    case 0x05: a = take_uleb(r), set_saved(x, a, (int64_t)take_uleb(r)); break; /* offset */
    case 0x06: native_cfi_restore(x, take_uleb(r)); break;
    case 0x07: native_cfi_forget(x, take_uleb(r)); break; /* undefined */
    case 0x08: (void)take_uleb(r); break;                 /* same_value */
    case 0x09: a = take_uleb(r), (void)take_uleb(r), x->now.unknown |= a == 16; break;
    case 0x0a: /* remember_state */
        if (x->n_kept < MOST_STATES) x->kept[x->n_kept++] = x->now;
        else x->failed = true;
        break;
    case 0x0b: /* restore_state */
        if (x->n_kept) x->now = x->kept[--x->n_kept];
        else x->failed = true;
        break;
    case 0x0c: native_cfi_set_base(x, take_uleb(r)), set_offset(x, (int64_t)take_uleb(r)); break;
    case 0x0d: native_cfi_set_base(x, take_uleb(r)); break;
    case 0x0e: set_offset(x, (int64_t)take_uleb(r)); break;
    case 0x0f: x->now.unknown = true, native_cfi_skip(r, take_uleb(r)); break; /* expressions */
    case 0x10:
    case 0x16:
        a = take_uleb(r), native_cfi_skip(r, take_uleb(r)), native_cfi_forget(x, a),
        x->now.unknown |= a == 16;
        break;
    case 0x11: a = take_uleb(r), set_saved(x, a, take_sleb(r)); break;
    case 0x12: native_cfi_set_base(x, take_uleb(r)), set_offset(x, -WORD * take_sleb(r)); break;
    case 0x13: set_offset(x, -WORD * take_sleb(r)); break;
    case 0x2e: (void)take_uleb(r); break; /* size of arguments */
    default: x->failed = true;
    }
}

static void native_cfi_obey(struct machine *x, struct reader *r)
{
    uint8_t op = take_byte(r);
    switch (op & 0xc0) {
    case 0x40: native_cfi_advance(x, op & 0x3f); break;
    case 0x80: set_saved(x, op & 0x3f, (int64_t)take_uleb(r)); break;
    case 0xc0: native_cfi_restore(x, op & 0x3f); break;
    default: obey_extended(x, r, op);
    }
}

/* Until the place that is requested is passed: rules of later places are not its own. */
static bool native_cfi_run(struct machine *x, struct reader r, bool to_the_end)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        if (r.at >= r.end) return true;
        struct row before = x->now;
        native_cfi_obey(x, &r);
        if (r.failed || x->failed) return false;
        if (!to_the_end && x->at > x->stop) {
            x->now = before;
            return true;
        }
    }
    return false;
}

static bool run_function(const struct native_image *m, uintptr_t at, uintptr_t ip,
                         struct native_rule *ret)
{
    struct reader r = reader_at(m, at);
    struct common c;
    if (!native_cfi_enter(&r)) return false;
    uintptr_t field = r.at;
    if (!read_common(m, field - take_u32(&r), &c)) return false;
    uintptr_t begin = take_pointer(&r, c.encoding);
    uintptr_t length = take_pointer(&r, c.encoding & 0x0f);
    if (c.sized) native_cfi_skip(&r, take_uleb(&r));
    if (r.failed || ip < begin || ip - begin >= length) return false;
    struct machine x = {.c = &c, .at = begin, .stop = ip};
    x.now.rule.base = NATIVE_SP;
    if (!native_cfi_run(&x, c.program, true)) return false;
    x.initial = x.now;
    x.at = begin;
    if (!native_cfi_run(&x, r, false) || x.now.unknown || x.now.ends) return false;
    *ret = x.now.rule;
    return ret->saved[NATIVE_IP] != 0;
}

/* Entry `i` of the table, which is sorted: where the function begins, and where its rules are. */
static bool native_cfi_entry(const struct native_image *m, uintptr_t table, uint32_t i,
                             uintptr_t ret[2])
{
    struct reader r = reader_at(m, table + (uintptr_t)i * 8);
    for (int k = 0; k < 2; k++) ret[k] = m->index + (uintptr_t)(int64_t)(int32_t)take_u32(&r);
    return !r.failed;
}

bool native_cfi_find(const struct native_image *m, uintptr_t ip, struct native_rule *ret)
{
#if !defined(__x86_64__)
    return false;
#endif
    struct reader r = reader_at(m, m->index);
    uint8_t version = take_byte(&r), pointer = take_byte(&r), count = take_byte(&r);
    uint8_t table = take_byte(&r);
    if (version != 1 || count != 0x03 || table != TABLE_ENCODING) return false;
    (void)take_pointer(&r, pointer);
    uint32_t n = take_u32(&r), lo = 0;
    uintptr_t at[2];
    if (r.failed || n == 0 || n > (r.end - r.at) / 8) return false;
    for (uint32_t hi = n; hi - lo > 1;) {
        uint32_t mid = lo + (hi - lo) / 2; /* allowed: an entry may be unreadable */
        if (!native_cfi_entry(m, r.at, mid, at)) return false;
        if (at[0] <= ip) lo = mid;
        else hi = mid;
    }
    return native_cfi_entry(m, r.at, lo, at) && at[0] <= ip && run_function(m, at[1], ip, ret);
}
