/* source_place.h: where in the user's program a row comes from: the Python line, or what is nearest
 * to it.
 *
 * The place is the innermost frame of the user's own code above the row: below it lie torch, the
 * standard library, C functions, module calls and strata's own wrappers, which the reader of a
 * report cannot change. Without recorded stacks the operator and the annotations around the row
 * have to do, and `by` says which one it was, so that a report can say how to get more.
 *
 * Names are classified once each: a struct source_places is made per pass and not shared by
 * threads. */
#ifndef STRATA_ANALYZE_NAMES_SOURCE_PLACE_H
#define STRATA_ANALYZE_NAMES_SOURCE_PLACE_H

#include "analyze/context.h"
#include "analyze/names/frame.h"

enum source_by {
    SOURCE_BY_FRAME,      /* a frame of the user's code */
    SOURCE_BY_LIBRARY,    /* only frames of libraries stand above the row: the innermost */
    SOURCE_BY_OP,         /* no stack recorded: the operator */
    SOURCE_BY_ANNOTATION, /* not even an operator: the label */
    SOURCE_BY_NOTHING
};

/* "stack", "library_stack", "op", "annotation", "none". */
const char *source_by_name(enum source_by by);

struct place {
    enum source_by by;
    row_t frame;    /* the Python frame `source` was read from, or ROW_NONE */
    row_t op;       /* what the user called: the outermost operator of the innermost chain */
    row_t inner_op; /* the operator the row is directly in, or ROW_NONE */
    row_t called;   /* the frame directly below `frame`: what the user's line calls, or ROW_NONE */
    row_t annotation;    /* innermost label, or ROW_NONE */
    struct frame source; /* file is as shown (frame_path); empty, line 0 unless `frame` is set */
    bool line_is_start;  /* source.line is where the function starts, not the line that ran */
};

struct source_places {
    const struct trace *t;
    uint8_t *classes; /* by str_id: enum frame_class + 1, 0 = not looked at yet */
    bool has_stacks;  /* the trace holds Python frames at all */
    bool sampled;     /* they were made of samples: TRACE_META_SAMPLED */
    bool has_callers; /* frames say which line called them: torch's "CallFrom" */
};

int source_places_init(struct source_places *w, const struct trace *t, struct err *e) MUST_USE;
void source_places_done(struct source_places *w);

extern const struct pass places_pass;

/* Not const: it remembers the names it has looked at. */
static inline struct source_places *places_of(const struct context *cx)
{
    return context_kept(cx, PASS_PLACES);
}

/* The place of row `r`, which stands on a CPU thread, itself included. */
void source_places_find(struct source_places *w, row_t r, struct place *ret);

/* Whether that place, found for the launch `r`, is the line it was launched at. Samples show which
 * functions ran meanwhile: a launch between two of them may lie deeper, and only one whose own
 * stack was read has a line. */
bool source_places_is_exact(const struct source_places *w, row_t r, const struct place *p);

/* Class of a row of kind KIND_PYTHON. */
enum frame_class source_places_class(struct source_places *w, row_t frame);

/* Whether a row is a Python function of strata itself, which is never what a report names. */
bool source_places_is_recorder(struct source_places *w, row_t r);

/* The innermost Python frame with a file at or above `r`, none of strata's own; with `user`, of the
 * user's code only. */
row_t source_places_frame(struct source_places *w, row_t r, bool user);

/* Python frames with a file at or above `r`, innermost first; at most `cap` of them are written.
 * Returns how many there are. */
size_t source_places_stack(struct source_places *w, row_t r, row_t *ret, size_t cap);

/* Labels at or above `r`, outermost first, joined with " > "; nothing when there are none. */
void source_places_path(const struct trace *t, row_t r, struct buf *out);

/* "diffusers/schedulers/x.py:1100 index_for_timestep" for the row of a Python frame. */
void source_places_print_frame(const struct trace *t, row_t frame, struct buf *out);

/* The function of a frame as a user writes it: "torch.tensor", "Tensor.nonzero", "len",
 * "torch.cuda.synchronize". */
void source_places_print_call(const struct trace *t, row_t frame, struct buf *out);

#endif
