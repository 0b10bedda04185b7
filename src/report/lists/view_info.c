/* view_info.c: see views_file.h. Names in a file are never trusted: they are cut and cleaned. */
#include "report/lists/views_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyze/context.h"
#include "base/human.h"
#include "report/cells.h"
#include "report/report_private.h"
#include "results/result_json.h"

#define LANES_SHOWN 12
#define KEYS_SHOWN  8

static const char *flag_word(enum census_flag f)
{
    return f == FLAG_ON ? "yes" : f == FLAG_OFF ? "no" : "unknown";
}

/* "2026-10-01 13:03:12 UTC" */
static struct cell date_of(int64_t wall_ns)
{
    struct cell c = {""};
    struct tm tm;
    time_t seconds = (time_t)(wall_ns / 1000000000);
    if (wall_ns >= 0 && gmtime_r(&seconds, &tm))
        strftime(c.s, sizeof c.s, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return c;
}

/* "3 threads", "1 thread" */
static struct cell view_info_counted(uint64_t n, const char *one, const char *many)
{
    struct cell c;
    snprintf(c.s, sizeof c.s, "%s %s", human_count(n).s, n == 1 ? one : many);
    return c;
}

/* The size of the file, and what was read where that has another. */
static void view_info_add_size(struct buf *out, const struct trace *t, int64_t file_bytes)
{
    struct str format = str_c(t->format ? t->format : "");
    struct human read = human_bytes((int64_t)t->source_bytes);
    if (file_bytes >= 0) buf_printf(out, ", %s", human_bytes(file_bytes).s);
    if (!t->source_bytes || (int64_t)t->source_bytes == file_bytes) return;
    if (str_ends(format, "json")) buf_printf(out, " (%s of JSON)", read.s);
    else if (str_is(format, "strata")) buf_printf(out, " (made of %s)", read.s);
    else if (file_bytes >= 0) buf_printf(out, " (%s unpacked)", read.s);
    else buf_printf(out, ", %s", read.s);
}

static void print_file(const struct screen *s, const struct trace *t, const struct census *c,
                       int64_t file_bytes)
{
    struct buf rest;
    buf_init(&rest);
    buf_printf(&rest, "   %s", t->format ? t->format : "");
    view_info_add_size(&rest, t, file_bytes);
    buf_printf(&rest, ", %s\n\n", view_info_counted(c->n_events, "event", "events").s);
    const char *name = strcmp(s->path, "-") == 0 ? "standard input" : s->path;
    buf_adds(s->out, cell_text(str_c(name), s->width - (int)rest.n).s);
    buf_add_str(s->out, buf_str(&rest));
    if (!buf_ok(&rest)) s->out->failed = true;
    buf_done(&rest);
}

static void print_recorder(const struct screen *s, const struct trace *t, const struct census *c)
{
    bool ours = trace_is_ours(t);
    struct buf *out = s->out;
    buf_adds(out, "  recorded  ");
    for (int i = 0; i < c->n_versions; i++)
        buf_printf(out, "%s%s %s", i ? ", " : "", c->versions[i].what,
                   cell_text(str_c(c->versions[i].text), 30).s);
    if (!c->n_versions) buf_adds(out, ours ? "by strata" : "by an unknown version");
    if (c->wall_begin_ns >= 0) buf_printf(out, "; %s", date_of(c->wall_begin_ns).s);
    buf_printf(out, "\n  with      stacks %s, shapes %s, memory %s, modules %s, FLOPs %s\n",
               flag_word(c->stacks), flag_word(c->shapes), flag_word(c->memory),
               flag_word(c->modules), flag_word(c->flops));
    if (c->rank >= 0)
        buf_printf(out, "  rank      %" PRId64 " of %" PRId64 "\n", c->rank, c->world_size);
}

/* What is noted of device `d`, without its quotes; empty when nothing is. */
static struct str device_note(const struct trace *t, const char *what, const struct device *d)
{
    char key[48];
    snprintf(key, sizeof key, "%s%d", what, d->id);
    struct str v = trace_meta(t, key);
    if (!v.p || v.n < 2 || v.p[0] != '"') return (struct str){"", 0};
    return str_from(v.p + 1, v.n - 2);
}

static void print_identity(const struct screen *s, const struct trace *t, const struct device *d)
{
    struct str uuid = device_note(t, TRACE_META_UUID, d);
    struct str visible = device_note(t, TRACE_META_VISIBLE, d);
    if (uuid.n) buf_printf(s->out, ", %s", cell_text(uuid, 40).s);
    if (visible.n) buf_printf(s->out, " (CUDA_VISIBLE_DEVICES: %s)", cell_text(visible, 40).s);
}

static void print_devices(const struct screen *s, const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_devices && i < 16; i++) {
        const struct device *d = &t->devices[i];
        buf_printf(s->out, "  device %-2d %s", d->id, cell_text(trace_str(t, d->name), 40).s);
        if (d->memory_bytes > 0) buf_printf(s->out, ", %s", human_bytes(d->memory_bytes).s);
        if (d->n_sms > 0) buf_printf(s->out, ", %d SMs", d->n_sms);
        if (d->major > 0) buf_printf(s->out, ", compute capability %d.%d", d->major, d->minor);
        print_identity(s, t, d);
        buf_addc(s->out, '\n');
    }
    if (!t->n_devices) buf_adds(s->out, "  device    none listed\n");
}

