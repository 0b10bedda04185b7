/* view_info.c: see view_info.h. Names in a file are never trusted: they are cut and cleaned. */
#include "report/view_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/human.h"
#include "base/jout.h"
#include "report/cells.h"
#include "report/view_part.h"

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
static struct cell counted(uint64_t n, const char *one, const char *many)
{
    struct cell c;
    snprintf(c.s, sizeof c.s, "%s %s", human_count(n).s, n == 1 ? one : many);
    return c;
}

/* The size of the file, and what was read where that has another. */
static void add_size(struct buf *out, const struct trace *t, int64_t file_bytes)
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
    add_size(&rest, t, file_bytes);
    buf_printf(&rest, ", %s\n\n", counted(c->n_events, "event", "events").s);
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
        buf_printf(s->out, "\n  steps     %s marked by the profiler (ProfilerStep#)",
                   human_count(c->counts.step_marks).s);
    else buf_adds(s->out, "\n  steps     not marked by the profiler; strata steps looks for them");
    buf_printf(s->out, "\n  lanes     %s, %s, %s\n",
               counted(c->n_processes, "process", "processes").s,
               counted(c->n_threads, "thread", "threads").s,
               counted(c->n_streams, "GPU stream", "GPU streams").s);
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
    text_table_print(&text, s->out, 2, s->width, s->color);
    text_table_done(&text);
}

static const char *lane_word(enum lane_kind kind)
{
    static const char *const words[] = {
        [LANE_THREAD] = "thread",     [LANE_STREAM] = "GPU stream", [LANE_GPU_NOTE] = "GPU notes",
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
    text_table_col(&text, "lane", TEXT_LEFT);
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
    text_table_print(&text, s->out, 2, s->width, s->color);
    text_table_done(&text);
    if (left) buf_printf(s->out, "  ... and %s more (--json has all)\n", human_count(left).s);
}

static void print_damage(const struct screen *s, const struct trace *t)
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
    print_damage(s, t);
    print_other_keys(s, c);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"report %s", "what is slow and why"},
        {"lint %s", "what is wrong with the recording, with byte offsets"},
    };
    screen_next(s, next, 2);
}

static void json_versions(struct jout *j, const struct census *c)
{
    jout_obj(j, "versions");
    for (int i = 0; i < c->n_versions; i++) jout_cstr(j, c->versions[i].key, c->versions[i].text);
    jout_end_obj(j);
}

static void json_flag(struct jout *j, const char *key, enum census_flag f)
{
    if (f == FLAG_UNKNOWN) jout_null(j, key);
    else jout_bool(j, key, f == FLAG_ON);
}

static void json_recorder(struct jout *j, const struct census *c)
{
    jout_obj(j, "recorder");
    json_flag(j, "stacks", c->stacks);
    json_flag(j, "shapes", c->shapes);
    json_flag(j, "memory", c->memory);
    json_flag(j, "modules", c->modules);
    json_flag(j, "flops", c->flops);
    jout_end_obj(j);
    if (c->rank < 0) return;
    jout_obj(j, "distributed");
    jout_int(j, "rank", c->rank);
    jout_int(j, "world_size", c->world_size);
    jout_end_obj(j);
}

static void json_devices(struct jout *j, const struct trace *t)
{
    jout_arr(j, "devices");
    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct device *d = &t->devices[i];
        jout_obj(j, NULL);
        jout_int(j, "id", d->id);
        jout_str(j, "name", trace_str(t, d->name));
        jout_int(j, "memory_bytes", d->memory_bytes);
        jout_int(j, "sms", d->n_sms);
        jout_int(j, "compute_major", d->major);
        jout_int(j, "compute_minor", d->minor);
        struct str uuid = device_note(t, TRACE_META_UUID, d);
        struct str visible = device_note(t, TRACE_META_VISIBLE, d);
        if (uuid.n) jout_str(j, "uuid", uuid);
        if (visible.n) jout_str(j, "visible_as", visible);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_cats(struct jout *j, const struct census *c)
{
    jout_arr(j, "categories");
    for (uint32_t i = 0; i < c->n_cats; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", c->cats[i].name);
        jout_cstr(j, "kind", kind_name(c->cats[i].kind));
        jout_uint(j, "events", c->cats[i].events);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_lanes(struct jout *j, const struct trace *t)
{
    jout_arr(j, "lanes");
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        const struct process *p = &t->processes[lane->process];
        if (!census_lane_rows(lane)) continue;
        jout_obj(j, NULL);
        jout_cstr(j, "kind", lane_word(lane->kind));
        if (p->pid != ID_NONE) jout_int(j, "pid", p->pid);
        else jout_str(j, "pid", trace_str(t, p->pid_text));
        if (lane->tid != ID_NONE) jout_int(j, "tid", lane->tid);
        else jout_str(j, "tid", trace_str(t, lane->tid_text));
        jout_str(j, "name", trace_str(t, lane->name));
        if (lane->device >= 0) jout_int(j, "device", lane->device);
        if (lane->stream >= 0) jout_int(j, "stream", lane->stream);
        jout_uint(j, "events", census_lane_rows(lane));
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_damage(struct jout *j, const struct trace *t)
{
    jout_obj(j, "damage");
    jout_uint(j, "total", damage_total(&t->damage));
    jout_arr(j, "reasons");
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!t->damage.count[r]) continue;
        jout_obj(j, NULL);
        jout_cstr(j, "reason", damage_name((enum damage_reason)r));
        jout_uint(j, "count", t->damage.count[r]);
        jout_bool(j, "loses_events", damage_loses((enum damage_reason)r));
        jout_uint(j, "first_byte", t->damage.place[r][0]);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void json_times(struct jout *j, const struct census *c)
{
    jout_us(j, "span_us", c->span_ns);
    if (c->window_ns >= 0) jout_us(j, "window_us", c->window_ns);
    else jout_null(j, "window_us");
    if (c->wall_begin_ns >= 0) jout_cstr(j, "recorded_at", date_of(c->wall_begin_ns).s);
    else jout_null(j, "recorded_at");
}

void view_info_json(struct buf *out, const struct trace *t, const struct census *c,
                    int64_t file_bytes)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "path", t->path);
    jout_cstr(&j, "format", t->format);
    if (file_bytes >= 0) jout_int(&j, "file_bytes", file_bytes);
    else jout_null(&j, "file_bytes");
    jout_uint(&j, "plain_bytes", t->source_bytes);
    jout_uint(&j, "events", c->n_events);
    if (view_part_is(t)) view_part_json(&j, "part", t);
    json_versions(&j, c);
    json_recorder(&j, c);
    json_devices(&j, t);
    json_times(&j, c);
    jout_uint(&j, "profiler_steps", c->counts.step_marks);
    jout_uint(&j, "processes", c->n_processes);
    jout_uint(&j, "threads", c->n_threads);
    jout_uint(&j, "streams", c->n_streams);
    jout_uint(&j, "flows", t->n_flows);
    jout_uint(&j, "device_work_without_launch", c->counts.unlinked);
    jout_bool(&j, "external_ids_usable", t->external_ids_usable);
    json_cats(&j, c);
    json_lanes(&j, t);
    json_damage(&j, t);
    jout_arr(&j, "other_metadata");
    for (uint32_t i = 0; i < c->n_other_keys; i++) jout_str(&j, NULL, c->other_keys[i]);
    jout_end_arr(&j);
    jout_end_obj(&j);
}
