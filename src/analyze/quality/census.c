/* census.c: see census.h. */
#include "analyze/quality/census.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKED_AT 4096 /* operators looked at for shapes where the file does not say */

/* Top-level keys with a known meaning. Any other may hold anything, so its value is not printed. */
static const char *const known_keys[] = {
    "schemaVersion",
    "deviceProperties",
    "distributedInfo",
    "with_stack",
    "record_shapes",
    "profile_memory",
    "with_modules",
    "with_flops",
    "cupti_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "roctracer_version",
    "hip_runtime_version",
    "hip_driver_version",
    "rocprofiler_version",
    "xpu_pti_version",
    "torch_version",
    "pytorch_version",
    "trace_id",
    "group_trace_id",
    "displayTimeUnit",
    "baseTimeNanoseconds",
    "baseTimeNanosecond",
    "traceName",
    "host_name",
    "DISABLE_CUPTI_LAZY_REINIT",
    "traceEvents",
    "cudaGraphInlineAnnotated",
};

static bool census_is_known(struct str key)
{
    for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++)
        if (str_is(key, known_keys[i])) return true;
    return false;
}

/* A raw JSON scalar as a number; `otherwise` if it is not a number. */
static int64_t census_number_of(struct str raw, int64_t otherwise)
{
    char digits[32];
    raw = str_trim(raw);
    if (raw.n >= 2 && raw.p[0] == '"') raw = str_from(raw.p + 1, raw.n - 2);
    if (raw.n == 0 || raw.n >= sizeof digits) return otherwise;
    memcpy(digits, raw.p, raw.n);
    digits[raw.n] = '\0';
    char *end;
    long long v = strtoll(digits, &end, 10);
    return *end == '\0' || *end == '.' ? v : otherwise;
}

/* How a version number is packed into one integer. */
enum packing {
    PACKED_AS_IS,
    PACKED_CUDA, /* 12090 is 12.9 */
    PACKED_HIP   /* 60443483 is 6.4.43483 */
};

static const struct {
    const char *meta, *what, *key;
    enum packing packing;
} version_keys[] = {
    {"torch_version", "torch", "torch", PACKED_AS_IS},
    {"pytorch_version", "torch", "torch", PACKED_AS_IS},
    {"cuda_runtime_version", "CUDA", "cuda_runtime", PACKED_CUDA},
    {"cuda_driver_version", "driver for CUDA", "cuda_driver", PACKED_CUDA},
    {"cupti_version", "CUPTI", "cupti", PACKED_AS_IS},
    {"hip_runtime_version", "HIP", "hip_runtime", PACKED_HIP},
    {"hip_driver_version", "HIP driver", "hip_driver", PACKED_HIP},
    {"roctracer_version", "roctracer", "roctracer", PACKED_AS_IS},
    {"rocprofiler_version", "rocprofiler", "rocprofiler", PACKED_AS_IS},
    {"xpu_pti_version", "PTI", "xpu_pti", PACKED_AS_IS},
};

static void print_version(struct census_version *v, struct str raw, enum packing packing)
{
    int64_t n = census_number_of(raw, -1);
    raw = str_trim(raw);
    if (raw.n >= 2 && raw.p[0] == '"') raw = str_from(raw.p + 1, raw.n - 2);
    if (packing == PACKED_CUDA && n >= 1000)
        snprintf(v->text, sizeof v->text, "%" PRId64 ".%" PRId64, n / 1000, n % 1000 / 10);
    else if (packing == PACKED_HIP && n >= 10000000)
        snprintf(v->text, sizeof v->text, "%" PRId64 ".%" PRId64 ".%" PRId64, n / 10000000,
                 n / 100000 % 100, n % 100000);
    else snprintf(v->text, sizeof v->text, "%.*s", (int)(raw.n < 32 ? raw.n : 32), raw.p);
}

static void find_versions(const struct trace *t, struct census *c)
{
    for (size_t i = 0; i < sizeof version_keys / sizeof *version_keys; i++) {
        struct str raw = trace_meta(t, version_keys[i].meta);
        if (!raw.p || c->n_versions == CENSUS_VERSIONS) continue;
        struct census_version *v = &c->versions[c->n_versions++];
        *v = (struct census_version){.what = version_keys[i].what, .key = version_keys[i].key};
        print_version(v, raw, version_keys[i].packing);
    }
}

static enum census_flag flag_of(const struct trace *t, const char *key, bool shows)
{
    struct str raw = trace_meta(t, key);
    if (raw.p) return census_number_of(raw, str_is(str_trim(raw), "true")) ? FLAG_ON : FLAG_OFF;
    return shows ? FLAG_ON : FLAG_OFF;
}

