/* json.c: the document around the events: an object with "traceEvents" among other keys, or a bare
 * array. Keys before and after the events are kept as raw text. */
#include "import/json.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "import/inflate.h"
#include "import/kineto.h"

enum { MOST_META = 1 << 20 };

struct document {
    struct builder *builder;
    struct kineto kineto;
    struct scan scan;
    struct event event;
    uint64_t n_events;
    bool found_events;
};

static struct damage *doc_damage(struct document *d)
{
    return &builder_trace(d->builder)->damage;
}

/* The event at `p`, read in the first mode that makes sense of it; `ev` and the scan's notes tell
 * what was found. */
static enum scan_result read_event(struct document *d, const char *p)
{
    struct scan *s = &d->scan;
    scan_begin(s, p, SCAN_STRICT);
    enum scan_result rc = event_scan(s, &d->event);
    if (rc == SCAN_OK) return rc;
    const char *end = s->end;
    s->end = event_find(p + 1, end);
    for (enum scan_mode mode = SCAN_QUOTES; mode < SCAN_MODES && rc != SCAN_OK; mode++) {
        scan_begin(s, p, mode);
        rc = event_scan(s, &d->event);
    }
    if (rc != SCAN_OK) s->p = s->end;
    s->end = end;
    return rc;
}

/* An event without a phase is a span if it has the times of one. */
static bool has_phase(struct event *ev)
{
    if (event_has(ev, EVENT_PH)) return true;
    ev->phase = 'X';
    return event_has(ev, EVENT_TS) && event_has(ev, EVENT_DUR);
}

/* One element of the event array; the cursor ends after it, or where reading can go on. */
static int read_element(struct document *d)
{
    struct scan *s = &d->scan;
    const char *begin = s->p;
    enum scan_result rc =
        *begin == '{' ? read_event(d, begin) : (scan_begin(s, begin, 0), scan_skip(s));
    if (rc == SCAN_OK && *begin == '{' && has_phase(&d->event)) {
        TRY(kineto_add(&d->kineto, s, &d->event));
        scan_accept(s, doc_damage(d));
        d->n_events++;
        return 0;
    }
    bool cut = rc != SCAN_OK && s->p >= s->end;
    damage_note(doc_damage(d), cut ? DAMAGE_TRUNCATED : DAMAGE_BAD_EVENT,
                (uint64_t)(begin - s->text));
    if (rc != SCAN_OK && *begin != '{') s->p = event_find(begin + 1, s->end);
    return 0;
}

/* The elements up to the closing bracket; the cursor stands after the opening one. */
static int read_events(struct document *d)
{
    struct scan *s = &d->scan;
    d->found_events = true;
    for (;;) {
        scan_blanks(s);
        if (s->p >= s->end) break;
        if (*s->p == ']') {
            s->p++;
            return 0;
        }
        TRY(read_element(d));
        scan_blanks(s);
        if (s->p >= s->end) break;
        if (*s->p == ']') continue;
        if (*s->p == ',') {
            const char *comma = s->p++;
            scan_blanks(s);
            if (s->p < s->end && *s->p == ']')
                damage_note(doc_damage(d), DAMAGE_TRAILING_COMMA, (uint64_t)(comma - s->text));
            continue;
        }
        if (*s->p == '{') continue;
        const char *at = s->p;
        damage_note(doc_damage(d), DAMAGE_BAD_EVENT, (uint64_t)(at - s->text));
        s->p = event_find(at, s->end);
    }
    if (!doc_damage(d)->count[DAMAGE_TRUNCATED])
        damage_note(doc_damage(d), DAMAGE_TRUNCATED, (uint64_t)(s->end - s->text));
    return 0;
}

static int64_t meta_int(struct scan *s, const char *p)
{
    struct scan inner = *s;
    inner.p = p;
    int64_t v = 0;
    bool have = false;
    if (scan_int(&inner, &v, &have) != SCAN_OK || !have) return 0;
    return v;
}

