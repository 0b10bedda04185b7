/* page_head.c: see page_private.h. */
#include "page/page_private.h"

#include "base/human.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/diagnosis/view_report.h"

/* How many gaps of which length the devices have, for a small chart. */

/* Upper ends in ns; the last bin has none. */
static const int64_t ends_ns[] = {1000,      2000,      5000,      10000,     20000,
                                  50000,     100000,    200000,    500000,    1000000,
                                  2000000,   5000000,   10000000,  20000000,  50000000,
                                  100000000, 200000000, 500000000, 1000000000};

enum { N_ENDS = sizeof ends_ns / sizeof *ends_ns };

struct bin {
    uint64_t count;
    int64_t idle_ns;
};

static void page_bins_count(const struct device_idle *idle, struct bin *bins)
{
    for (uint32_t i = 0; i < idle->n_gaps; i++) {
        int64_t ns = idle_gap_ns(&idle->gaps[i]);
        int at = 0;
        while (at < N_ENDS && ns >= ends_ns[at]) at++;
        bins[at].count++;
        bins[at].idle_ns += ns;
    }
}

/* "gap_histogram": all gaps of all devices by length, in bins of 1, 2, 5, 10 ... us. */
static void page_bins_put(const struct context *cx, struct jout *j)
{
    struct bin bins[N_ENDS + 1] = {{0}};
    for (uint32_t i = 0; i < timeline_of(cx)->n_devices; i++)
        page_bins_count(&idle_of(cx)->of[i], bins);
    jout_arr(j, "gap_histogram");
    for (int i = 0; i <= N_ENDS; i++) {
        if (!bins[i].count) continue;
        jout_obj(j, NULL);
        jout_us(j, "from_us", i ? ends_ns[i - 1] : 0);
        if (i < N_ENDS) jout_us(j, "to_us", ends_ns[i]);
        else jout_null(j, "to_us");
        jout_uint(j, "count", bins[i].count);
        jout_us(j, "idle_us", bins[i].idle_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_offset(struct jout *j, const char *key, uint64_t offset)
{
    if (offset == PAGE_NO_OFFSET) jout_null(j, key);
    else jout_uint(j, key, offset);
}

/* ---- detail */

static void put_detail_words(struct jout *j, const struct page_set *s)
{
    struct buf words;
    buf_init(&words);
    buf_printf(
        &words,
        "The trace has %s spans; the page holds %s of them: all spans around the findings and in "
        "one steady step, elsewhere those of at least %s, and all spans of small tracks. The rest "
        "is drawn as the share of time that is covered. Tables and findings use every span.",
        human_count(s->detail.n_spans).s, human_count(s->detail.n_kept).s,
        human_time(s->detail.long_ns).s);
    jout_str(j, "words", buf_str(&words));
    if (!buf_ok(&words)) j->out->failed = true;
    buf_done(&words);
}

static void put_detail(struct jout *j, const struct page_set *s)
{
    const struct page_detail *d = &s->detail;
    jout_obj(j, "detail");
    jout_bool(j, "complete", d->complete);
    jout_uint(j, "spans", d->n_spans);
    jout_uint(j, "kept", d->n_kept);
    if (!d->complete) {
        jout_int(j, "long_ns", d->long_ns);
        jout_arr(j, "ranges");
        for (uint32_t i = 0; i < d->n_ranges; i++) {
            jout_obj(j, NULL);
            page_json_times(j, s, (struct span){d->ranges[i].begin_ns, d->ranges[i].end_ns});
            jout_cstr(j, "why", d->ranges[i].why);
            jout_end_obj(j);
        }
        jout_end_arr(j);
        put_detail_words(j, s);
    }
    jout_end_obj(j);
}

/* ---- tracks */

static void page_head_put_levels(struct jout *j, const struct page_levels *levels)
{
    jout_arr(j, "levels");
    for (uint32_t i = 0; i < levels->n; i++) {
        const struct page_level *l = &levels->list[i];
        jout_obj(j, NULL);
        jout_uint(j, "row", l->row);
        jout_int(j, "width_ns", l->width_ns);
        jout_uint(j, "n", l->n);
        jout_uint(j, "busy", l->busy);
        jout_uint(j, "name", l->name);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static uint32_t count_kept(const struct page_set *s, const struct lane *l)
{
    uint32_t n = 0;
    for (row_t r = l->begin; r < l->end; r++) n += s->detail.span_of[r] != PAGE_NO_SPAN;
    return n;
}

/* Returns the number of the first span behind it. */
static uint32_t put_track(struct jout *j, const struct page_set *s, uint32_t i, uint32_t first)
{
    const struct page_track *k = &s->tracks.list[i];
    const struct lane *l = &s->cx->t->lanes[k->lane];
    struct buf text;
    uint32_t n = count_kept(s, l);
    buf_init(&text);
    jout_obj(j, NULL);
    jout_cstr(j, "kind", page_track_kind(l->kind));
    page_track_group(s->cx->t, &s->tracks, l, &text);
    jout_str(j, "group", buf_str(&text));
    buf_reset(&text);
    page_track_label(s->cx->t, l, &text);
    jout_str(j, "label", buf_str(&text));
    page_json_int_or_null(j, "thread", l->kind == LANE_THREAD && l->tid != ID_NONE, l->tid);
    page_json_int_or_null(j, "device", l->device >= 0, l->device);
    page_json_int_or_null(j, "stream", l->device >= 0, l->stream);
    jout_uint(j, "first", first);
    jout_uint(j, "n", n);
    jout_uint(j, "depth", k->n_rows);
    jout_bool(j, "main", k->main);
    page_head_put_levels(j, &s->levels[i]);
    jout_end_obj(j);
    if (!buf_ok(&text)) j->out->failed = true;
    buf_done(&text);
    return first + n;
}

static void page_head_put_tracks(struct jout *j, const struct page_set *s)
{
    uint32_t first = 0;
    jout_arr(j, "tracks");
    for (uint32_t i = 0; i < s->tracks.n; i++) first = put_track(j, s, i, first);
    jout_end_arr(j);
}

/* ---- names of numbers */

static void put_enums(struct jout *j)
{
    jout_arr(j, "kinds");
    for (int i = 0; i < KIND_COUNT; i++) jout_cstr(j, NULL, kind_name((enum row_kind)i));
    jout_end_arr(j);
    jout_arr(j, "families");
    for (int i = 0; i < FAMILY_COUNT; i++)
        jout_cstr(j, NULL, kernel_family_name((enum kernel_family)i));
    jout_end_arr(j);
    jout_arr(j, "hows");
    for (int i = 0; i < LAUNCH_WAIT_HOWS; i++)
        jout_cstr(j, NULL, launch_wait_how_name((enum launch_wait_how)i));
    jout_end_arr(j);
}

static void put_three(struct jout *j, const char *key, const uint32_t v[3])
{
    jout_arr(j, key);
    for (int i = 0; i < 3; i++) jout_uint(j, NULL, v[i]);
    jout_end_arr(j);
}

static void put_configs(struct jout *j, const struct page_configs *c)
{
    jout_arr(j, "configs");
    for (uint32_t i = 0; i < c->n; i++) {
        jout_obj(j, NULL);
        put_three(j, "grid", c->list[i].grid);
        put_three(j, "block", c->list[i].block);
        jout_uint(j, "shared_bytes", c->list[i].shared_bytes);
        jout_uint(j, "registers", c->list[i].registers);
        page_json_int_or_null(j, "occupancy_pct", c->list[i].occupancy_pct >= 0,
                              c->list[i].occupancy_pct);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

/* ---- steps and stages */

static void page_head_put_steps(struct jout *j, const struct page_set *s)
{
    const struct steps *steps = steps_of(s->cx);
    jout_arr(j, "steps");
    for (uint32_t i = 0; i < page_docs_steps(s); i++) {
        const struct step *step = &steps->steps[i];
        bool works = work_sum_count(&step->gpu) > 0;
        jout_obj(j, NULL);
        jout_uint(j, "index", i);
        if (step->name == STR_NONE) jout_null(j, "label");
        else jout_str(j, "label", trace_str(s->cx->t, step->name));
        page_json_times(j, s, step->cpu);
        page_json_int_or_null(j, "gpu_t0_ns", works,
                              trace_since_ns(s->cx->t, step->gpu.extent.begin_ns));
        page_json_int_or_null(j, "gpu_t1_ns", works,
                              trace_since_ns(s->cx->t, step->gpu.extent.end_ns));
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void page_head_put_stages(struct jout *j, const struct page_set *s)
{
    jout_arr(j, "stages");
    for (uint32_t i = 0; i < stages_of(s->cx)->n; i++) {
        const struct stage *stage = &stages_of(s->cx)->list[i];
        jout_obj(j, NULL);
        jout_cstr(j, "path", stage->path);
        jout_str(j, "name", stage->name);
        jout_uint(j, "depth", stage->depth);
        jout_bool(j, "container", stage->container);
        jout_bool(j, "derived", stage->derived);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

/* ---- curves */

static void page_head_put_curve(struct jout *j, const struct page_curve *c)
{
    jout_obj(j, NULL);
    jout_cstr(j, "id", c->id);
    jout_cstr(j, "label", c->label);
    jout_cstr(j, "unit", c->unit);
    page_json_int_or_null(j, "device", c->device >= 0, c->device);
    jout_int(j, "max", c->max);
    jout_arr(j, "levels");
    for (uint32_t i = 0; i < c->n_levels; i++) {
        jout_obj(j, NULL);
        jout_int(j, "width_ns", c->levels[i].width_ns);
        jout_uint(j, "n", c->levels[i].n);
        put_offset(j, "min", c->levels[i].min);
        put_offset(j, "max", c->levels[i].max);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    if (c->n_points) {
        jout_obj(j, "points");
        jout_uint(j, "n", c->n_points);
        jout_uint(j, "t", c->points_t);
        jout_uint(j, "v", c->points_v);
        jout_end_obj(j);
    } else {
        jout_null(j, "points");
    }
    jout_end_obj(j);
}

static void put_curves(struct jout *j, const struct page_curves *c)
{
    jout_arr(j, "counters");
    for (uint32_t i = 0; i < c->n; i++) page_head_put_curve(j, &c->list[i]);
    jout_end_arr(j);
}

/* ---- columns */

static void page_head_put_columns(struct jout *j, const struct page_block *b,
                                  const struct page_place *place)
{
    jout_obj(j, "columns");
    jout_cstr(j, "codec", "deflate-raw");
    jout_uint(j, "offset", place->offset);
    jout_uint(j, "packed_bytes", place->packed_bytes);
    jout_uint(j, "plain_bytes", b->bytes.n);
    jout_obj(j, "list");
    for (uint32_t i = 0; i < b->n_parts; i++) {
        jout_obj(j, b->parts[i].name);
        jout_uint(j, "offset", b->parts[i].offset);
        jout_uint(j, "bytes", b->parts[i].n_bytes);
        jout_uint(j, "n", b->parts[i].n);
        jout_end_obj(j);
    }
    jout_end_obj(j);
    jout_end_obj(j);
}

static void put_page(struct jout *j, const struct page_set *s, const struct page_place *place)
{
    const struct trace *t = s->cx->t;
    jout_obj(j, "page");
    jout_obj(j, "window");
    page_json_times(j, s, (struct span){t->begin_ns, t->end_ns});
    jout_end_obj(j);
    put_detail(j, s);
    page_docs_cut(s, j);
    page_head_put_tracks(j, s);
    put_enums(j);
    put_configs(j, &s->configs);
    page_head_put_steps(j, s);
    page_head_put_stages(j, s);
    put_curves(j, &s->curves);
    page_marks_put(s, j);
    page_bins_put(s->cx, j);
    page_head_put_columns(j, &s->block, place);
    jout_end_obj(j);
}

static void page_head_put_words(struct jout *j, const struct page_set *s)
{
    struct buf title, text;
    buf_init(&title);
    buf_init(&text);
    view_report_title(&title, s->cx, s->path);
    buf_add_str(&text, str_trim(buf_str(&title)));
    buf_adds(&text, "  ");
    view_excerpt_shown(&text, s->cx->t);
    jout_str(j, "headline", str_trim(buf_str(&text)));
    if (!buf_ok(&text) || !buf_ok(&title)) j->out->failed = true;
    buf_done(&title);
    buf_done(&text);
}

int page_head_set(const struct page_set *s, const struct page_place *place, struct jout *j,
                  struct err *e)
{
    jout_obj(j, NULL);
    jout_cstr(j, "path", s->path);
    page_head_put_words(j, s);
    TRY(page_docs_put(s, j, e));
    put_page(j, s, place);
    jout_end_obj(j);
    return 0;
}
