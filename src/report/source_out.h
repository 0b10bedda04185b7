/* source_out.h: places in the user's program, for people and for programs. */
#ifndef STRATA_REPORT_SOURCE_OUT_H
#define STRATA_REPORT_SOURCE_OUT_H

#include "analyze/names/captured.h"
#include "analyze/names/source_place.h"
#include "base/jout.h"

/* "source": {"file", "line", "function"}, or null when no stack was recorded there. */
void source_json(struct jout *j, const struct trace *t, const struct place *p);

/* The same for the row of a frame, which may be ROW_NONE. */
void source_json_frame(struct jout *j, const struct trace *t, row_t frame);

/* "captured": {"op", "module", "source"}: what ran when the work of a graph was captured. */
void source_json_captured(struct jout *j, const struct captured_origin *o);

/* "stack": ["diffusers/x.py:1100 step", ...], innermost first. */
void source_json_stack(struct jout *j, struct source_places *w, row_t r);

#endif
