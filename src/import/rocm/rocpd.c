/* rocpd.c: see sqlite_formats.h.
 *
 * Every process has its own set of tables, distinguished by what stands behind their names
 * (rocpd_string and so on); ids count within a set. Two generations are met: rows with start, end,
 * thread and agent, and rows with the numbers of timestamps and of a track that has the rest. */
#include "import/sqlite_formats.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MOST_SETS = 4096, SUFFIX = 128 };

struct event {
    int64_t correlation;
    uint32_t category; /* index into texts */
};

struct track {
    int64_t pid, tid, agent, queue, stream;
};

/* Tables of one set by id: maps to indices of the arrays. */
struct set {
    struct sqlite_in *db;
    struct rocm *rows;
    const char *suffix;
    struct map strings, kernels, events, tracks, times, threads, processes;
    struct arena mem;
    struct str *texts;
    struct kernel {
        uint32_t name; /* index into texts */
        int64_t n_registers;
    } * symbols;
    struct event *event_list;
    struct track *track_list;
    int64_t *numbers; /* timestamps, pids and tids */
    size_t n_texts, cap_texts, n_symbols, cap_symbols, n_events, cap_events, n_tracks, cap_tracks,
        n_numbers, cap_numbers;
};

struct table {
    const char *name, *columns; /* without the suffix */
    int (*add)(struct set *s, sqlite3_stmt *row);
};

