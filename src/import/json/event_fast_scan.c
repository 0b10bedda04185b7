/* event_fast_scan.c: one version of event_fast, compiled once for each instruction set under the
 * name EVENT_FAST. First by template, then, making a new one, member by member. */
#include "import/json/event_fast.h"
#include "import/json/event_tokens.h"
#include "trace/trace.h"

event_fast_fn EVENT_FAST;

/* Reading member by member, and making a template of what is read on the way. */
struct reader {
    const char *end;
    struct event *ev;
    struct event_template *made;
    const char *copied; /* the text up to here is in the template, but for its holes */
    size_t text_n;      /* of the template so far */
    uint32_t have;
    bool makes; /* the template still holds everything */
};

/* What stands in [begin, after) is a hole of the template. */
static void make_hole(struct reader *r, enum hole_type type, int arg, const char *begin,
                      const char *after)
{
    struct event_template *t = r->made;
    size_t n = (size_t)(begin - r->copied);
    if (!after || !r->makes) return;
    r->makes = t->n_holes < TEMPLATE_HOLES && r->text_n + n <= TEMPLATE_TEXT;
    if (!r->makes) return;
    memcpy(t->text + r->text_n, r->copied, n);
    t->holes[t->n_holes++] =
        (struct event_hole){(uint16_t)r->text_n, (uint16_t)n, (uint8_t)type, (uint8_t)arg};
    r->text_n += n;
    r->copied = after;
}

/* Where the template will have a text that is not a hole. */
static struct scan_text in_template(const struct reader *r, struct scan_text text)
{
    size_t at = r->text_n + (size_t)(text.p - r->copied);
    text.p = at + text.n <= TEMPLATE_TEXT ? r->made->text + at : r->made->text;
    return text;
}

/* A string is a hole without its quotes. */
static inline const char *hole_string(struct reader *r, enum hole_type type, int arg, const char *p,
                                      struct scan_text *ret)
{
    const char *after = *p == '"' ? token_string(p, r->end, ret) : NULL;
    if (after) make_hole(r, type, arg, p + 1, after - 1);
    return after;
}

/* Any value, passed over. */
static const char *event_fast_scan_skip(struct reader *r, const char *p)
{
    struct scan_text ignored;
    const char *after;
    switch (*p) {
    case '"': return hole_string(r, HOLE_STRING, 0, p, &ignored);
    case '[':
        after = token_array(p, r->end);
        make_hole(r, HOLE_ARRAY, 0, p, after);
        return after;
    case '{': r->makes = false; return event_skip_nested(p, r->end);
    case 't': return token_word(p, "true", 4);
    case 'f': return token_word(p, "false", 5);
    case 'n': return token_word(p, "null", 4);
    default:
        after = token_number(p, r->end);
        make_hole(r, HOLE_NUMBER, 0, p, after);
        return after;
    }
}

/* The value of a known arg. */
static const char *arg_value(struct reader *r, const char *p,
                             const struct event_arg_key *event_fast_scan_key)
{
    union event_value *v = &r->ev->args[event_fast_scan_key->arg];
    const char *after = NULL;
    if (event_fast_scan_key->type == ARG_INTEGER && *p == 'n') return token_word(p, "null", 4);
    switch ((enum event_arg_type)event_fast_scan_key->type) {
    case ARG_INTEGER:
        after = token_integer(p, &v->number);
        make_hole(r, HOLE_ARG_INTEGER, event_fast_scan_key->arg, p, after);
        break;
    case ARG_REAL:
        after = token_real(p, &v->real);
        make_hole(r, HOLE_ARG_REAL, event_fast_scan_key->arg, p, after);
        break;
    case ARG_DIM3:
        after = token_dim3(p, r->end, v->dim3);
        make_hole(r, HOLE_ARG_DIM3, event_fast_scan_key->arg, p, after);
        break;
    case ARG_RAW:
        after = token_array(p, r->end);
        if (after) v->text = (struct scan_text){p, (uint32_t)(after - p), false, false};
        make_hole(r, HOLE_ARG_RAW, event_fast_scan_key->arg, p, after);
        break;
    case ARG_TEXT:
        after = hole_string(r, HOLE_ARG_TEXT, event_fast_scan_key->arg, p, &v->text);
        break;
    case ARG_BOOLEAN:
        v->number = *p == 't';
        after = *p == 't' || *p == 'f' ? event_fast_scan_skip(r, p) : NULL;
        break;
    }
    r->ev->have_args |= (uint64_t)1 << event_fast_scan_key->arg;
    return after;
}

/* After a value: over the comma to the next key, or onto the closing brace. */
static inline const char *event_fast_scan_next(const struct reader *r, const char *p)
{
    p = token_blanks(p, r->end);
    if (*p == ',') {
        p = token_blanks(p + 1, r->end);
        return *p == '"' && p < r->end ? p : NULL;
    }
    return *p == '}' && p < r->end ? p : NULL;
}

