/* json_head.c: every key is kept as raw text; devices and the base time are read as well. */
#include "import/json/json_private.h"

#include <stdio.h>

#include "trace/bounds.h"

enum { MOST_META = 1 << 20, MOST_DEVICES = 4096 };

static struct scan scan_of(struct str value)
{
    struct scan s = {.text = value.p, .end = value.p + value.n};
    scan_begin(&s, value.p, SCAN_STRICT);
    return s;
}

/* The integer `value` is, or `otherwise`. */
static int64_t to_int(struct str value, int64_t otherwise)
{
    /* one byte beyond the value is its delimiter, which a number needs to be complete */
    struct scan s = scan_of(str_from(value.p, value.n + 1));
    int64_t v;
    bool have;
    return scan_int(&s, &v, &have) == SCAN_OK && have ? v : otherwise;
}

static const struct {
    const char *key;
    size_t offset;
} device_ints[] = {
    {"id", offsetof(struct device, id)},
    {"computeMajor", offsetof(struct device, major)},
    {"computeMinor", offsetof(struct device, minor)},
    {"numSms", offsetof(struct device, n_sms)},
    {"maxComputeUnits", offsetof(struct device, n_sms)},
    {"warpSize", offsetof(struct device, warp_size)},
    {"maxThreadsPerMultiprocessor", offsetof(struct device, max_threads_per_sm)},
    {"regsPerMultiprocessor", offsetof(struct device, regs_per_sm)},
    {"sharedMemPerMultiprocessor", offsetof(struct device, shared_per_sm)},
    {"maxSharedMemoryPerMultiProcessor", offsetof(struct device, shared_per_sm)},
    {"sharedMemPerBlockOptin", offsetof(struct device, shared_per_block_optin)},
};

static int set_device_name(struct builder *b, struct str value, struct device *d)
{
    struct scan s = scan_of(value);
    struct scan_text text;
    if (scan_peek(&s) != SCAN_STRING || scan_string(&s, false, &text) != SCAN_OK) return 0;
    struct buf scratch;
    buf_init(&scratch);
    d->name = scan_intern(&s, text, &builder_trace(b)->strings, &scratch);
    buf_done(&scratch);
    return d->name == STR_NONE ? ERR_NOMEM : 0;
}

static int set_device(struct builder *b, struct str key, struct str value, struct device *d)
{
    if (str_is(key, "name")) return set_device_name(b, value, d);
    if (str_is(key, "totalGlobalMem")) d->memory_bytes = to_int(value, 0);
    for (size_t i = 0; i < sizeof device_ints / sizeof *device_ints; i++) {
        if (!str_is(key, device_ints[i].key)) continue;
        int64_t v = to_int(value, 0);
        if (v >= INT32_MIN && v <= INT32_MAX)
            *(int32_t *)(void *)((char *)d + device_ints[i].offset) = (int32_t)v;
    }
    return 0;
}

/* One object of the list, the cursor on its brace. */
static int json_head_add_device(struct builder *b, struct scan *s)
{
    struct device d = {0};
    bool more = true;
    s->p++;
    while (more && scan_peek(s) == SCAN_STRING) {
        struct scan_text key;
        if (scan_string(s, true, &key) || scan_expect(s, ':')) return 0;
        scan_blanks(s);
        const char *value = s->p;
        if (scan_skip(s)) return 0;
        TRY(set_device(b, str_from(key.p, key.n), str_from(value, (size_t)(s->p - value)), &d));
        if (scan_next(s, '}', &more)) return 0;
    }
    return builder_add_device(b, &d);
}

static int add_devices(struct builder *b, struct str value)
{
    struct scan s = scan_of(value);
    bool more = scan_expect(&s, '[') == SCAN_OK;
    for (int i = 0; more && i < MOST_DEVICES; i++) {
        if (scan_peek(&s) != SCAN_NESTED || *s.p != '{') return 0;
        struct scan inner = s;
        TRY(json_head_add_device(b, &inner));
        if (scan_skip(&s) || scan_next(&s, ']', &more)) return 0;
    }
    return 0;
}

int head_add(struct builder *b, struct str key, struct str value)
{
    struct trace *t = builder_trace(b);
    if (str_is(key, "baseTimeNanoseconds")) {
        int64_t base = to_int(value, 0);
        if (bounds_ts(base)) t->base_ns = base;
        else damage_note(&t->damage, DAMAGE_BAD_NUMBER, 0);
    }
    if (str_is(key, "deviceProperties")) TRY(add_devices(b, value));
    char note[64];
    if (value.n > MOST_META) {
        snprintf(note, sizeof note, "\"(%zu bytes left out)\"", value.n);
        value = str_c(note);
    }
    return builder_add_meta(b, key, value);
}