static int add_device(struct document *d, struct scan *s)
{
    static const struct {
        const char *key;
        size_t offset;
    } ints[] = {
        {"id", offsetof(struct device, id)},
        {"computeMajor", offsetof(struct device, major)},
        {"computeMinor", offsetof(struct device, minor)},
        {"numSms", offsetof(struct device, n_sms)},
        {"warpSize", offsetof(struct device, warp_size)},
        {"maxThreadsPerMultiprocessor", offsetof(struct device, max_threads_per_sm)},
        {"regsPerMultiprocessor", offsetof(struct device, regs_per_sm)},
        {"sharedMemPerMultiprocessor", offsetof(struct device, shared_per_sm)},
        {"maxSharedMemoryPerMultiProcessor", offsetof(struct device, shared_per_sm)},
        {"sharedMemPerBlockOptin", offsetof(struct device, shared_per_block_optin)},
        {"maxComputeUnits", offsetof(struct device, n_sms)},
    };
    struct device dev = {0};
    bool more = true;
    if (scan_expect(s, '{')) return 0;
    while (more) {
        struct scan_text key, text;
        if (scan_peek(s) != SCAN_STRING || scan_string(s, true, &key) || scan_expect(s, ':')) break;
        struct str k = str_from(key.p, key.n);
        scan_blanks(s);
        if (str_is(k, "name") && scan_peek(s) == SCAN_STRING) {
            struct scan inner = *s;
            if (scan_string(&inner, false, &text) == SCAN_OK)
                dev.name =
                    scan_intern(s, text, &builder_trace(d->builder)->strings, &d->kineto.scratch);
            if (dev.name == STR_NONE) return ERR_NOMEM;
        }
        if (str_is(k, "totalGlobalMem")) dev.memory_bytes = meta_int(s, s->p);
        for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
            if (str_is(k, ints[i].key)) {
                int64_t v = meta_int(s, s->p);
                if (v >= INT32_MIN && v <= INT32_MAX)
                    *(int32_t *)((char *)&dev + ints[i].offset) = (int32_t)v;
            }
        if (scan_skip(s) || scan_next(s, '}', &more)) break;
    }
    return builder_add_device(d->builder, &dev);
}

static int add_devices(struct document *d, const char *p, const char *end)
{
    struct scan s = {.p = p, .end = end, .text = d->scan.text};
    bool more = true;
    if (scan_expect(&s, '[') || scan_peek(&s) != SCAN_NESTED) return 0;
    while (more && scan_peek(&s) == SCAN_NESTED) {
        struct scan inner = s;
        TRY(add_device(d, &inner));
        if (scan_skip(&s) || scan_next(&s, ']', &more)) break;
    }
    return 0;
}

static int add_meta(struct document *d, struct scan_text key, const char *p, const char *end)
{
    struct str k = str_from(key.p, key.n), value = str_from(p, (size_t)(end - p));
    if (str_is(k, "baseTimeNanoseconds"))
        builder_trace(d->builder)->base_ns = meta_int(&d->scan, p);
    if (str_is(k, "deviceProperties")) TRY(add_devices(d, p, end));
    char note[64];
    if (value.n > MOST_META) {
        snprintf(note, sizeof note, "\"(%zu bytes left out)\"", value.n);
        value = str_c(note);
    }
    return builder_add_meta(d->builder, k, value);
}

