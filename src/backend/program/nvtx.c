/* nvtx.c: see nvtx.h. NVTX's own tables, declared again: an array of places for function pointers,
 * by number, which its inline functions call through.
 *
 * Handles that NVTX passes back to us (domains, registered strings) are string ids. */
#include "backend/program/nvtx.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "backend/program/ranges.h"
#include "base/utf8.h"
#include "record/names.h"
#include "record/recorder.h"
#include "record/repeats.h"

enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };

enum core {
    CORE_MARK_EX = 1,
    CORE_MARK_A,
    CORE_MARK_W,
    CORE_START_EX,
    CORE_START_A,
    CORE_START_W,
    CORE_END,
    CORE_PUSH_EX,
    CORE_PUSH_A,
    CORE_PUSH_W,
    CORE_POP,
    CORE_NAME_THREAD_A = 14,
    CORE_NAME_THREAD_W,
};

enum core2 {
    CORE2_MARK_EX = 1,
    CORE2_START_EX,
    CORE2_END,
    CORE2_PUSH_EX,
    CORE2_POP,
    CORE2_STRING_A = 10,
    CORE2_STRING_W,
    CORE2_DOMAIN_A,
    CORE2_DOMAIN_W,
};

enum message { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        uintptr_t registered;
    } message;
};

typedef void (*any_fn)(void);

struct callbacks_table {
    size_t bytes;
    int (*module)(uint32_t module, any_fn ***ret_table, unsigned *ret_n);
};

static atomic_bool quiet;

void nvtx_be_quiet(bool yes)
{
    atomic_store(&quiet, yes);
}

static inline bool is_quiet(void)
{
    return atomic_load_explicit(&quiet, memory_order_relaxed);
}

static uint32_t nvtx_id_of(const char *text)
{
    return text ? names_id(str_c(text)) : 0;
}

static uint32_t id_of_wide(const wchar_t *text)
{
    char out[RING_TEXT_MAX];
    size_t n = 0;
    for (; text && *text && n + 4 < sizeof out; text++) n += utf8_put(out + n, (uint32_t)*text);
    return names_id(str_from(out, n));
}

/* A name as it is shown: that of another domain than the default stands before it. */
static uint32_t name_in(uintptr_t domain, uint32_t name)
{
    if (!domain) return name;
    char text[RING_TEXT_MAX];
    struct str d = names_text((uint32_t)domain), m = names_text(name);
    snprintf(text, sizeof text, STR_FMT ": " STR_FMT, STR_ARG(d), STR_ARG(m));
    return names_id(str_c(text));
}

static uint32_t nvtx_name_of(uintptr_t domain, const struct attributes *a)
{
    if (!a || a->size < sizeof *a) return 0;
    uint32_t id = 0;
    if (a->message_type == MESSAGE_ASCII) id = nvtx_id_of(a->message.ascii);
    else if (a->message_type == MESSAGE_WIDE) id = id_of_wide(a->message.wide);
    else if (a->message_type == MESSAGE_REGISTERED) id = (uint32_t)a->message.registered;
    return name_in(domain, id);
}

/* What the program marks is in the default domain; libraries (cub, NCCL) have their own. */
static uint32_t nvtx_category_of(uintptr_t domain)
{
    return names_id(str_c(domain ? RING_LIBRARY : "user_annotation"));
}

static void nvtx_mark(uint32_t name)
{
    recorder_put((struct ring_record){.kind = RING_INSTANT, .name = (uint16_t)name}, 0);
}

/* The innermost open push of a domain on this thread; the depth that NVTX wants back is not kept,
 * and a tool may say so with a negative number. */
enum { NOT_KEPT = -2, PUSH = 1 };

static int nvtx_push(uintptr_t domain, uint32_t name)
{
    ranges_begin(nvtx_category_of(domain), name, domain << 1 | PUSH);
    return NOT_KEPT;
}

static int nvtx_pop(uintptr_t domain)
{
    struct range_ended r = ranges_end(domain << 1 | PUSH);
    repeats_saw(r.name, r.begin, r.end);
    return NOT_KEPT;
}

/* Ranges that may end on another thread: NVTX carries our number from start to end. It holds what
 * the record at the end needs, so that nothing has to be kept: 48 bits of time, 16 of name. */
enum { NAME_BITS = 16 };

static uint64_t nvtx_start(uint32_t name)
{
    return clock_ticks(recorder_clock()) << NAME_BITS | name;
}

static void end_in(uintptr_t domain, uint64_t range)
{
    if (!range || is_quiet()) return;
    uint64_t now = clock_ticks(recorder_clock());
    /* The bits of the start that were shifted out are those of now, or of one turn before. */
    uint64_t mask = UINT64_MAX >> NAME_BITS, begin = (now & ~mask) | range >> NAME_BITS;
    if (begin > now) begin -= mask + 1;
    repeats_saw((uint16_t)range, begin, now);
    recorder_put((struct ring_record){.kind = RING_RANGE,
                                      .ticks = now,
                                      .name = (uint16_t)range,
                                      .category = (uint16_t)nvtx_category_of(domain)},
                 begin);
}

