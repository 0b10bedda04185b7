/* pftrace_notes.c: args as debug annotations: numbers, texts, lists and dictionaries as such. What
 * Perfetto has no value for is a text: [] and {}, and the shapes of operators, whose exact text
 * counts. Also where the top-level keys of a trace go. */
#include <errno.h>
#include <stdlib.h>

#include "base/jdoc.h"
#include "base/jout.h"
#include "base/json_valid.h"
#include "base/mem.h"
#include "export/chrome.h"
#include "export/clean.h"
#include "export/export_private.h"
#include "export/pftrace_out.h"

enum { NOTE_NAME_IID = 1, NOTE_BOOL, NOTE_UINT, NOTE_INT, NOTE_DOUBLE, NOTE_STRING };
enum { NOTE_NAME = 10, NOTE_DICT = 11, NOTE_ARRAY = 12 };
enum { EVENT_NOTE = 4, EVENT_TYPE = 9, EVENT_NAME = 23, EVENT_CATEGORY = 22, INSTANT = 3 };
enum { INTERNED_NOTE_NAMES = 3 };

/* The interning id of a key, which goes along where it is new; 0 when out of memory. */
static uint64_t key_id(struct pf_out *o, struct str key)
{
    uint32_t before = o->keys.n;
    str_id id = intern_add(&o->keys, key);
    if (id == STR_NONE) return 0;
    if (o->keys.n > before) {
        buf_reset(&o->value);
        proto_uint(&o->value, 1, (uint64_t)id + 1);
        proto_bytes(&o->value, 2, clean_utf8(key, &o->scratch));
        proto_bytes(&o->interned, INTERNED_NOTE_NAMES, buf_str(&o->value));
    }
    return (uint64_t)id + 1;
}

/* A JSON number: an integer where it is one, so that ids keep all their digits. */
static void pftrace_notes_put_number(struct buf *b, struct str text)
{
    char digits[64], *end;
    if (text.n >= sizeof digits) {
        proto_bytes(b, NOTE_STRING, text);
        return;
    }
    memcpy(digits, text.p, text.n);
    digits[text.n] = '\0';
    errno = 0;
    long long v = strtoll(digits, &end, 10);
    if (!*end && !errno) {
        proto_int(b, NOTE_INT, v);
        return;
    }
    errno = 0;
    unsigned long long u = strtoull(digits, &end, 10);
    if (!*end && !errno && *digits != '-') proto_uint(b, NOTE_UINT, u);
    else proto_double(b, NOTE_DOUBLE, strtod(digits, NULL));
}

/* A JSON string, quotes included, decoded. */
static void pftrace_notes_put_string(struct buf *b, uint32_t field, struct str quoted)
{
    struct str inner = str_from(quoted.p + 1, quoted.n - 2);
    if (!memchr(inner.p, '\\', inner.n)) {
        proto_bytes(b, field, inner);
        return;
    }
    struct arena mem;
    struct jdoc d;
    arena_init(&mem);
    bool ok = jdoc_parse(quoted, &mem, &d, NULL) == 0;
    proto_bytes(b, field, ok ? d.text : inner);
    arena_done(&mem);
}

static void pftrace_notes_put_value(struct pf_out *o, struct buf *b, struct str v, int depth);

/* The members of a list or dictionary, each a message of its own. */
static void pftrace_notes_put_nested(struct pf_out *o, struct buf *b, struct str v, int depth)
{
    struct buf *inner = &o->nested[depth];
    struct json_member m;
    bool dict = *v.p == '{';
    for (struct str rest = v;;) {
        if (!(dict ? json_next_member(&rest, &m) : json_next_item(&rest, &m.value))) break;
        buf_reset(inner);
        if (dict) pftrace_notes_put_string(inner, NOTE_NAME, str_from(m.key.p - 1, m.key.n + 2));
        pftrace_notes_put_value(o, inner, m.value, depth + 1);
        proto_bytes(b, dict ? NOTE_DICT : NOTE_ARRAY, buf_str(inner));
    }
}

static bool pftrace_notes_is_empty(struct str v)
{
    struct str inside = str_trim(str_from(v.p + 1, v.n - 2));
    return inside.n == 0;
}