/* The members of the top-level object. Returns SCAN_OK, or where it gave up; ERR_NOMEM. */
static int read_object(struct document *d, enum scan_result *ret)
{
    struct scan *s = &d->scan;
    bool more = true;
    s->p++;
    scan_blanks(s);
    if (s->p < s->end && *s->p == '}') {
        s->p++;
        more = false;
    }
    *ret = SCAN_OK;
    while (more) {
        struct scan_text key;
        s->n_notes = 0;
        *ret = scan_peek(s) == SCAN_STRING ? scan_string(s, true, &key) : SCAN_BAD;
        if (*ret == SCAN_OK) *ret = scan_expect(s, ':');
        if (*ret != SCAN_OK) return 0;
        scan_blanks(s);
        const char *value = s->p;
        if (*value == '[' && str_is(str_from(key.p, key.n), "traceEvents")) {
            s->p++;
            TRY(read_events(d));
            s->mode = SCAN_STRICT;
        } else {
            *ret = scan_skip(s);
            if (*ret != SCAN_OK) return 0;
            TRY(add_meta(d, key, value, s->p));
        }
        scan_accept(s, doc_damage(d));
        s->n_notes = 0;
        *ret = s->p >= s->end ? SCAN_CUT : scan_next(s, '}', &more);
        if (*ret != SCAN_OK) return 0;
    }
    scan_accept(s, doc_damage(d));
    return 0;
}

static int fail_not_a_trace(const struct document *d, struct err *e)
{
    return FAIL(e, ERR_FORMAT, "not a trace: there is no \"traceEvents\" in it");
}

/* Where the events begin, when the keys before them cannot be read. */
static const char *find_events(const struct scan *s)
{
    static const char key[] = "\"traceEvents\"";
    const char *p = s->p;
    while ((p = memmem(p, (size_t)(s->end - p), key, sizeof key - 1))) {
        p += sizeof key - 1;
        struct scan at = *s;
        at.p = p;
        if (scan_expect(&at, ':') == SCAN_OK && scan_expect(&at, '[') == SCAN_OK) return at.p;
    }
    return NULL;
}

static int read_top(struct document *d, struct err *e)
{
    struct scan *s = &d->scan;
    enum scan_result rc = SCAN_OK;
    if (*s->p == '[') {
        s->p++;
        TRY(read_events(d));
    } else {
        TRY(read_object(d, &rc));
    }
    if (rc != SCAN_OK && !d->found_events) {
        const char *at = find_events(s);
        if (!at) return fail_not_a_trace(d, e);
        damage_note(doc_damage(d), DAMAGE_BAD_EVENT, (uint64_t)(s->p - s->text));
        s->p = at;
        TRY(read_events(d));
    }
    if (!d->found_events) return fail_not_a_trace(d, e);
    if (rc == SCAN_CUT && !doc_damage(d)->count[DAMAGE_TRUNCATED])
        damage_note(doc_damage(d), DAMAGE_TRUNCATED, (uint64_t)(s->end - s->text));
    scan_blanks(s);
    if (rc != SCAN_CUT && s->p < s->end)
        damage_note(doc_damage(d), DAMAGE_EXTRA_DATA, (uint64_t)(s->p - s->text));
    return 0;
}

struct json_args {
    struct args_source base;
    struct file_map file;
    struct buf text; /* of compressed input */
};

static int args_read(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    struct json_args *a = (struct json_args *)self;
    struct str text = a->text.p ? buf_str(&a->text) : str_from(a->file.p, a->file.n);
    if (src >= text.n) return FAIL(e, ERR_INTERNAL, "event offset outside the file");
    struct scan s = {.end = text.p + text.n, .text = text.p};
    for (enum scan_mode mode = SCAN_STRICT; mode < SCAN_MODES; mode++) {
        scan_begin(&s, text.p + src + 1, mode);
        bool more = true;
        while (more) {
            struct scan_text key;
            if (scan_peek(&s) != SCAN_STRING || scan_string(&s, true, &key)) break;
            if (scan_expect(&s, ':')) break;
            scan_blanks(&s);
            const char *value = s.p;
            if (scan_skip(&s)) break;
            if (str_is(str_from(key.p, key.n), "args")) {
                buf_add(out, value, (size_t)(s.p - value));
                return buf_ok(out) ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
            }
            if (scan_next(&s, '}', &more)) break;
        }
        if (!more) break;
    }
    buf_adds(out, "{}");
    return buf_ok(out) ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}

static void args_free(struct args_source *self)
{
    struct json_args *a = (struct json_args *)self;
    file_unmap(&a->file);
    buf_done(&a->text);
    mem_free(a);
}

