/* event.c: the keys of an event we decode, in one table each, and how to find an event's start. */
#include "import/event.h"

#include "trace/trace.h"

static const struct {
    const char *key;
    enum event_key id;
} event_keys[] = {
    {"ph", EVENT_PH},   {"ts", EVENT_TS},     {"id", EVENT_ID},
    {"cat", EVENT_CAT}, {"pid", EVENT_PID},   {"tid", EVENT_TID},
    {"dur", EVENT_DUR}, {"name", EVENT_NAME}, {"args", EVENT_ARGS},
};

enum arg_type { INTEGER, REAL, DIM3, RAW, TEXT, BOOLEAN };

static const struct arg_key {
    const char *key;
    enum event_arg id;
    enum arg_type type;
} arg_keys[] = {
    {"Addr", ARG_ADDR, INTEGER},
    {"grid", ARG_GRID, DIM3},
    {"name", ARG_NAME, TEXT},
    {"size", ARG_SIZE, INTEGER},
    {"Bytes", ARG_MEM_BYTES, INTEGER},
    {"bytes", ARG_BYTES, INTEGER},
    {"block", ARG_BLOCK, DIM3},
    {"device", ARG_DEVICE, INTEGER},
    {"Device", ARG_DEVICE, INTEGER},
    {"stream", ARG_STREAM, INTEGER},
    {"labels", ARG_LABELS, TEXT},
    {"context", ARG_CONTEXT, INTEGER},
    {"finished", ARG_FINISHED, BOOLEAN},
    {"graph id", ARG_GRAPH_ID, INTEGER},
    {"inDevice", ARG_IN_DEVICE, INTEGER},
    {"Device Id", ARG_DEVICE_ID, INTEGER},
    {"Python id", ARG_PY_ID, INTEGER},
    {"Input Dims", ARG_DIMS, RAW},
    {"Input dims", ARG_DIMS, RAW},
    {"Input type", ARG_TYPES, RAW},
    {"sort_index", ARG_SORT_INDEX, INTEGER},
    {"correlation", ARG_CORRELATION, INTEGER},
    {"Device Type", ARG_DEVICE_TYPE, INTEGER},
    {"External id", ARG_EXTERNAL_ID, INTEGER},
    {"external id", ARG_EXTERNAL_ID, INTEGER},
    {"warps per SM", ARG_WARPS_PER_SM, REAL},
    {"Fwd thread id", ARG_FWD_THREAD, INTEGER},
    {"blocks per SM", ARG_BLOCKS_PER_SM, REAL},
    {"graph node id", ARG_GRAPH_NODE, INTEGER},
    {"shared memory", ARG_SHARED, INTEGER},
    {"Total Reserved", ARG_RESERVED, INTEGER},
    {"Concrete Inputs", ARG_CONCRETE, RAW},
    {"Sequence number", ARG_SEQUENCE, INTEGER},
    {"Total Allocated", ARG_ALLOCATED, INTEGER},
    {"Python module id", ARG_PY_MODULE, INTEGER},
    {"Python parent id", ARG_PY_PARENT, INTEGER},
    {"registers per thread", ARG_REGISTERS, INTEGER},
    {"est. achieved occupancy %", ARG_OCCUPANCY, INTEGER},
};

static int find_event_key(struct scan_text key)
{
    for (size_t i = 0; i < sizeof event_keys / sizeof *event_keys; i++)
        if (str_is(str_from(key.p, key.n), event_keys[i].key)) return event_keys[i].id;
    return -1;
}

static const struct arg_key *find_arg_key(struct scan_text key)
{
    for (size_t i = 0; i < sizeof arg_keys / sizeof *arg_keys; i++)
        if (str_is(str_from(key.p, key.n), arg_keys[i].key)) return &arg_keys[i];
    return NULL;
}

/* [x, y, z]; anything else is passed over and not counted as written. */
static enum scan_result scan_dim3(struct scan *s, uint32_t dim[3], bool *ret_have)
{
    *ret_have = false;
    if (scan_peek(s) != SCAN_NESTED || *s->p != '[') return scan_skip(s);
    const char *begin = s->p;
    TRY(scan_skip(s));
    struct scan inner = {.p = begin + 1, .end = s->p, .text = s->text, .mode = s->mode};
    for (int i = 0; i < 3; i++) {
        int64_t v;
        bool have, more;
        if (scan_int(&inner, &v, &have) || !have || v < 0 || v > UINT32_MAX) return SCAN_OK;
        dim[i] = (uint32_t)v;
        if (i < 2 && (scan_next(&inner, ']', &more) || !more)) return SCAN_OK;
    }
    *ret_have = true;
    return SCAN_OK;
}

static enum scan_result scan_raw(struct scan *s, struct scan_text *ret)
{
    scan_blanks(s);
    const char *begin = s->p;
    TRY(scan_skip(s));
    *ret = (struct scan_text){begin, (uint32_t)(s->p - begin), false, false};
    return SCAN_OK;
}

static enum scan_result scan_bool(struct scan *s, int64_t *ret, bool *ret_have)
{
    struct scan_text raw;
    TRY(scan_raw(s, &raw));
    struct str word = str_from(raw.p, raw.n);
    *ret = !str_is(word, "false") && !str_is(word, "\"false\"") && !str_is(word, "0");
    *ret_have = true;
    return SCAN_OK;
}