static int rocpd_each_row(struct set *s, const struct table *t, struct err *e)
{
    char name[SUFFIX + 64];
    sqlite3_stmt *row;
    snprintf(name, sizeof name, "%s%s", t->name, s->suffix);
    if (!sqlite_in_has(s->db, name)) return 0;
    TRY(sqlite_in_select(s->db, name, t->columns, &row, e));
    int rc;
    while ((rc = sqlite_in_step(s->db, row, e)) > 0) {
        rc = t->add(s, row);
        if (rc < 0) break;
    }
    sqlite3_finalize(row);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static struct str rocpd_kept(struct set *s, struct str text)
{
    const char *copy = text.p ? arena_strdup(&s->mem, text) : NULL;
    return str_from(copy ? copy : "", copy ? text.n : 0);
}

/* Remembers `index` as what `id` stands for. */
static int rocpd_put(struct map *m, int64_t id, size_t index)
{
    uint32_t *slot = map_at(m, (uint64_t)id);
    if (!slot) return ERR_NOMEM;
    *slot = (uint32_t)index;
    return 0;
}

static struct str rocpd_text_of(const struct set *s, int64_t id)
{
    uint32_t i = map_find(&s->strings, (uint64_t)id);
    return i == MAP_NONE ? str_c("") : s->texts[i];
}

static int rocpd_add_string(struct set *s, sqlite3_stmt *row)
{
    if (VEC_RESERVE(s->texts, s->n_texts, s->cap_texts, 1)) return ERR_NOMEM;
    s->texts[s->n_texts] = rocpd_kept(s, sqlite_in_text(row, 1));
    return rocpd_put(&s->strings, sqlite_in_int(row, 0, 0), s->n_texts++);
}

static int add_kernel_symbol(struct set *s, sqlite3_stmt *row)
{
    struct str name = sqlite_in_text(row, 1);
    if (!name.n) name = sqlite_in_text(row, 2);
    if (VEC_RESERVE(s->texts, s->n_texts, s->cap_texts, 1) ||
        VEC_RESERVE(s->symbols, s->n_symbols, s->cap_symbols, 1))
        return ERR_NOMEM;
    s->texts[s->n_texts] = rocpd_kept(s, name);
    s->symbols[s->n_symbols] = (struct kernel){(uint32_t)s->n_texts++, sqlite_in_int(row, 3, 0)};
    return rocpd_put(&s->kernels, sqlite_in_int(row, 0, 0), s->n_symbols++);
}

static int rocpd_add_event(struct set *s, sqlite3_stmt *row)
{
    if (VEC_RESERVE(s->event_list, s->n_events, s->cap_events, 1)) return ERR_NOMEM;
    s->event_list[s->n_events] = (struct event){
        .correlation = sqlite_in_int(row, 2, ID_NONE),
        .category = map_find(&s->strings, (uint64_t)sqlite_in_int(row, 1, -1)),
    };
    return rocpd_put(&s->events, sqlite_in_int(row, 0, 0), s->n_events++);
}

static int rocpd_add_number(struct set *s, struct map *m, sqlite3_stmt *row)
{
    if (VEC_RESERVE(s->numbers, s->n_numbers, s->cap_numbers, 1)) return ERR_NOMEM;
    s->numbers[s->n_numbers] = sqlite_in_int(row, 1, ID_NONE);
    return rocpd_put(m, sqlite_in_int(row, 0, 0), s->n_numbers++);
}

static int add_timestamp(struct set *s, sqlite3_stmt *row)
{
    return rocpd_add_number(s, &s->times, row);
}

static int rocpd_add_thread(struct set *s, sqlite3_stmt *row)
{
    return rocpd_add_number(s, &s->threads, row);
}

static int rocpd_add_process(struct set *s, sqlite3_stmt *row)
{
    return rocpd_add_number(s, &s->processes, row);
}

static int rocpd_add_track(struct set *s, sqlite3_stmt *row)
{
    if (VEC_RESERVE(s->track_list, s->n_tracks, s->cap_tracks, 1)) return ERR_NOMEM;
    s->track_list[s->n_tracks] = (struct track){
        sqlite_in_int(row, 1, 0), sqlite_in_int(row, 2, 0),  sqlite_in_int(row, 3, -1),
        sqlite_in_int(row, 4, 0), sqlite_in_int(row, 5, -1),
    };
    return rocpd_put(&s->tracks, sqlite_in_int(row, 0, 0), s->n_tracks++);
}

static int add_agent(struct set *s, sqlite3_stmt *row)
{
    struct str type = sqlite_in_text(row, 1);
    if (!str_is(type, "GPU")) return 0;
    struct rocm_gpu g = {
        .agent = (uint64_t)sqlite_in_int(row, 0, 0),
        .index = sqlite_in_int(row, 2, -1),
    };
    for (int i = 3; i < 6 && !g.name.n; i++) g.name = sqlite_in_text(row, i);
    if (!g.name.p) g.name = str_c("");
    return rocm_add_gpu(s->rows, &g);
}

static const struct table references[] = {
    {"rocpd_string", "id string", rocpd_add_string},
    {"rocpd_info_kernel_symbol", "id display_name kernel_name arch_vgpr_count", add_kernel_symbol},
    {"rocpd_event", "id category_id stack_id", rocpd_add_event},
    {"rocpd_timestamp", "id value", add_timestamp},
    {"rocpd_track", "id pid tid agent_id queue_id stream_id", rocpd_add_track},
    {"rocpd_info_thread", "id tid", rocpd_add_thread},
    {"rocpd_info_process", "id pid", rocpd_add_process},
    {"rocpd_info_agent", "id type type_index product_name model_name name", add_agent},
};

static int64_t rocpd_number_of(const struct set *s, const struct map *m, int64_t id,
                               int64_t otherwise)
{
    uint32_t i = map_find(m, (uint64_t)id);
    return i == MAP_NONE ? otherwise : s->numbers[i];
}

/* The columns that both generations have in their own way; every event table begins with them. */
#define PLACE "start end start_id end_id track_id pid tid agent_id queue_id stream_id event_id"
enum { AFTER_PLACE = 11 };

struct place {
    struct rocm_times at;
    struct track track;
    int64_t correlation;
    struct str category;
};

static struct place read_place(const struct set *s, sqlite3_stmt *row)
{
    struct place p = {
        .at = {sqlite_in_int(row, 0, ID_NONE), sqlite_in_int(row, 1, ID_NONE)},
        .track = {sqlite_in_int(row, 5, 0), sqlite_in_int(row, 6, 0), sqlite_in_int(row, 7, -1),
                  sqlite_in_int(row, 8, 0), sqlite_in_int(row, 9, -1)},
        .correlation = ID_NONE,
        .category = str_c(""),
    };
    if (p.at.start_ns == ID_NONE) {
        p.at.start_ns = rocpd_number_of(s, &s->times, sqlite_in_int(row, 2, -1), ID_NONE);
        p.at.end_ns = rocpd_number_of(s, &s->times, sqlite_in_int(row, 3, -1), ID_NONE);
    }
    uint32_t track = map_find(&s->tracks, (uint64_t)sqlite_in_int(row, 4, -1));
    if (track != MAP_NONE) p.track = s->track_list[track];
    p.track.tid = rocpd_number_of(s, &s->threads, p.track.tid, p.track.tid);
    p.track.pid = rocpd_number_of(s, &s->processes, p.track.pid, p.track.pid);
    if (p.track.stream < 0) p.track.stream = p.track.queue;
    uint32_t event = map_find(&s->events, (uint64_t)sqlite_in_int(row, 10, -1));
    if (event == MAP_NONE) return p;
    p.correlation = s->event_list[event].correlation;
    uint32_t category = s->event_list[event].category;
    if (category != MAP_NONE) p.category = s->texts[category];
    return p;
}

static int rocpd_add_dispatch(struct set *s, sqlite3_stmt *row)
{
    enum { KERNEL = AFTER_PLACE, LDS, GRID, BLOCK = GRID + 3 };
    struct place p = read_place(s, row);
    struct rocm_kernel k = {
        .at = p.at,
        .name = str_c(""),
        .agent = (uint64_t)p.track.agent,
        .correlation = p.correlation,
        .stream = p.track.stream,
        .lds_bytes = sqlite_in_int(row, LDS, 0),
    };
    uint32_t symbol = map_find(&s->kernels, (uint64_t)sqlite_in_int(row, KERNEL, -1));
    if (symbol != MAP_NONE) {
        k.name = s->texts[s->symbols[symbol].name];
        k.n_registers = s->symbols[symbol].n_registers;
    }
    for (int i = 0; i < 3; i++) {
        k.threads[i] = sqlite_in_int(row, GRID + i, 0);
        k.block[i] = sqlite_in_int(row, BLOCK + i, 0);
    }
    return rocm_add_kernel(s->rows, &k);
}

static int rocpd_add_copy(struct set *s, sqlite3_stmt *row)
{
    struct place p = read_place(s, row);
    struct rocm_copy c = {
        .at = p.at,
        .name = rocpd_text_of(s, sqlite_in_int(row, AFTER_PLACE, -1)),
        .from = (uint64_t)sqlite_in_int(row, AFTER_PLACE + 1, -1),
        .to = (uint64_t)sqlite_in_int(row, AFTER_PLACE + 2, -1),
        .correlation = p.correlation,
        .stream = p.track.stream,
        .bytes = sqlite_in_int(row, AFTER_PLACE + 3, -1),
    };
    return rocm_add_copy(s->rows, &c);
}

static int add_region(struct set *s, sqlite3_stmt *row)
{
    struct place p = read_place(s, row);
    struct rocm_call c = {
        .at = p.at,
        .name = rocpd_text_of(s, sqlite_in_int(row, AFTER_PLACE, -1)),
        .category = p.category,
        .pid = p.track.pid,
        .tid = p.track.tid,
        .correlation = p.correlation,
    };
    return rocm_add_call(s->rows, &c);
}

static int rocpd_add_alloc(struct set *s, sqlite3_stmt *row)
{
    struct place p = read_place(s, row);
    struct str type = sqlite_in_text(row, AFTER_PLACE),
               level = sqlite_in_text(row, AFTER_PLACE + 1);
    int64_t bytes = sqlite_in_int(row, AFTER_PLACE + 3, 0);
    if (bytes <= 0 || str_is(level, "SCRATCH")) return 0;
    struct rocm_alloc a = {p.at.start_ns,
                           str_is(type, "FREE") ? -bytes : bytes,
                           p.track.pid,
                           p.track.tid,
                           (uint64_t)sqlite_in_int(row, AFTER_PLACE + 2, 0),
                           (uint64_t)p.track.agent};
    return rocm_add_alloc(s->rows, &a);
}

static const struct table records[] = {
    {"rocpd_region", PLACE " name_id", add_region},
    {"rocpd_kernel_dispatch",
     PLACE " kernel_id group_segment_size grid_size_x grid_size_y grid_size_z workgroup_size_x"
           " workgroup_size_y workgroup_size_z",
     rocpd_add_dispatch},
    {"rocpd_memory_copy", PLACE " name_id src_agent_id dst_agent_id size", rocpd_add_copy},
    {"rocpd_memory_allocate", PLACE " type level address size", rocpd_add_alloc},
};

static void set_done(struct set *s)
{
    struct map *maps[] = {&s->strings, &s->kernels, &s->events,   &s->tracks,
                          &s->times,   &s->threads, &s->processes};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_done(maps[i]);
    mem_free(s->texts);
    mem_free(s->symbols);
    mem_free(s->event_list);
    mem_free(s->track_list);
    mem_free(s->numbers);
    arena_done(&s->mem);
}

static int read_set(struct sqlite_in *d, struct rocm *rows, const char *suffix, struct err *e)
{
    struct set s = {.db = d, .rows = rows, .suffix = suffix};
    int rc = 0;
    arena_init(&s.mem);
    map_done(&rows->devices); /* agents are numbered again in each */
    for (size_t i = 0; rc == 0 && i < sizeof references / sizeof *references; i++)
        rc = rocpd_each_row(&s, &references[i], e);
    for (size_t i = 0; rc == 0 && i < sizeof records / sizeof *records; i++)
        rc = rocpd_each_row(&s, &records[i], e);
    set_done(&s);
    return rc;
}

/* What stands behind "rocpd_kernel_dispatch" and "rocpd_region", once each; how many there are. */
static int find_sets(struct sqlite_in *d, char (**ret)[SUFFIX], struct err *e)
{
    static const char sql[] =
        "SELECT DISTINCT substr(name, 13) FROM sqlite_schema WHERE type='table' AND rootpage>0 AND"
        " substr(name, 1, 12)='rocpd_string'";
    sqlite3_stmt *s = NULL;
    size_t n = 0, cap = 0;
    if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) != SQLITE_OK) return 0;
    while (sqlite3_step(s) == SQLITE_ROW && n < MOST_SETS) {
        struct str suffix = sqlite_in_text(s, 0);
        if (suffix.n >= SUFFIX || memchr(suffix.p ? suffix.p : "", '"', suffix.n)) continue;
        if (VEC_RESERVE(*ret, n, cap, 1)) {
            sqlite3_finalize(s);
            return err_nomem(e);
        }
        snprintf((*ret)[n++], SUFFIX, STR_FMT, STR_ARG(suffix));
    }
    sqlite3_finalize(s);
    return (int)n;
}

bool rocpd_is(struct sqlite_in *d)
{
    char(*sets)[SUFFIX] = NULL;
    int n = find_sets(d, &sets, NULL);
    mem_free(sets);
    return n > 0;
}

int rocpd_read(struct sqlite_in *d, struct builder *b, struct err *e)
{
    char(*sets)[SUFFIX] = NULL;
    struct rocm rows;
    struct batch *part = batch_new();
    if (!part) return err_nomem(e);
    rocm_init(&rows, b, part);
    int n = find_sets(d, &sets, e), rc = n < 0 ? n : 0;
    for (int i = 0; i < n && rc == 0; i++) rc = read_set(d, &rows, sets[i], e);
    for (uint64_t i = 0; i < d->n_broken; i++)
        damage_note(batch_damage(part), DAMAGE_BAD_EVENT, rows.n_rows);
    if (rc == 0) rc = builder_copy_part(b, part, e);
    rocm_done(&rows);
    batch_free(part);
    mem_free(sets);
    if (rc == 0 && builder_n_rows(b) == 0)
        return FAIL(e, ERR_FORMAT, "a rocpd database without calls, kernels or copies");
    return rc;
}