static void print_extent(const struct screen *s, const struct census *c)
{
    buf_printf(s->out, "  time      %s from first to last event", human_time(c->span_ns).s);
    if (c->window_ns >= 0) buf_printf(s->out, ", window %s", human_time(c->window_ns).s);
    if (c->counts.step_marks)
        buf_printf(s->out, "\n  steps     %s marked by the program (ProfilerStep#)",
                   human_count(c->counts.step_marks).s);
    else buf_adds(s->out, "\n  steps     not marked by the program; strata steps looks for them");
    buf_printf(s->out, "\n  threads   %s, %s, %s\n",
               view_info_counted(c->n_processes, "process", "processes").s,
               view_info_counted(c->n_threads, "thread", "threads").s,
               view_info_counted(c->n_streams, "GPU stream", "GPU streams").s);
}

static void print_cats(const struct screen *s, const struct trace *t, const struct census *c)
{
    struct text_table text;
    text_table_init(&text);
    text_table_col(&text, "category", TEXT_LEFT);
    text_table_col(&text, "read as", TEXT_LEFT);
    text_table_col(&text, "events", TEXT_RIGHT);
    for (uint32_t i = 0; i < c->n_cats; i++) {
        text_table_row(&text, TEXT_PLAIN);
        text_table_cell(&text, 0, c->cats[i].name.n ? cell_text(c->cats[i].name, 40).s : "(none)");
        if (!str_is(c->cats[i].name, kind_name(c->cats[i].kind)))
            text_table_cell(&text, 1, kind_name(c->cats[i].kind));
        text_table_cell(&text, 2, cell_count(c->cats[i].events).s);
    }
    if (t->n_flows) {
        text_table_row(&text, TEXT_DIM);
        text_table_cell(&text, 0, "flows (arrows)");
        text_table_cell(&text, 2, cell_count(t->n_flows).s);
    }
    buf_addc(s->out, '\n');
    screen_table(s, &text);
    text_table_done(&text);
}

static const char *lane_word(enum lane_kind kind)
{
    static const char *const words[] = {
        [LANE_THREAD] = "thread",     [LANE_STREAM] = "GPU stream", [LANE_GPU_NOTE] = "GPU labels",
        [LANE_OVERHEAD] = "overhead", [LANE_COUNTER] = "counter",   [LANE_OTHER] = "other",
    };
    return words[kind];
}