static enum scan_result scan_arg(struct scan *s, const struct arg_key *key, struct event *ev)
{
    union event_value *v = &ev->args[key->id];
    bool have = true;
    switch (key->type) {
    case INTEGER: TRY(scan_int(s, &v->number, &have)); break;
    case REAL: TRY(scan_double(s, &v->real, &have)); break;
    case DIM3: TRY(scan_dim3(s, v->dim3, &have)); break;
    case RAW: TRY(scan_raw(s, &v->text)); break;
    case BOOLEAN: TRY(scan_bool(s, &v->number, &have)); break;
    case TEXT:
        have = scan_peek(s) == SCAN_STRING;
        TRY(have ? scan_string(s, false, &v->text) : scan_skip(s));
        break;
    }
    if (have) ev->have_args |= 1ull << key->id;
    return SCAN_OK;
}

static enum scan_result scan_key(struct scan *s, struct scan_text *ret)
{
    if (scan_peek(s) != SCAN_STRING) return s->p >= s->end ? SCAN_CUT : SCAN_BAD;
    TRY(scan_string(s, true, ret));
    return scan_expect(s, ':');
}

/* Whether the object at the cursor is empty; moves past its opening brace, and past the closing
 * one if so. */
static bool open_object(struct scan *s)
{
    s->p++;
    scan_blanks(s);
    if (s->p >= s->end || *s->p != '}') return false;
    s->p++;
    return true;
}

static enum scan_result scan_args(struct scan *s, struct event *ev)
{
    if (scan_peek(s) != SCAN_NESTED || *s->p != '{') return scan_skip(s);
    bool more = !open_object(s);
    while (more) {
        struct scan_text text;
        TRY(scan_key(s, &text));
        const struct arg_key *key = find_arg_key(text);
        if (key && event_has_arg(ev, key->id)) {
            scan_note(s, DAMAGE_DUPLICATE_KEY, text.p);
            key = NULL;
        }
        TRY(key ? scan_arg(s, key, ev) : scan_skip(s));
        TRY(scan_next(s, '}', &more));
    }
    return SCAN_OK;
}

static enum scan_result scan_text_or_skip(struct scan *s, struct scan_text *ret)
{
    *ret = (struct scan_text){0};
    return scan_peek(s) == SCAN_STRING ? scan_string(s, false, ret) : scan_skip(s);
}

/* A pid or tid: a number, or a text. A text that is a number counts as one. */
static enum scan_result scan_id(struct scan *s, struct event_id *ret)
{
    bool have = false;
    *ret = (struct event_id){.number = ID_NONE};
    if (scan_peek(s) != SCAN_STRING) {
        TRY(scan_int(s, &ret->number, &have));
        if (!have) ret->number = ID_NONE;
        return SCAN_OK;
    }
    TRY(scan_string(s, false, &ret->text));
    struct scan inner = {.p = ret->text.p, .end = ret->text.p + ret->text.n, .text = s->text};
    int64_t number = 0, sign = 1;
    if (inner.p < inner.end && *inner.p == '-') {
        sign = -1;
        inner.p++;
    }
    if (inner.p == inner.end || inner.end - inner.p > 18) return SCAN_OK;
    for (; inner.p < inner.end; inner.p++) {
        if (*inner.p < '0' || *inner.p > '9') return SCAN_OK;
        number = number * 10 + (*inner.p - '0');
    }
    ret->number = sign * number;
    return SCAN_OK;
}

static enum scan_result scan_field(struct scan *s, int key, struct event *ev)
{
    struct scan_text text;
    bool have = true;
    switch (key) {
    case EVENT_PH:
        TRY(scan_text_or_skip(s, &text));
        have = text.n == 1;
        if (have) ev->phase = *text.p;
        break;
    case EVENT_CAT: TRY(scan_text_or_skip(s, &ev->cat)); break;
    case EVENT_NAME: TRY(scan_text_or_skip(s, &ev->name)); break;
    case EVENT_PID: TRY(scan_id(s, &ev->pid)); break;
    case EVENT_TID: TRY(scan_id(s, &ev->tid)); break;
    case EVENT_TS: TRY(scan_micros(s, &ev->ts_ns, &have)); break;
    case EVENT_DUR: TRY(scan_micros(s, &ev->dur_ns, &have)); break;
    case EVENT_ID: TRY(scan_int(s, &ev->id, &have)); break;
    case EVENT_ARGS: TRY(scan_args(s, ev)); break;
    default: return scan_skip(s);
    }
    if (have) ev->have |= 1u << key;
    return SCAN_OK;
}

enum scan_result event_scan(struct scan *s, struct event *ev)
{
    ev->begin = s->p;
    ev->have = 0;
    ev->have_args = 0;
    bool more = !open_object(s);
    while (more) {
        struct scan_text text;
        TRY(scan_key(s, &text));
        int key = find_event_key(text);
        if (key >= 0 && event_has(ev, key)) {
            scan_note(s, DAMAGE_DUPLICATE_KEY, text.p);
            key = -1;
        }
        TRY(scan_field(s, key, ev));
        TRY(scan_next(s, '}', &more));
    }
    return SCAN_OK;
}

static bool starts_with_event_key(const char *p, const char *end)
{
    for (p++; p < end && scan_is_blank(*p);) p++;
    if (p >= end || *p != '"') return false;
    const char *close = memchr(p + 1, '"', end - p - 1 < 8 ? (size_t)(end - p - 1) : 8);
    if (!close) return false;
    struct scan_text key = {p + 1, (uint32_t)(close - p - 1), false, false};
    for (p = close + 1; p < end && scan_is_blank(*p);) p++;
    return p < end && *p == ':' && find_event_key(key) >= 0;
}

const char *event_find(const char *p, const char *end)
{
    const char *begin = p;
    for (; (p = memchr(p, '{', (size_t)(end - p))); p++) {
        const char *before = p - 1;
        while (before >= begin && scan_is_blank(*before)) before--;
        if (before >= begin && *before != ',' && *before != '[') continue;
        if (starts_with_event_key(p, end)) return p;
    }
    return end;
}
