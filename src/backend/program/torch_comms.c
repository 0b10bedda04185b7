/* torch_comms.c: see collective_note.h. */
#include "backend/program/collective_note.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "format/xxh64.h"

enum {
    FIRST_WITH_NUMBERS = 13, /* torch 2.13 */
    OLD_KIND = 4,            /* PARAM_COMMS_INFO, where kinds were an enum */
    MOST_TEXT = 4096,
    MOST_RANKS = 1 << 20,
    MEMBERS_TEXT = 900,
    GROUPS_KEPT = 64,
};

/* Of libstdc++. */
struct cxx_string {
    const char *p;
    size_t n;
    char local[16];
};

struct cxx_numbers {
    const int64_t *begin, *end, *end_of_room;
};

/* torch::ParamCommsDebugInfo. A tuple has its last element first. */
struct param_comms {
    const void *const *functions;
    struct cxx_string description, name;
    int32_t rank, ranks;
    struct cxx_string collective;
    int64_t in, out;
    int8_t type;
    struct cxx_numbers in_split, out_split;
    int32_t first_rank, rank_stride;
    struct cxx_numbers members;
    bool async;
    int64_t seq; /* from here on torch 2.13 and later */
    bool pair;
};

_Static_assert(offsetof(struct param_comms, collective) == 80, "layout of ParamCommsDebugInfo");
_Static_assert(offsetof(struct param_comms, members) == 192, "layout of ParamCommsDebugInfo");
_Static_assert(offsetof(struct param_comms, seq) == 224, "layout of ParamCommsDebugInfo");

#define CLASS "N5torch19ParamCommsDebugInfoE"
#define CREATOR \
    "_ZN5torch19ParamCommsDebugInfoC1ESt5tupleIJNSt7__cxx1112basic_stringIcSt11char_traits"
#define CREATOR2 "IcESaIcEEES7_EEiOS7_llN3c1010ScalarTypeESt6vectorIlSaIlEESE_iii"

typedef const struct param_comms *get_fn(uintptr_t kind);

static get_fn *get; /* set last */
static uintptr_t kind;
static bool has_numbers;

/* Lists of ranks as text, made once each. */
struct members {
    uint64_t hash;
    size_t n;
    char text[];
};
static _Atomic(struct members *) kept[GROUPS_KEPT];

/* How the object is made says which members it has. */
static bool knows_class(void *library)
{
    return dlsym(library, CREATOR CREATOR2 "b") || dlsym(library, CREATOR CREATOR2);
}

void torch_comms_init(void *library, long minor)
{
#if defined(__x86_64__)
    void *at = dlsym(library, "_ZN3c1020ThreadLocalDebugInfo3getENS_13DebugInfoKindE");
    const uintptr_t *now = dlsym(library, "_ZN3c1013DebugInfoKind16PARAM_COMMS_INFOE");
    if (!at || !knows_class(library)) return;
    kind = now ? *now : OLD_KIND;
    has_numbers = minor >= FIRST_WITH_NUMBERS;
    memcpy(&get, &at, sizeof get);
#else
    (void)library;
    (void)minor;
#endif
}

/* By the name in its type information, which stands before its functions. */
static bool torch_comms_is_known(const struct param_comms *c)
{
    struct type_info {
        const void *functions;
        const char *name;
    };
    const struct type_info *type = c->functions ? c->functions[-1] : NULL;
    return type && type->name && strcmp(type->name, CLASS) == 0;
}

static struct str torch_comms_text_of(const struct cxx_string *s)
{
    return s->p && s->n <= MOST_TEXT ? str_from(s->p, s->n) : str_c("");
}

/* "[0, 1, 2]", shortened where there are too many. */
static void write_members(const int64_t *ranks, size_t n, char *ret, size_t cap)
{
    size_t at = (size_t)snprintf(ret, cap, "[");
    for (size_t i = 0; i < n && at + 48 < cap; i++) {
        at += (size_t)snprintf(ret + at, cap - at, "%s%" PRId64, i ? ", " : "", ranks[i]);
        if (at + 72 < cap || i + 2 >= n) continue;
        at += (size_t)snprintf(ret + at, cap - at, ", ..., %" PRId64, ranks[n - 1]);
        break;
    }
    snprintf(ret + at, cap - at, "]");
}

static struct str members_of(const struct cxx_numbers *v)
{
    size_t n = (size_t)(v->end - v->begin);
    if (!v->begin || v->end < v->begin || !n || n > MOST_RANKS) return str_c("");
    uint64_t hash = xxh64(v->begin, n * sizeof *v->begin);
    _Atomic(struct members *) *slot = &kept[hash % GROUPS_KEPT];
    struct members *m = atomic_load_explicit(slot, memory_order_acquire);
    if (m && m->hash == hash && m->n == n) return str_c(m->text);
    if (m) return str_c(""); /* another group has its place: its name will do */
    m = mem_zalloc(1, sizeof *m + MEMBERS_TEXT);
    if (!m) return str_c("");
    m->hash = hash;
    m->n = n;
    write_members(v->begin, n, m->text, MEMBERS_TEXT);
    struct members *nobody = NULL;
    if (atomic_compare_exchange_strong(slot, &nobody, m)) return str_c(m->text);
    mem_free(m); /* another thread was first */
    return nobody->hash == hash ? str_c(nobody->text) : str_c("");
}

/* torch's names of its types, by number. */
static struct str torch_comms_type_name(int8_t type)
{
    static const char *const names[] = {"Byte",        "Char",         "Short",         "Int",
                                        "Long",        "Half",         "Float",         "Double",
                                        "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool",
                                        "QInt8",       "QUInt8",       "QInt32",        "BFloat16"};
    static const char *const eights[] = {"Float8_e5m2", "Float8_e4m3fn", "Float8_e5m2fnuz",
                                         "Float8_e4m3fnuz"};
    if (type >= 0 && type < 16) return str_c(names[type]);
    return str_c(type >= 23 && type < 27 ? eights[type - 23] : "");
}

bool torch_comms_now(struct collective_note *ret)
{
    const struct param_comms *c = get ? get(kind) : NULL;
    if (!c || !torch_comms_is_known(c)) return false;
    *ret = collective_note_of(torch_comms_text_of(&c->collective));
    ret->group = torch_comms_text_of(&c->name);
    ret->description = torch_comms_text_of(&c->description);
    ret->members = members_of(&c->members);
    ret->dtype = torch_comms_type_name(c->type);
    ret->in = c->in;
    ret->out = c->out;
    ret->size = c->ranks;
    if (has_numbers) ret->seq = c->seq;
    if (str_is(ret->label, "send")) ret->to = c->rank;
    if (str_is(ret->label, "recv")) ret->from = c->rank;
    return true;
}