/* From a key's opening quote to its value. */
static inline const char *event_fast_scan_key(const struct reader *r, const char *p,
                                              struct scan_text *ret)
{
    p = token_string(p, r->end, ret);
    return p && *p == ':' ? token_blanks(p + 1, r->end) : NULL;
}

static const char *event_fast_scan_args(struct reader *r, const char *p)
{
    if (*p != '{') return NULL;
    p = token_blanks(p + 1, r->end);
    if (*p != '"' && *p != '}') return NULL;
    while (*p != '}') {
        struct scan_text text;
        p = event_fast_scan_key(r, p, &text);
        if (!p) return NULL;
        const struct event_arg_key *known = event_find_arg(text.p, text.n);
        if (known && event_has_arg(r->ev, known->arg)) return NULL;
        p = known ? arg_value(r, p, known) : event_fast_scan_skip(r, p);
        if (!p) return NULL;
        p = event_fast_scan_next(r, p);
        if (!p) return NULL;
    }
    return p + 1;
}

/* The category is part of the template, and so are process and thread. Texts that will have to be
 * decoded are not: their damage is reported by their place in the file. */
static const char *fixed_text(struct reader *r, const char *p, struct scan_text *ret,
                              struct scan_text *in)
{
    p = *p == '"' ? token_string(p, r->end, ret) : NULL;
    if (!p) return NULL;
    if (ret->escaped || ret->non_ascii) r->makes = false;
    *in = in_template(r, *ret);
    return p;
}

static const char *fixed_id(struct reader *r, const char *p, struct event_id *ret,
                            struct event_id *in)
{
    struct scan_text text, text_in = {0};
    *ret = (struct event_id){.number = ID_NONE};
    if (*p == '"') {
        p = fixed_text(r, p, &text, &text_in);
        if (p) event_id_from_text(ret, text);
    } else {
        p = token_integer(p, &ret->number);
    }
    *in = (struct event_id){ret->number, text_in};
    return p;
}

static const char *event_fast_scan_phase(struct reader *r, const char *p)
{
    if (p[0] != '"' || p[2] != '"' || p[1] == '\\' || p[1] == '"') return NULL;
    r->ev->phase = p[1];
    return (unsigned char)p[1] >= ' ' ? p + 3 : NULL;
}

/* The value of one of the event's own keys. */
static const char *member_value(struct reader *r, const char *p, int event_fast_scan_key)
{
    struct event *ev = r->ev;
    const char *after;
    switch (event_fast_scan_key) {
    case EVENT_PH: return event_fast_scan_phase(r, p);
    case EVENT_CAT: return fixed_text(r, p, &ev->cat, &r->made->cat);
    case EVENT_PID: return fixed_id(r, p, &ev->pid, &r->made->pid);
    case EVENT_TID: return fixed_id(r, p, &ev->tid, &r->made->tid);
    case EVENT_NAME: return hole_string(r, HOLE_NAME, 0, p, &ev->name);
    case EVENT_TS:
        after = token_micros(p, &ev->ts_ns);
        make_hole(r, HOLE_TS, 0, p, after);
        return after;
    case EVENT_DUR:
        after = token_micros(p, &ev->dur_ns);
        make_hole(r, HOLE_DUR, 0, p, after);
        return after;
    case EVENT_ID:
        after = token_integer(p, &ev->id);
        make_hole(r, HOLE_ID, 0, p, after);
        return after;
    case EVENT_ARGS: return event_fast_scan_args(r, p);
    default: return event_fast_scan_skip(r, p);
    }
}

static const char *event_fast_scan_member(struct reader *r, const char *p)
{
    struct scan_text text;
    p = event_fast_scan_key(r, p, &text);
    if (!p) return NULL;
    int known = event_find_key(text.p, text.n);
    if (known >= 0) {
        if (r->have >> known & 1) return NULL;
        r->have |= 1u << known;
    }
    return member_value(r, p, known);
}

static const char *read_members(struct reader *r, const char *p)
{
    r->ev->have_args = 0;
    p = token_blanks(p + 1, r->end);
    if (*p != '"' || p >= r->end) return NULL;
    while (*p != '}') {
        p = event_fast_scan_member(r, p);
        if (!p) return NULL;
        p = event_fast_scan_next(r, p);
        if (!p) return NULL;
    }
    make_hole(r, HOLE_END, 0, p + 1, p + 1);
    return p + 1;
}

