/* page_set.h: everything a page holds of one trace, ready to be written: the documents of the
 * commands, and the timeline as columns, levels, curves and stories. */
#ifndef STRATA_PAGE_PAGE_SET_H
#define STRATA_PAGE_PAGE_SET_H

#include "analyze/answer/checklist.h"
#include "analyze/comm/comm.h"
#include "analyze/findings/rule.h"
#include "analyze/kernels/kernel_stats.h"
#include "analyze/launches/launch_wait.h"
#include "analyze/launches/launches.h"
#include "analyze/ops/op_table.h"
#include "offload/scene.h"
#include "page/page_cols.h"
#include "page/page_detail.h"
#include "page/page_levels.h"
#include "page/page_names.h"
#include "page/page_story.h"

/* page_curves.c: the curves under the tracks of a page: memory, queue depth, how much of the time a
 * device works. Exact steps where there are few, least and most by bucket of time for the rest. */

enum { PAGE_CURVE_LEVELS = 4, PAGE_CURVE_POINTS = 200000, PAGE_CURVE_EXACT = 19000 };

#define PAGE_NO_OFFSET UINT64_MAX

struct page_curve {
    const char *id;    /* "memory", "reserved", "queue", "busy", "exposed", "comm" */
    const char *label; /* for people */
    const char *unit;  /* "bytes", "pieces", "pct" */
    int32_t device;
    int64_t max;
    struct page_curve_level {
        int64_t width_ns;
        uint32_t n;
        uint64_t min, max; /* offsets in the block; min may be PAGE_NO_OFFSET */
    } levels[PAGE_CURVE_LEVELS];
    uint32_t n_levels;
    uint32_t n_points; /* 0: too many to be listed, or none */
    uint64_t points_t, points_v;
};

struct page_curves {
    struct page_curve *list;
    uint32_t n;
};

/* Into the block. Memory from `mem`. */
int page_curves_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct page_curves *ret, struct err *e) MUST_USE;

/* page_spans.c: the spans of a page as columns: times, names, rows, what launched what. */

struct page_spans_in {
    const struct context *cx;
    const struct page_tracks *tracks;
    const struct page_detail *detail;
    const struct launch_wait *const
        *starts; /* by index into trace->gpu; NULL where there is none */
    struct page_names *names;
    struct page_block *block;
};

/* How kernels are launched, each way once, for the head. */
struct page_configs {
    struct page_config {
        uint32_t grid[3], block[3];
        uint32_t shared_bytes;
        uint16_t registers;
        int16_t occupancy_pct; /* -1 when not known */
    } * list;
    uint32_t n;
};

/* Memory from `mem`. */
int page_spans_run(const struct page_spans_in *in, struct arena *mem, struct page_configs *ret,
                   struct err *e) MUST_USE;

/* Rows of the documents that a page holds; the commands print all of them. */
enum { PAGE_DOC_ROWS = 400, PAGE_DOC_STEPS = 5000 };

struct page_set {
    struct context *cx;
    const char *path; /* as the user named it */
    struct arena *mem;

    /* what the analysis leaves to others */
    struct kernel_stats kernels;
    struct op_table table;
    struct scene *scene; /* what streaming its weights costs; NULL when it was not examined */

    struct page_tracks tracks;
    struct page_stories stories;
    struct page_detail detail;
    struct page_names names;
    struct page_block block;
    struct page_configs configs;
    struct page_levels *levels; /* by track */
    struct page_curves curves;
};

/* `cx`, `path` and `mem` must outlive the set. page_set_done is due also after a failure. */
int page_set_run(struct page_set *s, struct context *cx, const char *path, struct arena *mem,
                 struct err *e) MUST_USE;
void page_set_done(struct page_set *s);

/* page_stages.c: when each call of a stage ran, on the CPU and on the device, for the bands of a
 * page. */

enum { PAGE_STAGE_CALLS = 50000 };

/* The columns of the calls, by start, into the block; at most PAGE_STAGE_CALLS, the first ones.
 * Scratch memory from `mem`. */
int page_stages_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct err *e) MUST_USE;

/* page_detail_choice.c: which times and rows a page should hold in full, for page_detail_run: where
 * the stories of findings lead, one steady step, then the sync sites. */

/* Fills wishes and rows of `ret`. Memory from `mem`. */
int page_detail_choice_run(const struct page_stories *s, const struct context *cx,
                           struct arena *mem, struct page_detail_in *ret, struct err *e) MUST_USE;

#endif
