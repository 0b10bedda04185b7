/* marked_work.c: work that its words alone show to be spare (work_words.h): all of it goes, with
 * the time of the thread that launches it. Most rows of the tables are of this kind. */
#include "analyze/findings/spare_rows.h"
#include "analyze/names/calls.h"
#include "analyze/recorded/process_settings.h"
#include "base/human.h"

enum marked_where {
    MARKED_ANYWHERE,
    MARKED_INFERENCE, /* only in traces in which nothing runs backward */
};

struct marked {
    enum work_word word;
    enum marked_where where;
    const char *what; /* goes on after "12 times"; the GPU time follows */
};

/* A graph is launched as a whole: of it only the work goes. */
static int marked_work_cut(struct spare_search *x, uint32_t first, uint32_t last, struct err *e)
{
    const struct launched *items = sequence_of(x->cx)->items;
    const struct calls *c = calls_of(x->cx);
    if (calls_kind(c, x->cx->t, items[first].call) == CALL_GRAPH_LAUNCH ||
        calls_kind(c, x->cx->t, items[last].call) == CALL_GRAPH_LAUNCH)
        return 0;
    return spare_cut(&x->spare, x->cx, items[first].thread,
                     spare_launching(x->cx, items[first].call, items[last].call), e);
}

/* The end of the row of such work that begins with item `i`; `i` where none does. */
static uint32_t marked_work_end(struct spare_search *x, enum work_word word, uint32_t i)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t end = i;
    while (end < s->n && s->items[end].unit == s->items[i].unit &&
           s->items[end].thread == s->items[i].thread &&
           work_words_has(x->words, &s->items[end], word))
        end++;
    return end;
}

static int marked_work_find(struct spare_search *x, const struct marked *m, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    if (m->where == MARKED_INFERENCE && s->trains) return 0;
    for (uint32_t i = 0; i < s->n;) {
        uint32_t end = marked_work_end(x, m->word, i);
        for (uint32_t k = i; k < end; k++) TRY(spare_drop(&x->spare, x->cx, s->items[k].work, e));
        if (end > i) TRY(marked_work_cut(x, i, end - 1, e));
        n += end > i;
        i = end > i ? end : i + 1;
    }
    x->why = rule_text(x->cx, "%s times %s (%s of GPU time).", human_count(n).s, m->what,
                       human_time(x->spare.fix.before_ns).s);
    return 0;
}

int weight_norms_find(struct spare_search *x, struct err *e)
{
    static const struct marked m = {WORD_WEIGHT_NORM, MARKED_INFERENCE,
                                    "a weight is computed from its length and its direction, with "
                                    "the same result every time"};
    return marked_work_find(x, &m, e);
}

int dequantized_find(struct spare_search *x, struct err *e)
{
    static const struct marked m = {WORD_DEQUANTIZE, MARKED_INFERENCE,
                                    "packed weights are unpacked into memory before the product "
                                    "that reads them, with the same result every time"};
    return marked_work_find(x, &m, e);
}

int bucket_copies_find(struct spare_search *x, struct err *e)
{
    static const struct marked m = {WORD_BUCKET_COPY, MARKED_ANYWHERE,
                                    "gradients are copied out of the buckets in which they were "
                                    "reduced"};
    return marked_work_find(x, &m, e);
}

int volume_columns_find(struct spare_search *x, struct err *e)
{
    static const struct marked m = {WORD_VOLUME_COLUMN, MARKED_ANYWHERE,
                                    "the input of a convolution in three dimensions is unrolled in "
                                    "memory, because torch uses its own slow path"};
    return marked_work_find(x, &m, e);
}

/* Programs that take pictures apart themselves (unfold) run the same kernels, so only where the
 * recording says that cuDNN is off. */
int image_columns_find(struct spare_search *x, struct err *e)
{
    static const struct marked m = {WORD_IMAGE_COLUMN, MARKED_ANYWHERE,
                                    "the input of a convolution is unrolled in memory, because "
                                    "torch uses its own slow path without cuDNN"};
    if (!process_settings_off(process_settings_of(x->cx), "cudnn_enabled")) return 0;
    return marked_work_find(x, &m, e);
}