static struct cell lane_name(const struct trace *t, const struct lane *lane)
{
    struct cell c = {"-"};
    struct str name = trace_str(t, lane->name);
    struct str text = lane->tid == ID_NONE ? trace_str(t, lane->tid_text) : (struct str){"", 0};
    if (lane->kind == LANE_STREAM || lane->kind == LANE_GPU_NOTE)
        snprintf(c.s, sizeof c.s, "device %d stream %d", lane->device, lane->stream);
    else if (name.n) c = cell_text(str_trim(name), 50);
    else if (text.n) c = cell_text(text, 50);
    else if (lane->tid != ID_NONE) snprintf(c.s, sizeof c.s, "tid %" PRId64, lane->tid);
    return c;
}

static void print_lanes(const struct screen *s, const struct trace *t)
{
    struct text_table text;
    uint32_t shown = 0, left = 0;
    text_table_init(&text);
    text_table_col(&text, "thread or stream", TEXT_LEFT);
    text_table_col(&text, "kind", TEXT_LEFT);
    text_table_col(&text, "events", TEXT_RIGHT);
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (!census_lane_rows(&t->lanes[l])) continue;
        if (++shown > LANES_SHOWN) {
            left++;
            continue;
        }
        text_table_row(&text, TEXT_PLAIN);
        text_table_cell(&text, 0, lane_name(t, &t->lanes[l]).s);
        text_table_cell(&text, 1, lane_word(t->lanes[l].kind));
        text_table_cell(&text, 2, cell_count(census_lane_rows(&t->lanes[l])).s);
    }
    buf_addc(s->out, '\n');
    screen_table(s, &text);
    text_table_done(&text);
    if (left) buf_printf(s->out, "  ... and %s more (--json has all)\n", human_count(left).s);
}

static void view_info_print_damage(const struct screen *s, const struct trace *t)
{
    buf_adds(s->out, "\n  damage    ");
    if (!damage_total(&t->damage)) {
        buf_adds(s->out, "none\n");
        return;
    }
    bool first = true;
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!t->damage.count[r]) continue;
        buf_printf(s->out, "%s%s %s\n", first ? "" : "            ",
                   human_count(t->damage.count[r]).s, damage_text((enum damage_reason)r));
        first = false;
    }
}

/* Values of unknown metadata may be secrets, so only the names are shown. */
static void print_other_keys(const struct screen *s, const struct census *c)
{
    if (!c->n_other_keys) return;
    buf_adds(s->out, "  metadata  ");
    for (uint32_t i = 0; i < c->n_other_keys && i < KEYS_SHOWN; i++)
        buf_printf(s->out, "%s%s", i ? ", " : "", cell_text(c->other_keys[i], 24).s);
    if (c->n_other_keys > KEYS_SHOWN)
        buf_printf(s->out, " and %" PRIu32 " more", c->n_other_keys - KEYS_SHOWN);
    buf_adds(s->out, "\n            (names only; strata export --strip removes their values)\n");
}

void view_info_text(const struct screen *s, const struct trace *t, const struct census *c,
                    int64_t file_bytes)
{
    print_file(s, t, c, file_bytes);
    print_recorder(s, t, c);
    print_devices(s, t);
    print_extent(s, c);
    print_cats(s, t, c);
    print_lanes(s, t);
    view_info_print_damage(s, t);
    print_other_keys(s, c);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"report %s", "what is slow and why"},
        {"info %s --lint", "what is wrong with the recording, with byte offsets"},
    };
    screen_next(s, next, 2);
}

/* ---- JSON */

static const struct view_info *info_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct census *census_at(const struct rows *r, uint32_t i)
{
    return info_at(r, i)->c;
}

/* ---- what was recorded, by whom */

static void info_versions(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct census *c = census_at(r, i);
    for (int k = 0; k < c->n_versions; k++) jout_cstr(j, c->versions[k].key, c->versions[k].text);
}

