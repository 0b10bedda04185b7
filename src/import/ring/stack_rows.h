/* stack_rows.h: what is known of the Python stacks of threads, as rows of python_function.
 *
 * Stacks are known at moments: while a call waited (exactly), and by samples. Consecutive ones
 * that agree on their outer frames say that these went on; so functions become spans:
 *
 *     samples     a>b>c   a>b>c   a>b   a>d     a       (every period)
 *     rows        a------------------------------
 *                 b-------------------- d------
 *                 c------------
 *
 * Where a span begins and ends between two moments is not known: it is put in the middle, or half a
 * period from the sample where the next one is far, and moved so that it cuts through no operator
 * or call of the thread. A function that was seen inside the call of a module that has a range
 * lasts no longer than that: threads read their stacks at operators, which are not just any
 * moments. Rows are named as torch.profiler names them: FILE(LINE): FUNCTION with the line the
 * function starts at. Around a call that waited, a second row directly inside, marked ROW_LINE,
 * names the line that was running.
 *
 * Stacks deeper than the recorder takes lack their outer frames (stack_path.c): the functions that
 * were open go on around them.
 *
 * All of a run's processes share one: two recorders of one process see the same threads. */
#ifndef STRATA_IMPORT_RING_STACK_ROWS_H
#define STRATA_IMPORT_RING_STACK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "import/ring/defs_file.h"
#include "trace/build.h"

/* stack_path.c: a stack as a path of frames, outermost first.
 *
 * A recorder takes so many frames and leaves off those further out. Such a stack is cut: where it
 * continues has to be found by comparing it with the one before.
 *
 *     known   main > run > step > trace > inline > inline > call
 *     cut                         trace > inline > inline > inline > guard
 *     joined  main > run > step > trace > inline > inline > inline > guard */

enum {
    STACK_DEEPEST = 1024,  /* Python ends a recursion of 1,000 frames */
    STACK_LEAST_MATCH = 8, /* so many equal frames in a row are not a coincidence */
};

struct stack_frame {
    uint32_t code, module, line; /* as in def_frame */
};

struct stack_path {
    int n;
    bool cut;
    struct stack_frame at[STACK_DEEPEST];
};

/* Definitions of a process, and how many frames of a stack its recorder took. */
struct stack_source {
    const struct defs_file *defs;
    int most_frames; /* at most STACK_DEEPEST */
};

void stack_path_read(const struct stack_source *from, uint32_t stack, struct stack_path *ret);

bool stack_path_is_cut(const struct stack_source *from, uint32_t stack);

/* "FILE(LINE): FUNCTION" with the line that ran, or "nn.Module: NAME", behind what is in `out`. */
void stack_frame_print(const struct defs_file *defs, const struct stack_frame *f, struct buf *out);

/* The same with the line that the function starts at. */
struct str stack_frame_text(const struct defs_file *defs, const struct stack_frame *f);

/* What the class of a module is known by, from "nn.Module: Linear_0" or "Linear"; never 0. */
uint64_t module_token(struct str name);

bool stack_frame_same_function(const struct stack_frame *a, const struct stack_frame *b);

/* How many outer frames are the same in both, line included. */
int stack_path_common(const struct stack_path *a, const struct stack_path *b);

/* The place in `known` at which `cut` begins: that of the longest match, -1 where none is long
 * enough to be no coincidence. */
int stack_path_find(const struct stack_path *known, const struct stack_path *cut);

/* Puts the first `n` frames of `outer` before those of `p`; as many as there is room for. */
void stack_path_join(struct stack_path *p, const struct stack_path *outer, int n);

/* What is known of a thread before its functions are made rows: stacks that were
 * seen, and what else it did. */

struct stack_seen {
    int64_t begin_ns, end_ns;
    uint64_t src; /* of the record */
    int64_t tid;
    uint32_t process;
    uint32_t stack; /* DEF_FRAME of the process it was seen by, `defs` */
    uint32_t defs;
    bool exact; /* a call that waited, and then the thread went on; else a sample */
};

static inline bool stack_seen_same_thread(const struct stack_seen *a, const struct stack_seen *b)
{
    return a->process == b->process && a->tid == b->tid;
}

struct stack_span {
    int64_t begin_ns, end_ns;
    int64_t tid;
    uint32_t process;
    bool
        called; /* an operator or a call, which functions make; else a range, which may hold some */
    uint64_t module; /* module_token() of the module whose call the range is; 0: of none */
};

struct stack_rows {
    struct stack_seen *seen;
    size_t n_seen, cap_seen;
    struct stack_span *spans;
    size_t n_spans, cap_spans;
};

int stack_rows_see(struct stack_rows *s, const struct stack_seen *seen) MUST_USE;

/* Something else the thread did, which nests with its functions. */
int stack_rows_span(struct stack_rows *s, const struct stack_span *span) MUST_USE;

void stack_rows_done(struct stack_rows *s);

/* Adds the rows of one process, whose rows go to `part`. `period_ns` is the distance of samples;
 * `sources` by the number that stack_seen has as `defs`. */
struct stack_process {
    uint32_t process;
    struct batch_key pid;
    int64_t period_ns;
    const struct stack_source *sources;
};
int stack_rows_add(struct stack_rows *s, const struct stack_process *p,
                   struct batch *part) MUST_USE;

/* span_tree.c: what a thread was doing, nested by time, to ask where a border may lie that is to
 * cut through none of it. */

struct span_node {
    int64_t begin_ns, end_ns;
    uint32_t parent; /* index, or UINT32_MAX */
    bool called;     /* as in stack_span */
    uint64_t module;
};

struct span_tree {
    struct span_node *nodes; /* by begin, longest first */
    size_t n, cap;
};

/* The spans of the process and thread of `who`, taken from all; replaces what was there. */
int span_tree_build(struct span_tree *t, const struct stack_span *all, size_t n,
                    const struct stack_seen *who) MUST_USE;
void span_tree_done(struct span_tree *t);

/* A border of a function that may lie anywhere from `lo` to `hi`: its end, or its beginning. */
struct border {
    int64_t at_ns, lo_ns, hi_ns;
    bool end;
};

/* Where it lies best: where it is, or at the nearest possible edge of the outermost span that it
 * would cut. A function may end inside a range, but not inside an operator that it called. */
int64_t span_tree_border(const struct span_tree *t, const struct border *b);

/* Whether something the thread called, an operator, lasted from `from` to `to`. */
bool span_tree_called(const struct span_tree *t, int64_t from_ns, int64_t to_ns);

/* Whether something that the thread was in at `from` was over at `to`; the outermost of them. */
bool span_tree_ended(const struct span_tree *t, int64_t from_ns, int64_t to_ns,
                     struct span_node *ret);

/* The module calls that last at `at`, outermost first; of more than `most` the inner ones. */
int span_tree_modules(const struct span_tree *t, int64_t at_ns, struct span_node *ret, int most);

/* Moves the borders of something that would overlap a span without nesting: it goes into the span,
 * or around it. Where it was seen allows for neither, it is made shorter by at most `slack_ns`. */
void span_tree_fit(const struct span_tree *t, struct border *begin, struct border *end,
                   int64_t slack_ns);

#endif
