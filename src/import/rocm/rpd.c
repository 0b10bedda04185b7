/* rpd.c: see sqlite_formats.h. Calls are in rocpd_api, what the device did in rocpd_op, and which
 * call started which work in rocpd_api_ops: the number of the call serves as correlation id. */
#include "import/sqlite_formats.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"

struct rpd {
    struct rocm rows;
    struct arena mem;
    struct map strings, long_strings;
    struct map call_of; /* work -> index of its call in `calls` */
    struct map copy_of; /* call -> index of the size of its copy in `sizes` */
    int64_t *calls, *sizes;
    size_t n_calls, cap_calls, n_sizes, cap_sizes;
    struct str *texts;
    size_t n_texts, cap_texts;
    bool has_long; /* args are in a table of their own */
};

struct table {
    const char *name, *columns;
    int (*add)(struct rpd *r, sqlite3_stmt *row);
};

static int rpd_each_row(struct rpd *r, struct sqlite_in *d, const struct table *t, struct err *e)
{
    sqlite3_stmt *row;
    if (!sqlite_in_has(d, t->name)) return 0;
    TRY(sqlite_in_select(d, t->name, t->columns, &row, e));
    int rc;
    while ((rc = sqlite_in_step(d, row, e)) > 0) {
        rc = t->add(r, row);
        if (rc < 0) break;
    }
    sqlite3_finalize(row);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static int rpd_add_text(struct rpd *r, struct map *m, sqlite3_stmt *row)
{
    struct str text = sqlite_in_text(row, 1);
    const char *copy = text.p ? arena_strdup(&r->mem, text) : "";
    uint32_t *slot = map_at(m, (uint64_t)sqlite_in_int(row, 0, 0));
    if (!copy || !slot || VEC_RESERVE(r->texts, r->n_texts, r->cap_texts, 1)) return ERR_NOMEM;
    *slot = (uint32_t)r->n_texts;
    r->texts[r->n_texts++] = str_from(copy, text.n);
    return 0;
}

static int rpd_add_string(struct rpd *r, sqlite3_stmt *row)
{
    return rpd_add_text(r, &r->strings, row);
}

static int add_long_string(struct rpd *r, sqlite3_stmt *row)
{
    return rpd_add_text(r, &r->long_strings, row);
}

static int add_link(struct rpd *r, sqlite3_stmt *row)
{
    int64_t call = sqlite_in_int(row, 0, -1);
    uint32_t *slot = map_at(&r->call_of, (uint64_t)sqlite_in_int(row, 1, -1));
    if (!slot || VEC_RESERVE(r->calls, r->n_calls, r->cap_calls, 1)) return ERR_NOMEM;
    if (call < 0) return 0;
    *slot = (uint32_t)r->n_calls;
    r->calls[r->n_calls++] = call;
    return 0;
}

/* How much a call copies: work itself does not say. */
static int rpd_add_size(struct rpd *r, sqlite3_stmt *row)
{
    int64_t bytes = sqlite_in_int(row, 1, -1);
    uint32_t *slot = map_at(&r->copy_of, (uint64_t)sqlite_in_int(row, 0, -1));
    if (!slot || VEC_RESERVE(r->sizes, r->n_sizes, r->cap_sizes, 1)) return ERR_NOMEM;
    *slot = (uint32_t)r->n_sizes;
    r->sizes[r->n_sizes++] = bytes;
    return 0;
}

static int64_t rpd_size_of(const struct rpd *r, int64_t call)
{
    uint32_t i = call < 0 ? MAP_NONE : map_find(&r->copy_of, (uint64_t)call);
    return i == MAP_NONE ? -1 : r->sizes[i];
}

static struct str rpd_text_of(const struct rpd *r, const struct map *m, int64_t id)
{
    uint32_t i = map_find(m, (uint64_t)id);
    return i == MAP_NONE ? str_c("") : r->texts[i];
}

/* Calls of HIP, and ranges of the user, which say in their args what they are. */
static int rpd_add_call(struct rpd *r, sqlite3_stmt *row)
{
    struct rocm_call c = {
        .at = {sqlite_in_int(row, 1, ID_NONE), sqlite_in_int(row, 2, ID_NONE)},
        .name = rpd_text_of(r, &r->strings, sqlite_in_int(row, 5, -1)),
        .pid = sqlite_in_int(row, 3, 0),
        .tid = sqlite_in_int(row, 4, 0),
        .correlation = sqlite_in_int(row, 0, ID_NONE),
    };
    bool marker = str_is(c.name, "UserMarker");
    struct str said =
        rpd_text_of(r, r->has_long ? &r->long_strings : &r->strings, sqlite_in_int(row, 6, -1));
    if (marker && said.n) c.name = said;
    c.category = str_c(marker ? "MARKER" : str_starts(c.name, "hip") ? "HIP" : "");
    return rocm_add_call(&r->rows, &c);
}

static int rpd_add_work(struct rpd *r, sqlite3_stmt *row)
{
    struct rocm_times at = {sqlite_in_int(row, 1, ID_NONE), sqlite_in_int(row, 2, ID_NONE)};
    uint64_t gpu = (uint64_t)sqlite_in_int(row, 3, 0), id = (uint64_t)sqlite_in_int(row, 0, -1);
    int64_t queue = sqlite_in_int(row, 4, 0);
    struct str what = rpd_text_of(r, &r->strings, sqlite_in_int(row, 5, -1));
    struct str type = rpd_text_of(r, &r->strings, sqlite_in_int(row, 6, -1));
    uint32_t call = map_find(&r->call_of, id);
    int64_t correlation = call == MAP_NONE ? ID_NONE : r->calls[call];
    struct rocm_gpu g = {.agent = gpu, .index = (int64_t)gpu, .name = str_c("GPU")};
    TRY(rocm_add_gpu(&r->rows, &g));
    if (str_has(type, "Barrier") || str_has(type, "Marker")) return 0; /* no work */
    if (!str_starts(type, "Copy") && !str_has(type, "Memcpy")) {
        struct rocm_kernel k = {.at = at,
                                .agent = gpu,
                                .correlation = correlation,
                                .stream = queue,
                                .name = what.n ? what : type,
                                .fills = str_starts(type, "FillBuffer")};
        return rocm_add_kernel(&r->rows, &k);
    }
    bool to_host = str_has(type, "ToHost"), from_host = str_has(type, "HostTo");
    struct rocm_copy c = {
        at,          str_c(""), from_host ? UINT64_MAX : gpu, to_host ? UINT64_MAX : gpu,
        correlation, queue,     rpd_size_of(r, correlation)};
    return rocm_add_copy(&r->rows, &c);
}

static const struct table tables[] = {
    {"rocpd_string", "id string", rpd_add_string},
    {"rocpd_ustring", "id string", add_long_string},
    {"rocpd_api_ops", "api_id op_id", add_link},
    {"rocpd_copyapi", "api_ptr_id size", rpd_add_size},
    {"rocpd_api", "id start end pid tid apiName_id args_id", rpd_add_call},
    {"rocpd_op", "id start end gpuId queueId description_id opType_id", rpd_add_work},
};

bool rpd_is(struct sqlite_in *d)
{
    return sqlite_in_has(d, "rocpd_api") && sqlite_in_has(d, "rocpd_op") &&
           sqlite_in_has(d, "rocpd_string");
}

int rpd_read(struct sqlite_in *d, struct builder *b, struct err *e)
{
    struct rpd r = {.has_long = sqlite_in_has(d, "rocpd_ustring")};
    struct batch *part = batch_new();
    if (!part) return err_nomem(e);
    rocm_init(&r.rows, b, part);
    arena_init(&r.mem);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof tables / sizeof *tables; i++)
        rc = rpd_each_row(&r, d, &tables[i], e);
    for (uint64_t i = 0; i < d->n_broken; i++)
        damage_note(batch_damage(part), DAMAGE_BAD_EVENT, r.rows.n_rows);
    if (rc == 0) rc = builder_copy_part(b, part, e);
    rocm_done(&r.rows);
    map_done(&r.strings);
    map_done(&r.long_strings);
    map_done(&r.call_of);
    map_done(&r.copy_of);
    mem_free(r.calls);
    mem_free(r.sizes);
    mem_free(r.texts);
    arena_done(&r.mem);
    batch_free(part);
    if (rc == 0 && builder_n_rows(b) == 0)
        return FAIL(e, ERR_FORMAT, "a database of rocmProfileData without calls and kernels");
    return rc;
}
