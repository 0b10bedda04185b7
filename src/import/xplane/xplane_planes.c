/* xplane_planes.c: see xplane_private.h. Field numbers are those of the public xplane.proto. */
#include "import/xplane/xplane_private.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

enum { PLANE_NAME = 2, PLANE_EVENT_NAMES = 4, PLANE_STAT_NAMES = 5, SPACE_PLANES = 1 };

static const struct {
    const char *name;
    enum xstat stat;
} known[] = {
    {"correlation_id", XSTAT_CORRELATION},
    {"kernel_details", XSTAT_KERNEL_DETAILS},
    {"memcpy_details", XSTAT_MEMCPY_DETAILS},
    {"hlo_op", XSTAT_HLO_OP},
    {"hlo_module", XSTAT_HLO_MODULE},
    {"step_num", XSTAT_STEP},
    {"device_id", XSTAT_DEVICE},
    {"context_id", XSTAT_CONTEXT},
    {"allocator_name", XSTAT_ALLOCATOR},
    {"addr", XSTAT_ADDRESS},
    {"allocation_bytes", XSTAT_BYTES},
    {"bytes_allocated", XSTAT_ALLOCATED},
    {"bytes_reserved", XSTAT_RESERVED},
    {"core_count", XSTAT_CORES},
    {"memory_size", XSTAT_MEMORY_SIZE},
    {"compute_cap_major", XSTAT_MAJOR},
    {"compute_cap_minor", XSTAT_MINOR},
    {"device_type_string", XSTAT_DEVICE_NAME},
    {"device_vendor", XSTAT_VENDOR},
    {"profile_start_time", XSTAT_START_TIME},
    {"cuda_graph_id", XSTAT_GRAPH_ID},
};

static enum xstat find_stat(struct str name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(name, known[i].name)) return known[i].stat;
    return XSTAT_OTHER;
}

/* An entry of a map: its key, and a message whose field 2 is the name. */
static int xplane_planes_add_name(struct xplanes *x, struct map *into, struct str entry, bool stat)
{
    struct pb m = pb_open(entry);
    struct pb_field f;
    uint64_t key = 0;
    struct xname name = {0};
    while (pb_next(&m, &f)) {
        if (f.number == 1) key = f.value;
        else if (f.number == 2 && f.type == PB_BYTES) name.more = f.bytes;
    }
    struct pb inner = pb_open(name.more);
    while (pb_next(&inner, &f))
        if (f.number == 2 && f.type == PB_BYTES) name.text = f.bytes;
    if (stat) name.stat = find_stat(name.text);
    uint32_t *slot = map_at(into, key);
    if (!slot || VEC_RESERVE(x->names, x->n_names, x->cap_names, 1)) return ERR_NOMEM;
    *slot = (uint32_t)x->n_names;
    x->names[x->n_names++] = name;
    return 0;
}

static int add_plane(struct xplanes *x, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    if (VEC_RESERVE(x->list, x->n, x->cap, 1)) return ERR_NOMEM;
    struct xplane *p = &x->list[x->n++];
    *p = (struct xplane){.bytes = bytes};
    while (pb_next(&m, &f)) {
        if (f.type != PB_BYTES) continue;
        if (f.number == PLANE_NAME) p->name = f.bytes;
        else if (f.number == PLANE_EVENT_NAMES)
            TRY(xplane_planes_add_name(x, &p->events, f.bytes, false));
        else if (f.number == PLANE_STAT_NAMES)
            TRY(xplane_planes_add_name(x, &p->stats, f.bytes, true));
    }
    x->n_bad += m.bad;
    return 0;
}

int xplanes_read(struct xplanes *x, struct str text)
{
    struct pb m = pb_open(text);
    struct pb_field f;
    *x = (struct xplanes){.text = text.p};
    while (pb_next(&m, &f))
        if (f.number == SPACE_PLANES && f.type == PB_BYTES) TRY(add_plane(x, f.bytes));
    x->n_bad += m.bad;
    return 0;
}

void xplanes_done(struct xplanes *x)
{
    for (size_t i = 0; i < x->n; i++) {
        map_done(&x->list[i].events);
        map_done(&x->list[i].stats);
    }
    mem_free(x->list);
    mem_free(x->names);
}

const struct xname *xplane_event_name(const struct xplanes *x, const struct xplane *p, uint64_t id)
{
    uint32_t i = map_find(&p->events, id);
    return i == MAP_NONE ? NULL : &x->names[i];
}

const struct xname *xplane_stat_name(const struct xplanes *x, const struct xplane *p, uint64_t id)
{
    uint32_t i = map_find(&p->stats, id);
    return i == MAP_NONE ? NULL : &x->names[i];
}

struct xvalue xplane_value(const struct xplanes *x, const struct xplane *p, struct str bytes)
{
    enum { NAME = 1, DOUBLE = 2, UINT = 3, INT = 4, TEXT = 5, BYTES = 6, REF = 7 };
    struct pb m = pb_open(bytes);
    struct pb_field f;
    struct xvalue v = {0};
    while (pb_next(&m, &f)) {
        if (f.number == NAME) {
            v.name = xplane_stat_name(x, p, f.value);
            continue;
        }
        v.number = f.value;
        v.text = f.bytes;
        if (f.number == DOUBLE) v.kind = XVALUE_REAL;
        else if (f.number == UINT) v.kind = XVALUE_UINT;
        else if (f.number == INT) v.kind = XVALUE_INT;
        else if (f.number == TEXT) v.kind = XVALUE_TEXT;
        else if (f.number == REF) {
            const struct xname *ref = xplane_stat_name(x, p, f.value);
            v.kind = XVALUE_TEXT;
            v.text = ref ? ref->text : str_c("");
        }
    }
    return v;
}

int64_t xvalue_int(const struct xvalue *v, int64_t otherwise)
{
    char digits[24], *end;
    if (v->kind == XVALUE_INT || v->kind == XVALUE_UINT) return (int64_t)v->number;
    if (v->kind != XVALUE_TEXT || !v->text.n || v->text.n >= sizeof digits) return otherwise;
    memcpy(digits, v->text.p, v->text.n);
    digits[v->text.n] = '\0';
    long long n = strtoll(digits, &end, 10);
    return *end ? otherwise : n;
}
