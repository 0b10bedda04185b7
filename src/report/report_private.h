/* report_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_REPORT_REPORT_PRIVATE_H
#define STRATA_REPORT_REPORT_PRIVATE_H

#include "analyze/names/graph_origin.h"
#include "analyze/names/source_place.h"
#include "base/err.h"
#include "base/jout.h"
#include "results/result.h"

struct buf;
struct trace;
struct sync_site;
struct screen;
struct view_syncs;

/* view_sync_story.c: the evidence for what one sync site costs, moment by moment. */

/* What the user's line calls, else the operator, else the call itself. */
void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s);

void view_sync_story_text(const struct screen *s, const struct view_syncs *v);

/* The story of row `i`, which is a struct view_syncs. */
extern const struct result result_sync_story;
struct rows sync_story_rows(const struct rows *r, uint32_t i);

/* Of the wall clock: less noise of the machine is not mentioned. */
#define VIEW_LOST_SHARE 0.01

/* Parts of the report: what each holds, and its row in a document about a trace. */
extern const struct result result_excerpt, result_rests, result_odd_step, result_requests,
    result_roofline, result_cpu, result_damage;
rows_fn rows_in_excerpt, rows_in_rests, rows_in_odd_step, rows_in_requests, rows_in_roofline,
    rows_in_top_kernels, rows_in_cpu, rows_in_damage;

/* source_out.c: places in the user's program, for people and for programs. */

/* "source": {"file", "line", "function"}, or null when no stack was recorded there. */
void source_json(struct jout *j, const struct trace *t, const struct place *p);

/* The same for the row of a frame, which may be ROW_NONE. */
void source_json_frame(struct jout *j, const struct trace *t, row_t frame);

/* "captured": {"op", "module", "source"}: what ran when the work of a graph was captured. */
void source_json_captured(struct jout *j, const struct graph_origin_node *o);

/* "stack": ["diffusers/x.py:1100 step", ...], innermost first. */
void source_json_stack(struct jout *j, struct source_places *w, row_t r);

#endif