/* Reads the event member by member; it becomes template `t`, unless it does not fit one. */
static const char *read_and_make(struct event_template *t, const char *p, const char *end,
                                 struct event *ev)
{
    struct reader r = {.end = end, .ev = ev, .made = t, .copied = p, .makes = true};
    t->n_holes = 0;
    p = read_members(&r, p);
    ev->have = r.have;
    ev->filled_by = NULL;
    t->have = ev->have;
    t->have_args = ev->have_args;
    t->phase = ev->phase;
    t->finished = ev->args[ARG_FINISHED].number;
    if (!p || !r.makes) t->n_holes = 0;
    return p;
}

static inline bool event_fast_scan_same_text(const char *p, const char *q, size_t n)
{
    for (; n > SIMD_WIDTH; n -= SIMD_WIDTH, p += SIMD_WIDTH, q += SIMD_WIDTH)
        if (~simd_same(p, q) & SIMD_ALL) return false;
    return n == 0 || !(~simd_same(p, q) << (64 - n));
}

/* What the template says of all its events. */
static void fill_constants(const struct event_template *t, struct event *ev)
{
    ev->have = t->have;
    ev->have_args = t->have_args;
    ev->phase = t->phase;
    ev->cat = t->cat;
    ev->pid = t->pid;
    ev->tid = t->tid;
    ev->args[ARG_FINISHED].number = t->finished;
    ev->filled_by = t;
}

static inline const char *fill_hole(const struct event_hole *h, const char *p, const char *end,
                                    struct event *ev)
{
    union event_value *v = &ev->args[h->arg];
    const char *begin = p;
    struct scan_text ignored;
    switch ((enum hole_type)h->type) {
    case HOLE_NAME: return token_inside(p, end, &ev->name);
    case HOLE_TS: return token_micros(p, &ev->ts_ns);
    case HOLE_DUR: return token_micros(p, &ev->dur_ns);
    case HOLE_ID: return token_integer(p, &ev->id);
    case HOLE_ARG_INTEGER: return token_integer(p, &v->number);
    case HOLE_ARG_REAL: return token_real(p, &v->real);
    case HOLE_ARG_DIM3: return token_dim3(p, end, v->dim3);
    case HOLE_ARG_RAW:
        p = token_array(p, end);
        v->text = (struct scan_text){begin, p ? (uint32_t)(p - begin) : 0, false, false};
        return p;
    case HOLE_ARG_TEXT: return token_inside(p, end, &v->text);
    case HOLE_STRING: return token_inside(p, end, &ignored);
    case HOLE_NUMBER: return token_number(p, end);
    case HOLE_ARRAY: return token_array(p, end);
    case HOLE_END: break;
    }
    return p;
}

/* The event at `p` by template; NULL when it is written differently. */
static inline const char *event_fast_scan_fill(const struct event_template *t, const char *p,
                                               const char *end, struct event *ev)
{
    for (const struct event_hole *h = t->holes;; h++) {
        if (h->text_n > end - p || !event_fast_scan_same_text(p, t->text + h->text_at, h->text_n))
            return NULL;
        p += h->text_n;
        if (h->type == HOLE_END) break;
        p = fill_hole(h, p, end, ev);
        if (UNLIKELY(!p)) return NULL;
    }
    if (ev->filled_by != t) fill_constants(t, ev);
    return p;
}

/* Template `i` served; next time it is tried first after the one before it. */
static void event_fast_scan_follow(struct event_memory *m, int i)
{
    m->templates[m->last].next = i;
    m->templates[i].used = true;
    m->last = i;
}

/* The other templates, where the one that should have come did not fit. */
static const char *fill_any(struct event_memory *m, const char *p, const char *end,
                            struct event *ev)
{
    for (int i = 0; i < TEMPLATES; i++) {
        const char *after =
            m->templates[i].n_holes ? event_fast_scan_fill(&m->templates[i], p, end, ev) : NULL;
        if (!after) continue;
        event_fast_scan_follow(m, i);
        return after;
    }
    return NULL;
}

/* A template to overwrite: one that did not serve since the last round. */
static int choose_oldest(struct event_memory *m)
{
    for (;; m->oldest = (m->oldest + 1) % TEMPLATES) {
        struct event_template *t = &m->templates[m->oldest];
        if (!t->used || !t->n_holes) break;
        t->used = false;
    }
    return m->oldest;
}

const char *EVENT_FAST(struct event_memory *m, const char *p, const char *end, struct event *ev)
{
    int guess = m->templates[m->last].next;
    const struct event_template *t = &m->templates[guess];
    ev->begin = p;
    const char *after = t->n_holes ? event_fast_scan_fill(t, p, end, ev) : NULL;
    if (LIKELY(after)) {
        m->last = guess;
        return after;
    }
    after = fill_any(m, p, end, ev);
    if (after) return after;
    int made = choose_oldest(m);
    after = read_and_make(&m->templates[made], p, end, ev);
    if (!m->templates[made].n_holes) return after;
    event_fast_scan_follow(m, made);
    return after;
}
