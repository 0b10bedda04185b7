/* hlo.c: see xplane_private.h. Field numbers are those of the public hlo.proto and xla_data.proto.
 */
#include "import/xplane/xplane_private.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "base/vec.h"

enum { MODULE_NAME = 1, MODULE_COMPUTATIONS = 3, MODULE_FRAMES = 17 };
enum { COMPUTATION_INSTRUCTIONS = 2, COMPUTATION_ID = 5 };
enum { FRAMES_FILES = 1, FRAMES_FUNCTIONS = 2, FRAMES_LOCATIONS = 3, FRAMES_STACKS = 4 };

struct texts {
    struct str *list;
    size_t n, cap;
};

/* An instruction, as far as it matters. */
struct instruction {
    struct str name, opcode, op, file;
    struct str calls; /* ids of computations, packed */
    uint64_t line, frame;
};

struct reader {
    struct str module;
    struct texts files, functions, locations, stacks; /* numbered from 1 on */
    struct map results;                               /* id of a computation -> in `placed` */
    struct instruction *placed;
    size_t n_placed, cap_placed;
    struct map fused; /* ids of computations that are inside of an instruction */
    struct buf place, kernel;
    struct source_list *out;
};

static int hlo_add_text(struct texts *t, struct str s)
{
    if (VEC_RESERVE(t->list, t->n, t->cap, 1)) return ERR_NOMEM;
    t->list[t->n++] = s;
    return 0;
}

static struct str text_at(const struct texts *t, uint64_t number)
{
    return number && number <= t->n ? t->list[number - 1] : str_c("");
}

/* Number `field` of a message; 0 when it has none. */
static uint64_t number_in(struct str message, uint32_t field)
{
    struct pb m = pb_open(message);
    struct pb_field f;
    uint64_t ret = 0;
    while (pb_next(&m, &f))
        if (f.number == field && f.type == PB_VARINT) ret = f.value;
    return ret;
}

static int hlo_read_frames(struct reader *r, struct str bytes)
{
    struct texts *const into[] = {NULL, &r->files, &r->functions, &r->locations, &r->stacks};
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f))
        if (f.type == PB_BYTES && f.number >= FRAMES_FILES && f.number <= FRAMES_STACKS)
            TRY(hlo_add_text(into[f.number], f.bytes));
    return 0;
}

static void read_metadata(struct str bytes, struct instruction *ret)
{
    enum { OP_NAME = 2, SOURCE_FILE = 3, SOURCE_LINE = 4, STACK_FRAME = 15 };
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number == OP_NAME) ret->op = f.bytes;
        else if (f.number == SOURCE_FILE) ret->file = f.bytes;
        else if (f.number == SOURCE_LINE) ret->line = f.value;
        else if (f.number == STACK_FRAME) ret->frame = f.value;
    }
}

static struct instruction read_instruction(struct str bytes)
{
    enum { NAME = 1, OPCODE = 2, METADATA = 7, CALLED = 38 };
    struct instruction ret = {.name = str_c("")};
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number == METADATA) read_metadata(f.bytes, &ret);
        else if (f.number == NAME) ret.name = f.bytes;
        else if (f.number == OPCODE) ret.opcode = f.bytes;
        else if (f.number == CALLED) ret.calls = f.bytes;
    }
    return ret;
}

/* Instructions that are not kernels themselves: values, and those that run others. */
static bool hlo_is_kernel(struct str opcode)
{
    static const char *const others[] = {
        "parameter", "constant",    "tuple",     "get-tuple-element", "bitcast",    "while",
        "call",      "conditional", "after-all", "partition-id",      "replica-id",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(opcode, others[i])) return false;
    return true;
}

static bool has_place(const struct instruction *i)
{
    return i->frame || i->file.n;
}

static int note_calls(struct reader *r, struct str ids)
{
    struct pb m = pb_open(ids);
    uint64_t id;
    while (m.p < m.end && pb_varint(&m, &id)) {
        uint32_t *slot = map_at(&r->fused, id);
        if (!slot) return ERR_NOMEM;
        *slot = 1;
    }
    return 0;
}

