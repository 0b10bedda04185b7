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
 * Stacks deeper than the recorder takes lack their outer frames (stack_path.h): the functions that
 * were open go on around them.
 *
 * All of a run's processes share one: two recorders of one process see the same threads. */
#ifndef STRATA_IMPORT_STACK_ROWS_H
#define STRATA_IMPORT_STACK_ROWS_H

#include "import/stack_path.h"
#include "import/stack_span.h"
#include "trace/build.h"

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
    struct part_key pid;
    int64_t period_ns;
    const struct stack_source *sources;
};
int stack_rows_add(struct stack_rows *s, const struct stack_process *p, struct part *part) MUST_USE;

#endif