static bool sniff(struct str head)
{
    if (inflate_is_gzip(head)) return true;
    if (str_starts(head, "\xef\xbb\xbf")) head = str_from(head.p + 3, head.n - 3);
    while (head.n && scan_is_blank(*head.p)) head.p++, head.n--;
    return head.n && (*head.p == '{' || *head.p == '[');
}

static int fail_head(struct str text, struct err *e)
{
    char found[32];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < 24 && text.p[i] != '\n'; i++)
        found[n++] = text.p[i] >= 0x20 && text.p[i] < 0x7f ? text.p[i] : '?';
    found[n] = 0;
    bool page = strncasecmp(found, "<!doctype", 9) == 0 || strncasecmp(found, "<html", 5) == 0;
    return FAIL(e, ERR_FORMAT, "not a trace: expected '{' or '[' at byte 0, found \"%s\"%s", found,
                page ? " (a saved web page?)" : "");
}

static int read_text(struct document *d, struct str text, struct err *e)
{
    d->scan = (struct scan){.p = text.p, .end = text.p + text.n, .text = text.p};
    if (str_starts(text, "\xef\xbb\xbf")) d->scan.p += 3;
    scan_blanks(&d->scan);
    if (d->scan.p >= d->scan.end) return FAIL(e, ERR_FORMAT, "is empty, expected a trace");
    if (*d->scan.p != '{' && *d->scan.p != '[')
        return fail_head(str_from(d->scan.p, (size_t)(d->scan.end - d->scan.p)), e);
    struct part *part = part_new();
    if (!part) return FAIL(e, ERR_NOMEM, "out of memory");
    kineto_init(&d->kineto, part);
    int rc = read_top(d, e);
    kineto_done(&d->kineto);
    if (rc < 0) part_free(part);
    else rc = builder_add_part(d->builder, part, e);
    if (rc == ERR_NOMEM) return FAIL(e, ERR_NOMEM, "out of memory");
    return rc;
}

static int build(struct builder *b, struct json_args *a, struct err *e)
{
    struct str text = str_from(a->file.p, a->file.n);
    bool cut = false;
    if (inflate_is_gzip(text)) {
        TRY(inflate_gzip(text, &a->text, &cut, e));
        char *pad = buf_room(&a->text, FILE_PADDING);
        if (!pad) return FAIL(e, ERR_NOMEM, "out of memory");
        memset(pad, 0, FILE_PADDING);
        text = buf_str(&a->text);
    }
    struct document *d = mem_zalloc(1, sizeof *d);
    if (!d) return FAIL(e, ERR_NOMEM, "out of memory");
    d->builder = b;
    int rc = read_text(d, text, e);
    if (cut && !doc_damage(d)->count[DAMAGE_TRUNCATED])
        damage_note(doc_damage(d), DAMAGE_TRUNCATED, text.n);
    mem_free(d);
    return rc;
}

static int open_json(struct file_map *file, const char *path, const struct import_options *o,
                     struct trace **ret, struct err *e)
{
    struct json_args *a = mem_zalloc(1, sizeof *a);
    struct builder *b = a ? builder_new(e) : NULL;
    if (!b) {
        file_unmap(file);
        mem_free(a);
        return FAIL(e, ERR_NOMEM, "out of memory");
    }
    a->base = (struct args_source){args_read, args_free};
    a->file = *file;
    struct trace *t = builder_trace(b);
    t->args = &a->base;
    t->format = "kineto json";
    t->path = mem_strdup(path);
    int rc = t->path ? build(b, a, e) : FAIL(e, ERR_NOMEM, "out of memory");
    if (rc < 0) {
        builder_free(b);
        return rc;
    }
    t->source_bytes = a->text.p ? a->text.n : a->file.n;
    return builder_freeze(b, o->n_threads, ret, e);
}

const struct importer import_json = {"kineto json", sniff, open_json};