/* Only compares numbers, so rows of a mapped file need not have been proved. */
static bool shows_shapes(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_ops && i < LOOKED_AT; i++)
        if (t->ops[i].dims != STR_NONE) return true;
    return false;
}

static void census_find_flags(const struct trace *t, struct census *c)
{
    c->stacks = flag_of(t, "with_stack", t->n_py > 0);
    c->shapes = flag_of(t, "record_shapes", shows_shapes(t));
    c->memory = flag_of(t, "profile_memory", t->n_mem > 0);
    c->modules = flag_of(t, "with_modules", false);
    c->flops = flag_of(t, "with_flops", false);
}

/* The number behind `"key":` inside a raw JSON object; -1 when it is not there. */
static int64_t member_number(struct str object, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    long at = str_find(object, quoted);
    if (at < 0) return -1;
    size_t i = (size_t)at + strlen(quoted);
    while (i < object.n && (object.p[i] == ' ' || object.p[i] == ':')) i++;
    size_t begin = i;
    while (i < object.n && object.p[i] >= '0' && object.p[i] <= '9') i++;
    return census_number_of(str_from(object.p + begin, i - begin), -1);
}

static void census_count_lanes(const struct trace *t, struct census *c, uint8_t *is_cpu)
{
    for (lane_id l = 0; l < t->n_lanes; l++) {
        const struct lane *lane = &t->lanes[l];
        if (!census_lane_rows(lane)) continue;
        c->n_threads += lane->kind == LANE_THREAD;
        c->n_streams += lane->kind == LANE_STREAM;
        if (lane->kind == LANE_THREAD && !is_cpu[lane->process]) {
            is_cpu[lane->process] = 1;
            c->n_processes++;
        }
    }
}

static void find_times(const struct trace *t, struct census *c)
{
    const int64_t year_2000_ns = 946684800 * INT64_C(1000000000);
    c->window_ns = c->wall_begin_ns = -1;
    if (t->begin_ns != ID_NONE && t->end_ns >= t->begin_ns) c->span_ns = t->end_ns - t->begin_ns;
    if (t->window_begin_ns != ID_NONE && t->window_end_ns >= t->window_begin_ns)
        c->window_ns = t->window_end_ns - t->window_begin_ns;
    int64_t wall;
    if (t->begin_ns == ID_NONE || __builtin_add_overflow(t->base_ns, t->begin_ns, &wall)) return;
    if (wall > year_2000_ns) c->wall_begin_ns = wall;
}

static int by_events(const void *a, const void *b)
{
    const struct census_cat *x = a, *y = b;
    if (x->events != y->events) return x->events > y->events ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static void fill_cats(const struct trace *t, struct census *c)
{
    for (uint32_t i = 0; i < t->n_cats && i < 256; i++) {
        if (!c->counts.by_cat[i]) continue;
        struct str name = trace_str(t, t->cats[i]);
        c->cats[c->n_cats++] = (struct census_cat){name, cat_kind(name), c->counts.by_cat[i]};
    }
    if (c->n_cats) qsort(c->cats, c->n_cats, sizeof *c->cats, by_events);
}

int census_run(const struct trace *t, struct arena *mem, struct census *ret, struct err *e)
{
    struct census *c = ret;
    *c = (struct census){.n_events = (uint64_t)t->n_rows + t->n_flows};
    uint8_t *is_cpu = arena_zalloc(mem, t->n_processes + 1u, 1);
    c->cats = arena_zalloc(mem, t->n_cats + 1u, sizeof *c->cats);
    c->other_keys = arena_zalloc(mem, t->n_metas + 1u, sizeof *c->other_keys);
    if (!is_cpu || !c->cats || !c->other_keys) return err_nomem(e);
    trace_count(t, &c->counts);
    fill_cats(t, c);
    find_versions(t, c);
    census_find_flags(t, c);
    census_count_lanes(t, c, is_cpu);
    find_times(t, c);
    struct str distributed = trace_meta(t, "distributedInfo");
    c->rank = distributed.p ? member_number(distributed, "rank") : -1;
    c->world_size = distributed.p ? member_number(distributed, "world_size") : -1;
    for (uint32_t i = 0; i < t->n_metas; i++) {
        struct str key = trace_str(t, t->metas[i].key);
        if (!census_is_known(key)) c->other_keys[c->n_other_keys++] = key;
    }
    return 0;
}
