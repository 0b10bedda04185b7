/* event.c: the keys of an event we decode, in one table each, and how to find an event's start. */
#include "import/json/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xxh64.h"
#include "trace/trace.h"

static const struct {
    const char *key;
    enum event_key id;
} event_keys[] = {
    {"ph", EVENT_PH},   {"ts", EVENT_TS},     {"id", EVENT_ID},
    {"cat", EVENT_CAT}, {"pid", EVENT_PID},   {"tid", EVENT_TID},
    {"dur", EVENT_DUR}, {"name", EVENT_NAME}, {"args", EVENT_ARGS},
};

const struct event_arg_key event_arg_keys[LONGEST_ARG_KEY + 1][MOST_ARG_KEYS] = {
    [4] = {{"Addr", ARG_ADDR, ARG_INTEGER},
           {"grid", ARG_GRID, ARG_DIM3},
           {"name", ARG_NAME, ARG_TEXT},
           {"desc", ARG_WHAT, ARG_TEXT},
           {"size", ARG_SIZE, ARG_INTEGER}},
    [5] = {{"Bytes", ARG_MEM_BYTES, ARG_INTEGER},
           {"bytes", ARG_BYTES, ARG_INTEGER},
           {"block", ARG_BLOCK, ARG_DIM3}},
    [6] = {{"device", ARG_DEVICE, ARG_INTEGER},
           {"Device", ARG_DEVICE, ARG_INTEGER},
           {"dev-id", ARG_DEVICE, ARG_INTEGER},
           {"stream", ARG_STREAM, ARG_INTEGER},
           {"labels", ARG_LABELS, ARG_TEXT}},
    [7] = {{"context", ARG_CONTEXT, ARG_INTEGER}},
    [8] = {{"finished", ARG_FINISHED, ARG_BOOLEAN},
           {"graph id", ARG_GRAPH_ID, ARG_INTEGER},
           {"inDevice", ARG_IN_DEVICE, ARG_INTEGER},
           {"queue-id", ARG_STREAM, ARG_INTEGER}},
    [9] = {{"Device Id", ARG_DEVICE_ID, ARG_INTEGER}, {"Python id", ARG_PY_ID, ARG_INTEGER}},
    [10] = {{"Input Dims", ARG_DIMS, ARG_RAW},
            {"Input dims", ARG_DIMS, ARG_RAW},
            {"Input type", ARG_TYPES, ARG_RAW},
            {"sort_index", ARG_SORT_INDEX, ARG_INTEGER}},
    [11] = {{"correlation", ARG_CORRELATION, ARG_INTEGER},
            {"Device Type", ARG_DEVICE_TYPE, ARG_INTEGER},
            {"External id", ARG_EXTERNAL_ID, ARG_INTEGER},
            {"external id", ARG_EXTERNAL_ID, ARG_INTEGER}},
    [12] = {{"warps per SM", ARG_WARPS_PER_SM, ARG_REAL}},
    [13] = {{"Fwd thread id", ARG_FWD_THREAD, ARG_INTEGER},
            {"blocks per SM", ARG_BLOCKS_PER_SM, ARG_REAL},
            {"graph node id", ARG_GRAPH_NODE, ARG_INTEGER},
            {"shared memory", ARG_SHARED, ARG_INTEGER}},
    [14] = {{"Total Reserved", ARG_RESERVED, ARG_INTEGER}},
    [15] = {{"Concrete Inputs", ARG_CONCRETE, ARG_RAW},
            {"Sequence number", ARG_SEQUENCE, ARG_INTEGER},
            {"Total Allocated", ARG_ALLOCATED, ARG_INTEGER}},
    [16] = {{"Python module id", ARG_PY_MODULE, ARG_INTEGER},
            {"Python parent id", ARG_PY_PARENT, ARG_INTEGER}},
    [20] = {{"registers per thread", ARG_REGISTERS, ARG_INTEGER}},
    [25] = {{"est. achieved occupancy %", ARG_OCCUPANCY, ARG_INTEGER}},
};