static struct value info_flag(enum census_flag f)
{
    return f == FLAG_UNKNOWN ? value_none() : value_int(f == FLAG_ON);
}

VALUE_OF(recorder_stacks, info_flag(((const struct census *)rows_at(r, i))->stacks))
VALUE_OF(recorder_shapes, info_flag(((const struct census *)rows_at(r, i))->shapes))
VALUE_OF(recorder_memory, info_flag(((const struct census *)rows_at(r, i))->memory))
VALUE_OF(recorder_modules, info_flag(((const struct census *)rows_at(r, i))->modules))
VALUE_OF(recorder_flops, info_flag(((const struct census *)rows_at(r, i))->flops))
ROWS_OF(info_recorder, .list = census_at(r, i), .n = 1)
ROWS_OF(info_distributed, .list = census_at(r, i), .n = census_at(r, i)->rank >= 0)

/* clang-format off */
static const struct field recorder_fields[] = {
    FIELD_GET(FLAG, "stacks", "", recorder_stacks, "Python functions; null where the file neither says nor shows it", .null = NULL_SOMETIMES),
    FIELD_GET(FLAG, "shapes", "", recorder_shapes, "shapes of operators", .null = NULL_SOMETIMES),
    FIELD_GET(FLAG, "memory", "", recorder_memory, "allocations", .null = NULL_SOMETIMES),
    FIELD_GET(FLAG, "modules", "", recorder_modules, "modules", .null = NULL_SOMETIMES),
    FIELD_GET(FLAG, "flops", "", recorder_flops, "FLOPs of operators", .null = NULL_SOMETIMES),
};
static const struct result result_recorder = RESULT("recorder", "what was recorded", recorder_fields, struct census);

static const struct field distributed_fields[] = {
    FIELD(INT, "rank", "", struct census, rank, "the rank"),
    FIELD(INT, "world_size", "", struct census, world_size, "of how many"),
};
static const struct result result_distributed = RESULT("distributed", "one of several ranks", distributed_fields, struct census);
/* clang-format on */

/* ---- devices */

static const struct device *device_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(device_name, value_text(trace_str(r->cx->t, device_at(r, i)->name)))
VALUE_OF(device_uuid, value_text(device_note(r->cx->t, TRACE_META_UUID, device_at(r, i))))
VALUE_OF(device_visible, value_text(device_note(r->cx->t, TRACE_META_VISIBLE, device_at(r, i))))
ROWS_OF(info_devices, .list = r->cx->t->devices, .n = r->cx->t->n_devices)

/* clang-format off */
static const struct field device_fields[] = {
    FIELD(INT, "id", "", struct device, id, "its number"),
    FIELD_GET(TEXT, "name", "", device_name, "its name"),
    FIELD(BYTES, "memory_bytes", "", struct device, memory_bytes, "its memory; 0 where not recorded"),
    FIELD(INT, "sms", "", struct device, n_sms, "its multiprocessors"),
    FIELD(INT, "compute_major", "", struct device, major, "compute capability"),
    FIELD(INT, "compute_minor", "", struct device, minor, "compute capability"),
    FIELD_GET(TEXT, "uuid", "", device_uuid, "which one it was", .null = NULL_ZERO, .sparse = true),
    FIELD_GET(TEXT, "visible_as", "", device_visible, "its entry in CUDA_VISIBLE_DEVICES", .null = NULL_ZERO, .sparse = true),
};
static const struct result result_devices = RESULT("devices", "devices in a file", device_fields, struct device);
/* clang-format on */

/* ---- categories and lanes */

static const struct lane *lane_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct process *lane_process(const struct rows *r, uint32_t i)
{
    return &r->cx->t->processes[lane_at(r, i)->process];
}

static bool lane_has(const struct rows *r, uint32_t i)
{
    return census_lane_rows(lane_at(r, i)) > 0;
}

