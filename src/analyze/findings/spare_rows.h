/* spare_rows.h: tables of work that need not be done. A row has what is said of one kind of it and
 * how it is found; the rules settings, repeated_work and cheaper_way are such tables.
 *
 * A finder looks through the launches of the trace (sequence.h), puts what would go into `spare`,
 * and says why; with an empty `spare` it has found nothing. What would not be noticed is not
 * reported. */
#ifndef STRATA_ANALYZE_FINDINGS_SPARE_ROWS_H
#define STRATA_ANALYZE_FINDINGS_SPARE_ROWS_H

#include "analyze/findings/spare.h"
#include "analyze/findings/work_words.h"

enum { SPARE_OP_LEVELS = 8 }; /* operators of torch call each other no deeper */

struct spare_search {
    const struct context *cx;
    struct work_words *words;
    struct spare spare;
    const char *why;
    double doubt; /* of the finding */
};

struct spare_row {
    const char *title;
    const char *subject; /* NULL: the place of the longest kernel */
    const char *fix, *not_fixed;
    const char *tries; /* fix of `strata try`, or NULL */
    const char *show;
    enum effort effort;
    const char *off[3]; /* settings without which it cannot be; no finding where all are known to
                           be off */
    int (*find)(struct spare_search *x, struct err *e);
};

/* Adds a finding of the rule for each of `n` rows that finds something. */
int spare_rows_run(const struct context *cx, const struct rule *rule, const struct spare_row *rows,
                   size_t n, struct findings *out, struct err *e) MUST_USE;

/* noted_settings.c: settings that our recorder has read in the process and that leave too little in
 * the timeline to be priced. Adds a finding without a gain for each that matters here. */
int noted_settings_run(const struct context *cx, const struct rule *rule, struct findings *out,
                       struct err *e) MUST_USE;

/* Forgets what was found. */
void spare_search_drop(struct spare_search *x);

/* ---- the finders ---- */

int nan_checks_find(struct spare_search *x, struct err *e) MUST_USE;
int recomputed_find(struct spare_search *x, struct err *e) MUST_USE;
int top_p_find(struct spare_search *x, struct err *e) MUST_USE;
int sorted_for_few_find(struct spare_search *x, struct err *e) MUST_USE;
int colliding_adds_find(struct spare_search *x, struct err *e) MUST_USE;
int adapters_find(struct spare_search *x, struct err *e) MUST_USE;
int image_columns_find(struct spare_search *x, struct err *e) MUST_USE;
int weight_norms_find(struct spare_search *x, struct err *e) MUST_USE;
int dequantized_find(struct spare_search *x, struct err *e) MUST_USE;
int bucket_copies_find(struct spare_search *x, struct err *e) MUST_USE;
int volume_columns_find(struct spare_search *x, struct err *e) MUST_USE;
int embedding_gradients_find(struct spare_search *x, struct err *e) MUST_USE;
int uncached_passes_find(struct spare_search *x, struct err *e) MUST_USE;
int conv_searches_find(struct spare_search *x, struct err *e) MUST_USE;
int wide_losses_find(struct spare_search *x, struct err *e) MUST_USE;
int zeroed_gradients_find(struct spare_search *x, struct err *e) MUST_USE;
int unused_gradients_find(struct spare_search *x, struct err *e) MUST_USE;
int product_order_find(struct spare_search *x, struct err *e) MUST_USE;
int one_hot_find(struct spare_search *x, struct err *e) MUST_USE;
int unpacked_weights_find(struct spare_search *x, struct err *e) MUST_USE;
int inverses_find(struct spare_search *x, struct err *e) MUST_USE;
int unread_rows_find(struct spare_search *x, struct err *e) MUST_USE;
int filled_empty_find(struct spare_search *x, struct err *e) MUST_USE;
int blocking_launches_find(struct spare_search *x, struct err *e) MUST_USE;
int uncached_memory_find(struct spare_search *x, struct err *e) MUST_USE;
int thread_setups_find(struct spare_search *x, struct err *e) MUST_USE;
int micro_steps_find(struct spare_search *x, struct err *e) MUST_USE;
int same_inputs_find(struct spare_search *x, struct err *e) MUST_USE;

#endif