int event_find_key(const char *key, size_t n)
{
    for (size_t i = 0; i < sizeof event_keys / sizeof *event_keys; i++)
        if (str_is(str_from(key, n), event_keys[i].key)) return event_keys[i].id;
    return -1;
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

static enum scan_result scan_arg(struct scan *s, const struct event_arg_key *key, struct event *ev)
{
    union event_value *v = &ev->args[key->arg];
    bool have = true;
    switch (key->type) {
    case ARG_INTEGER: TRY(scan_int(s, &v->number, &have)); break;
    case ARG_REAL: TRY(scan_double(s, &v->real, &have)); break;
    case ARG_DIM3: TRY(scan_dim3(s, v->dim3, &have)); break;
    case ARG_RAW: TRY(scan_raw(s, &v->text)); break;
    case ARG_BOOLEAN: TRY(scan_bool(s, &v->number, &have)); break;
    case ARG_TEXT:
        have = scan_peek(s) == SCAN_STRING;
        TRY(have ? scan_string(s, false, &v->text) : scan_skip(s));
        break;
    }
    if (have) ev->have_args |= 1ull << key->arg;
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
        const struct event_arg_key *key = event_find_arg(text.p, text.n);
        if (key && event_has_arg(ev, key->arg)) {
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

const char *event_skip_nested(const char *p, const char *end)
{
    struct scan s;
    s.end = end;
    s.text = p;
    scan_begin(&s, p, SCAN_STRICT);
    return scan_skip(&s) == SCAN_OK && s.n_notes == 0 ? s.p : NULL;
}

void event_id_from_text(struct event_id *id, struct scan_text text)
{
    *id = (struct event_id){.number = ID_NONE, .text = text};
    uint32_t first = text.n && *text.p == '-', i = first;
    int64_t number = 0;
    for (; i < text.n && i < first + 18 && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        number = number * 10 + (text.p[i] - '0');
    if (i == text.n && i > first) id->number = first ? -number : number;
}

/* A pid or tid: a number, or a text. */
static enum scan_result scan_id(struct scan *s, struct event_id *ret)
{
    *ret = (struct event_id){.number = ID_NONE};
    struct scan_text text;
    bool have;
    if (scan_peek(s) != SCAN_STRING) {
        int64_t number;
        TRY(scan_int(s, &number, &have));
        if (have) ret->number = number;
        return SCAN_OK;
    }
    TRY(scan_string(s, false, &text));
    event_id_from_text(ret, text);
    return SCAN_OK;
}

/* An id is only ever compared: a text that is not a number stands for itself by its hash. */
static int64_t id_of_text(struct str text)
{
    char digits[24], *end;
    if (text.n == 0 || text.n >= sizeof digits) return (int64_t)(xxh64(text.p, text.n) >> 1);
    memcpy(digits, text.p, text.n);
    digits[text.n] = '\0';
    errno = 0;
    unsigned long long v = strtoull(digits, &end, 0);
    return *end || errno ? (int64_t)(xxh64(text.p, text.n) >> 1) : (int64_t)v;
}

static enum scan_result scan_event_id(struct scan *s, int64_t *ret, bool *ret_have)
{
    if (scan_peek(s) != SCAN_STRING) return scan_int(s, ret, ret_have);
    struct scan_text text;
    TRY(scan_string(s, false, &text));
    *ret = id_of_text(str_from(text.p, text.n));
    *ret_have = true;
    return SCAN_OK;
}

static enum scan_result event_scan_field(struct scan *s, int key, struct event *ev)
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
    case EVENT_ID: TRY(scan_event_id(s, &ev->id, &have)); break;
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
    ev->filled_by = NULL;
    bool more = !open_object(s);
    while (more) {
        struct scan_text text;
        TRY(scan_key(s, &text));
        int key = event_find_key(text.p, text.n);
        if (key >= 0 && event_has(ev, key)) {
            scan_note(s, DAMAGE_DUPLICATE_KEY, text.p);
            key = -1;
        }
        TRY(event_scan_field(s, key, ev));
        TRY(scan_next(s, '}', &more));
    }
    return SCAN_OK;
}

/* Whether `c` can begin the value of an event's `key`. */
static bool event_fits(int key, char c)
{
    if (key == EVENT_PH || key == EVENT_NAME || key == EVENT_CAT) return c == '"';
    if (key == EVENT_ARGS) return c == '{';
    return c == '"' || c == '-' || (c >= '0' && c <= '9');
}

static const char *event_skip_blanks(const char *p, const char *end)
{
    while (p < end && scan_is_blank(*p)) p++;
    return p;
}

/* Whether the brace at `p` is followed by a key of an event and the start of a value for it. */
static bool starts_event(const char *p, const char *end)
{
    p = event_skip_blanks(p + 1, end);
    if (p >= end || *p != '"') return false;
    const char *close = memchr(p + 1, '"', end - p - 1 < 8 ? (size_t)(end - p - 1) : 8);
    if (!close) return false;
    int key = event_find_key(p + 1, (size_t)(close - p - 1));
    p = event_skip_blanks(close + 1, end);
    if (key < 0 || p >= end || *p != ':') return false;
    p = event_skip_blanks(p + 1, end);
    return p < end && event_fits(key, *p);
}

const char *event_find(const char *p, const char *end)
{
    const char *begin = p;
    for (; (p = memchr(p, '{', (size_t)(end - p))); p++) {
        const char *before = p - 1;
        while (before >= begin && scan_is_blank(*before)) before--;
        if (before >= begin && *before != ',' && *before != '[') continue;
        if (starts_event(p, end)) return p;
    }
    return end;
}