/* A number, or what stood there instead. */
static struct value lane_id_of(const struct rows *r, int64_t id, str_id text)
{
    if (id == ID_NONE) {
        jout_quote(r->text, trace_str(r->cx->t, text));
        return value_text(buf_str(r->text));
    }
    buf_printf(r->text, "%" PRId64, id);
    return value_text(buf_str(r->text));
}

static struct value lane_pid(const struct rows *r, uint32_t i)
{
    buf_reset(r->text);
    return lane_id_of(r, lane_process(r, i)->pid, lane_process(r, i)->pid_text);
}

static struct value lane_tid(const struct rows *r, uint32_t i)
{
    buf_reset(r->text);
    return lane_id_of(r, lane_at(r, i)->tid, lane_at(r, i)->tid_text);
}

VALUE_OF(info_cat_kind, value_cstr(kind_name(((const struct census_cat *)rows_at(r, i))->kind)))
VALUE_OF(lane_kind_of, value_cstr(lane_word(lane_at(r, i)->kind)))
VALUE_OF(info_lane_name, value_text(trace_str(r->cx->t, lane_at(r, i)->name)))
VALUE_OF(lane_events, value_int(census_lane_rows(lane_at(r, i))))
ROWS_OF(info_cats, .list = census_at(r, i)->cats, .n = census_at(r, i)->n_cats)
ROWS_OF(info_lanes, .list = r->cx->t->lanes, .n = r->cx->t->n_lanes)

/* clang-format off */
static const struct field cat_fields[] = {
    FIELD(TEXT, "name", "", struct census_cat, name, "as written; empty for events without one"),
    FIELD_GET(WORD, "kind", "", info_cat_kind, "what its events are read as"),
    FIELD(COUNT, "events", "", struct census_cat, events, "how many"),
};
static const struct result result_cats = RESULT("categories", "what the events are", cat_fields, struct census_cat);

static const struct field lane_fields[] = {
    FIELD_GET(WORD, "kind", "", lane_kind_of, "what it is"),
    FIELD_GET(ID, "pid", "", lane_pid, "its process: a number, or a text where the file has one"),
    FIELD_GET(ID, "tid", "", lane_tid, "its thread or stream, the same"),
    FIELD_GET(TEXT, "name", "", info_lane_name, "its name"),
    FIELD(INT, "device", "", struct lane, device, "of streams: the device", .null = NULL_NEGATIVE, .sparse = true),
    FIELD(INT, "stream", "", struct lane, stream, "and its number there", .null = NULL_NEGATIVE, .sparse = true),
    FIELD_GET(COUNT, "events", "", lane_events, "events on it"),
};
static const struct result result_lanes = RESULT_IF("lanes", "threads and streams", lane_fields, struct lane, lane_has);
/* clang-format on */

/* ---- damage, by reason */

struct damage_places {
    uint64_t byte[DAMAGE_PLACES];
};

static uint64_t damage_count(const struct rows *r, uint32_t i)
{
    return r->cx->t->damage.count[i];
}

static bool damage_has(const struct rows *r, uint32_t i)
{
    return damage_count(r, i) > 0;
}

VALUE_OF(damage_reason_of, value_cstr(damage_name((enum damage_reason)i)))
VALUE_OF(damage_text_of, value_cstr(damage_text((enum damage_reason)i)))
VALUE_OF(damage_count_of, value_int((int64_t)damage_count(r, i)))
VALUE_OF(damage_loses_of, value_int(damage_loses((enum damage_reason)i)))
VALUE_OF(info_damage_total, value_int((int64_t)damage_total(&r->cx->t->damage)))
ROWS_OF(damage_bytes, .list = rows_at(r, i),
        .n = damage_count(r, i) < DAMAGE_PLACES ? (uint32_t)damage_count(r, i) : DAMAGE_PLACES)
ROWS_OF(info_damage, .list = r->cx->t, .n = 1)

struct rows rows_in_damage(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = r->cx->t->damage.place, .n = DAMAGE_REASONS};
}