/* What it calls, and the last of its instructions that has a place: its result, as a rule. */
static int hlo_survey(struct reader *r, struct str computation)
{
    struct pb m = pb_open(computation);
    struct pb_field f;
    struct instruction last = {.frame = 0};
    while (pb_next(&m, &f)) {
        if (f.number != COMPUTATION_INSTRUCTIONS || f.type != PB_BYTES) continue;
        struct instruction i = read_instruction(f.bytes);
        if (!hlo_is_kernel(i.opcode)) continue;
        if (has_place(&i)) last = i;
        TRY(note_calls(r, i.calls));
    }
    if (!has_place(&last)) return 0;
    uint32_t *slot = map_at(&r->results, number_in(computation, COMPUTATION_ID));
    if (!slot || VEC_RESERVE(r->placed, r->n_placed, r->cap_placed, 1)) return ERR_NOMEM;
    *slot = (uint32_t)r->n_placed;
    r->placed[r->n_placed++] = last;
    return 0;
}

/* "Model.step" is step. */
static struct str hlo_last_part(struct str name)
{
    size_t n = 0;
    while (n < name.n && name.p[name.n - 1 - n] != '.') n++;
    return str_from(name.p + name.n - n, n);
}

static void print_place(struct reader *r, const struct instruction *i)
{
    enum { LOCATION = 1, FILE_NAME = 1, FUNCTION = 2, LINE = 3 };
    struct str at = text_at(&r->locations, number_in(text_at(&r->stacks, i->frame), LOCATION));
    struct str file = i->frame ? text_at(&r->files, number_in(at, FILE_NAME)) : i->file;
    struct str function = hlo_last_part(text_at(&r->functions, number_in(at, FUNCTION)));
    uint64_t line = i->frame ? number_in(at, LINE) : i->line;
    buf_reset(&r->place);
    if (!file.n || line > INT32_MAX) return;
    buf_add_str(&r->place, file);
    buf_printf(&r->place, "(%u): ", (unsigned)line);
    buf_add_str(&r->place, function.n ? function : str_c("<module>"));
}

/* XLA names a kernel by its instruction, in letters that a function may have. */
static void print_kernel(struct reader *r, struct str name)
{
    buf_reset(&r->kernel);
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        buf_addc(&r->kernel, kept ? c : '_');
    }
}

static void add_source(struct reader *r, const struct instruction *i)
{
    struct pb ids = pb_open(i->calls);
    uint64_t id;
    const struct instruction *from = i;
    if (!has_place(i) && pb_varint(&ids, &id)) {
        uint32_t at = map_find(&r->results, id);
        if (at != MAP_NONE) from = &r->placed[at];
    }
    print_place(r, from);
    print_kernel(r, i->name);
    if (!r->place.n || !r->kernel.n || !buf_ok(&r->place) || !buf_ok(&r->kernel)) return;
    struct source s = {r->module, buf_str(&r->kernel), from->op, buf_str(&r->place)};
    source_list_add(r->out, &s);
}

static void add_computation(struct reader *r, struct str computation)
{
    struct pb m = pb_open(computation);
    struct pb_field f;
    if (map_find(&r->fused, number_in(computation, COMPUTATION_ID)) != MAP_NONE) return;
    while (pb_next(&m, &f)) {
        if (f.number != COMPUTATION_INSTRUCTIONS || f.type != PB_BYTES) continue;
        struct instruction i = read_instruction(f.bytes);
        if (hlo_is_kernel(i.opcode)) add_source(r, &i);
    }
}

static int read_module(struct reader *r, struct str proto)
{
    struct pb m = pb_open(proto);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.type != PB_BYTES) continue;
        if (f.number == MODULE_NAME) r->module = f.bytes;
        else if (f.number == MODULE_COMPUTATIONS) TRY(hlo_survey(r, f.bytes));
        else if (f.number == MODULE_FRAMES) TRY(hlo_read_frames(r, f.bytes));
    }
    m = pb_open(proto);
    while (pb_next(&m, &f))
        if (f.number == MODULE_COMPUTATIONS && f.type == PB_BYTES) add_computation(r, f.bytes);
    return 0;
}

int hlo_sources(struct str proto, struct source_list *out)
{
    struct reader r = {.module = str_c(""), .out = out};
    map_init(&r.results);
    map_init(&r.fused);
    buf_init(&r.place);
    buf_init(&r.kernel);
    int rc = read_module(&r, proto);
    map_done(&r.results);
    map_done(&r.fused);
    buf_done(&r.place);
    buf_done(&r.kernel);
    mem_free(r.placed);
    mem_free(r.files.list);
    mem_free(r.functions.list);
    mem_free(r.locations.list);
    mem_free(r.stacks.list);
    return rc;
}