static void pftrace_notes_put_value(struct pf_out *o, struct buf *b, struct str v, int depth)
{
    bool nested = *v.p == '[' || *v.p == '{';
    if (str_is(v, "true") || str_is(v, "false")) proto_uint(b, NOTE_BOOL, v.n == 4);
    else if (*v.p == '-' || (*v.p >= '0' && *v.p <= '9')) pftrace_notes_put_number(b, v);
    else if (*v.p == '"') pftrace_notes_put_string(b, NOTE_STRING, v);
    else if (!nested || depth >= PF_OUT_DEPTH) proto_bytes(b, NOTE_STRING, v);
    else if (pftrace_notes_is_empty(v))
        proto_bytes(b, NOTE_STRING, str_c(*v.p == '[' ? "[]" : "{}"));
    else pftrace_notes_put_nested(o, b, v, depth);
}

/* Shapes are grouped by their text. */
static bool is_shape(struct str key)
{
    return str_is(key, "Input Dims") || str_is(key, "Input dims") || str_is(key, "Input type") ||
           str_is(key, "Concrete Inputs");
}

int pf_out_notes(struct pf_out *o, struct str args)
{
    struct json_member m;
    while (json_next_member(&args, &m)) {
        if (str_is(m.value, "null")) continue;
        uint64_t id = key_id(o, m.key);
        if (!id) return ERR_NOMEM;
        buf_reset(&o->note);
        proto_uint(&o->note, NOTE_NAME_IID, id);
        if (is_shape(m.key) && *m.value.p == '[') proto_bytes(&o->note, NOTE_STRING, m.value);
        else pftrace_notes_put_value(o, &o->note, m.value, 0);
        proto_bytes(&o->event, EVENT_NOTE, buf_str(&o->note));
    }
    return 0;
}

double pf_out_number(struct str args)
{
    struct json_member m;
    char digits[64];
    while (json_next_member(&args, &m)) {
        if (m.value.n >= sizeof digits ||
            (*m.value.p != '-' && (*m.value.p < '0' || *m.value.p > '9')))
            continue;
        memcpy(digits, m.value.p, m.value.n);
        digits[m.value.n] = '\0';
        return strtod(digits, NULL);
    }
    return 0;
}

static int pftrace_notes_put_meta(struct pf_out *o, struct str key, struct str value)
{
    uint64_t id = key_id(o, key);
    buf_reset(&o->note);
    proto_uint(&o->note, NOTE_NAME_IID, id);
    if (json_valid(value)) {
        proto_bytes(&o->note, NOTE_STRING, value);
    } else {
        buf_reset(&o->args);
        json_repair(value, &o->args);
        proto_bytes(&o->note, NOTE_STRING, buf_str(&o->args));
    }
    proto_bytes(&o->event, EVENT_NOTE, buf_str(&o->note));
    return id ? 0 : ERR_NOMEM;
}

static int pftrace_notes_put_metas(struct pf_out *o, bool *seen)
{
    const struct trace *t = o->t;
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct meta *m = &t->metas[i];
        if (m->key >= t->strings.n || seen[m->key] || !strip_keeps(t, m, o->o)) continue;
        seen[m->key] = true;
        struct str key = trace_str(t, m->key);
        if (str_is(key, "traceEvents") || str_is(key, "baseTimeNanoseconds")) continue;
        TRY(pftrace_notes_put_meta(o, key, trace_str(t, m->value)));
    }
    if (trace_meta(t, "deviceProperties").p || !t->n_devices) return 0;
    struct buf devices;
    buf_init(&devices);
    chrome_put_devices(t, &devices);
    int rc = buf_ok(&devices)
                 ? pftrace_notes_put_meta(o, str_c("deviceProperties"), buf_str(&devices))
                 : ERR_NOMEM;
    buf_done(&devices);
    return rc;
}

int pf_out_metas(struct pf_out *o, struct err *e)
{
    bool *seen = mem_zalloc(o->t->strings.n, sizeof *seen);
    if (!seen) return err_nomem(e);
    buf_reset(&o->event);
    proto_uint(&o->event, EVENT_TYPE, INSTANT);
    proto_bytes(&o->event, EVENT_NAME, str_c("trace metadata"));
    proto_bytes(&o->event, EVENT_CATEGORY, str_c("strata_meta"));
    int rc = pftrace_notes_put_metas(o, seen);
    mem_free(seen);
    if (rc < 0) return err_nomem(e);
    int64_t first = o->t->begin_ns == ID_NONE ? 0 : o->t->begin_ns + o->shift_ns;
    return pf_out_event(o, first, e);
}