/* clang-format off */
static const struct field byte_fields[] = {FIELD_BARE(COUNT, uint64_t)};
static const struct result result_bytes = RESULT("bytes", "where it is in the file", byte_fields, uint64_t);

#define DAMAGE_FIELDS \
    FIELD_GET(WORD, "reason", "", damage_reason_of, "the reason"), \
    FIELD_GET(COUNT, "count", "", damage_count_of, "how often"), \
    FIELD_GET(FLAG, "loses_events", "", damage_loses_of, "whether events are lost")

static const struct field damage_fields[] = {
    DAMAGE_FIELDS,
    FIELD_GET(TEXT, "text", "", damage_text_of, "the reason in words"),
    FIELD_IN(LIST, "bytes", "", &result_bytes, damage_bytes, "where in the file, the first ones"),
};
const struct result result_damage = RESULT_IF("damage", "what is damaged in the file", damage_fields, struct damage_places, damage_has);

static const struct field reason_fields[] = {
    DAMAGE_FIELDS,
    FIELD(COUNT, "first_byte", "", struct damage_places, byte[0], "where in the file it was first"),
};
static const struct result result_reasons = RESULT_IF("reasons", "damage by reason", reason_fields, struct damage_places, damage_has);

static const struct field info_damage_fields[] = {
    FIELD_GET(COUNT, "total", "", info_damage_total, "how often in total"),
    FIELD_IN(LIST, "reasons", "", &result_reasons, rows_in_damage, "the same by reason"),
};
static const struct result result_info_damage = RESULT("damage", "what is damaged in the file", info_damage_fields, struct trace);
/* clang-format on */

/* ---- processes of a run */

ROWS_OF(info_processes_of, .list = info_at(r, i)->run, .n = info_at(r, i)->n_run)
ROWS_OF(info_run, .list = info_at(r, i), .n = info_at(r, i)->n_run > 0)

/* clang-format off */
static const struct field process_fields[] = {
    FIELD(INT, "pid", "", struct info_process, pid, "its number"),
    FIELD(INT, "rank", "", struct info_process, rank, "its rank, or -1"),
    FIELD(TEXT, "host", "", struct info_process, host, "its machine"),
    FIELD(TEXT, "program", "", struct info_process, program, "what it ran"),
    FIELD(WORD, "ended", "", struct info_process, ended, "`exit`, `running`, `killed`, `unknown`"),
    FIELD(COUNT, "threads", "", struct info_process, threads, "threads that recorded"),
    FIELD(COUNT, "records", "", struct info_process, records, "their records"),
    FIELD(COUNT, "lost_records", "", struct info_process, lost_records, "records that did not fit"),
};
static const struct result result_processes = RESULT("processes", "processes of a run", process_fields, struct info_process);

static const struct field run_fields[] = {
    FIELD_IN(LIST, "processes", "", &result_processes, info_processes_of, "one per process"),
    FIELD(COUNT, "unreadable_files", "", struct view_info, unreadable_files, "files that could not be read"),
};
static const struct result result_run_processes = RESULT("run", "processes of a run", run_fields, struct view_info);
/* clang-format on */

/* ---- the document */

static struct value info_date(const struct rows *r, uint32_t i)
{
    int64_t ns = census_at(r, i)->wall_begin_ns;
    if (ns < 0) return value_none();
    buf_reset(r->text);
    buf_adds(r->text, date_of(ns).s);
    return value_text(buf_str(r->text));
}

static void info_other_keys(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct census *c = census_at(r, i);
    for (uint32_t k = 0; k < c->n_other_keys; k++) jout_str(j, NULL, c->other_keys[k]);
}