static void nvtx_end(uint64_t range)
{
    end_in(0, range);
}

static void mark_ex(const struct attributes *a)
{
    if (is_quiet()) return;
    nvtx_mark(nvtx_name_of(0, a));
}

static void mark_a(const char *text)
{
    if (is_quiet()) return;
    nvtx_mark(nvtx_id_of(text));
}

static void mark_w(const wchar_t *text)
{
    if (is_quiet()) return;
    nvtx_mark(id_of_wide(text));
}

static uint64_t start_ex(const struct attributes *a)
{
    if (is_quiet()) return 0;
    return nvtx_start(nvtx_name_of(0, a));
}

static uint64_t start_a(const char *text)
{
    if (is_quiet()) return 0;
    return nvtx_start(nvtx_id_of(text));
}

static uint64_t start_w(const wchar_t *text)
{
    if (is_quiet()) return 0;
    return nvtx_start(id_of_wide(text));
}

static int push_ex(const struct attributes *a)
{
    if (is_quiet()) return NOT_KEPT;
    return nvtx_push(0, nvtx_name_of(0, a));
}

static int push_a(const char *text)
{
    if (is_quiet()) return NOT_KEPT;
    return nvtx_push(0, nvtx_id_of(text));
}

static int push_w(const wchar_t *text)
{
    if (is_quiet()) return NOT_KEPT;
    return nvtx_push(0, id_of_wide(text));
}

static int pop_default(void)
{
    return nvtx_pop(0);
}

static void name_thread_a(uint32_t tid, const char *text)
{
    (void)tid; /* nearly always its own; another thread's ring is not ours to write */
    recorder_set_thread_name(nvtx_id_of(text));
}

static void name_thread_w(uint32_t tid, const wchar_t *text)
{
    (void)tid;
    recorder_set_thread_name(id_of_wide(text));
}

static void domain_mark(uintptr_t domain, const struct attributes *a)
{
    if (is_quiet()) return;
    nvtx_mark(nvtx_name_of(domain, a));
}

static uint64_t domain_start(uintptr_t domain, const struct attributes *a)
{
    if (is_quiet()) return 0;
    return nvtx_start(nvtx_name_of(domain, a));
}

static int domain_push(uintptr_t domain, const struct attributes *a)
{
    if (is_quiet()) return NOT_KEPT;
    return nvtx_push(domain, nvtx_name_of(domain, a));
}

static uintptr_t string_a(uintptr_t domain, const char *text)
{
    (void)domain;
    return nvtx_id_of(text);
}

static uintptr_t string_w(uintptr_t domain, const wchar_t *text)
{
    (void)domain;
    return id_of_wide(text);
}

static uintptr_t domain_a(const char *text)
{
    return nvtx_id_of(text);
}

static uintptr_t domain_w(const wchar_t *text)
{
    return id_of_wide(text);
}

struct handler {
    unsigned id;
    any_fn fn;
};

#define FN(f) ((any_fn)(f))

static const struct handler core[] = {
    {CORE_MARK_EX, FN(mark_ex)},
    {CORE_MARK_A, FN(mark_a)},
    {CORE_MARK_W, FN(mark_w)},
    {CORE_START_EX, FN(start_ex)},
    {CORE_START_A, FN(start_a)},
    {CORE_START_W, FN(start_w)},
    {CORE_END, FN(nvtx_end)},
    {CORE_PUSH_EX, FN(push_ex)},
    {CORE_PUSH_A, FN(push_a)},
    {CORE_PUSH_W, FN(push_w)},
    {CORE_POP, FN(pop_default)},
    {CORE_NAME_THREAD_A, FN(name_thread_a)},
    {CORE_NAME_THREAD_W, FN(name_thread_w)},
};

static const struct handler core2[] = {
    {CORE2_MARK_EX, FN(domain_mark)}, {CORE2_START_EX, FN(domain_start)},
    {CORE2_END, FN(end_in)},          {CORE2_PUSH_EX, FN(domain_push)},
    {CORE2_POP, FN(nvtx_pop)},        {CORE2_STRING_A, FN(string_a)},
    {CORE2_STRING_W, FN(string_w)},   {CORE2_DOMAIN_A, FN(domain_a)},
    {CORE2_DOMAIN_W, FN(domain_w)},
};

static bool nvtx_fill(const struct callbacks_table *t, uint32_t module, const struct handler *h,
                      size_t n)
{
    any_fn **table = NULL;
    unsigned size = 0;
    if (!t->module(module, &table, &size) || !table) return false;
    for (size_t i = 0; i < n; i++)
        if (h[i].id < size && table[h[i].id]) *table[h[i].id] = h[i].fn;
    return true;
}

int nvtx_attach(nvtx_export_table_fn export_table)
{
    const struct callbacks_table *t = export_table ? export_table(TABLE_CALLBACKS) : NULL;
    if (!t || t->bytes < sizeof *t || !t->module) return 0;
    bool filled = nvtx_fill(t, MODULE_CORE, core, sizeof core / sizeof *core);
    filled |= nvtx_fill(t, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return filled;
}