VALUE_OF(info_path, value_cstr(r->cx->t->path))
VALUE_OF(info_format, value_cstr(r->cx->t->format))
VALUE_OF(info_plain_bytes, value_int((int64_t)r->cx->t->source_bytes))
VALUE_OF(info_events, value_int((int64_t)census_at(r, i)->n_events))
VALUE_OF(info_span, value_int(census_at(r, i)->span_ns))
VALUE_OF(info_window, value_int(census_at(r, i)->window_ns))
VALUE_OF(info_step_marks, value_int((int64_t)census_at(r, i)->counts.step_marks))
VALUE_OF(info_processes, value_int(census_at(r, i)->n_processes))
VALUE_OF(info_threads, value_int(census_at(r, i)->n_threads))
VALUE_OF(info_streams, value_int(census_at(r, i)->n_streams))
VALUE_OF(info_flows, value_int((int64_t)r->cx->t->n_flows))
VALUE_OF(info_unlinked, value_int((int64_t)census_at(r, i)->counts.unlinked))
VALUE_OF(info_ids_usable, value_int(r->cx->t->external_ids_usable))

/* clang-format off */
static const struct field info_fields[] = {
    FIELD_GET(TEXT, "path", "", info_path, "the file", .null = NULL_SOMETIMES),
    FIELD_GET(TEXT, "format", "", info_format, "its format", .null = NULL_SOMETIMES),
    FIELD(BYTES, "file_bytes", "", struct view_info, file_bytes, "its size; null when it is not a file", .null = NULL_NEGATIVE),
    FIELD_GET(BYTES, "plain_bytes", "", info_plain_bytes, "bytes that were read, unpacked"),
    FIELD_GET(COUNT, "events", "", info_events, "events in it"),
    FIELD_IN(OBJECT, "part", "", &result_excerpt, rows_in_excerpt, "which part of a recording it is, as in `report`", .sparse = true),
    FIELD_PUT(TEXT_MAP, "versions", "", info_versions, "what recorded it"),
    FIELD_IN(OBJECT, "recorder", "", &result_recorder, info_recorder, "what was recorded"),
    FIELD_IN(OBJECT, "distributed", "", &result_distributed, info_distributed, "of one of several ranks", .sparse = true),
    FIELD_IN(LIST, "devices", "", &result_devices, info_devices, "devices in it"),
    FIELD_GET(NS, "span_us", "", info_span, "first to last event"),
    FIELD_GET(NS, "window_us", "", info_window, "the window of the profiler", .null = NULL_NEGATIVE),
    FIELD_GET(TEXT, "recorded_at", "", info_date, "when", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "profiler_steps", "", info_step_marks, "steps marked by the program"),
    FIELD_GET(COUNT, "processes", "", info_processes, "processes with events"),
    FIELD_GET(COUNT, "threads", "", info_threads, "threads with events"),
    FIELD_GET(COUNT, "streams", "", info_streams, "streams with events"),
    FIELD_GET(COUNT, "flows", "", info_flows, "arrows between events"),
    FIELD_GET(COUNT, "device_work_without_launch", "", info_unlinked, "device work whose launch is not known"),
    FIELD_GET(FLAG, "external_ids_usable", "", info_ids_usable, "whether ids link operators to device work"),
    FIELD_IN(LIST, "categories", "", &result_cats, info_cats, "what the events are"),
    FIELD_IN(LIST, "lanes", "", &result_lanes, info_lanes, "threads and streams with events"),
    FIELD_IN(OBJECT, "damage", "", &result_info_damage, info_damage, "what is damaged in the file"),
    FIELD_PUT(TEXTS, "other_metadata", "", info_other_keys, "names of unknown metadata"),
    FIELD_IN(OBJECT, "run", "", &result_run_processes, info_run, "of a run folder: its processes", .sparse = true),
};
/* clang-format on */

const struct result document_info =
    RESULT("info", "what is in a file", info_fields, struct view_info);

void view_info_json(struct jout *j, const char *key, const struct trace *t,
                    const struct view_info *v)
{
    struct context of = {.t = t}; /* the fields need no pass */
    document_json(j, key, &of, &document_info, v, NULL);
}
