/* work_words.h: what a piece of device work is for, by words in the name of its kernel and of the
 * operators and labels around its launch. One table of words for all patterns of work that could be
 * done cheaper; traces without operators are read by the names of kernels alone. */
#ifndef STRATA_ANALYZE_FINDINGS_WORK_WORDS_H
#define STRATA_ANALYZE_FINDINGS_WORK_WORDS_H

#include "analyze/sequence/sequence.h"

enum work_word {
    WORD_SORT,
    WORD_SOFTMAX,
    WORD_SCAN,          /* running sums */
    WORD_WEIGHT_NORM,   /* a weight from its length and direction */
    WORD_DEQUANTIZE,    /* packed weights into numbers */
    WORD_VOLUME_COLUMN, /* a convolution in three dimensions unrolled into a product */
    WORD_IMAGE_COLUMN,  /* the same in two dimensions */
    WORD_BUCKET_COPY,   /* gradients out of the buckets they were reduced in */
    WORD_EMBEDDING_GRADIENT,
    WORD_ONE_HOT,
    WORD_INVERSE,
    WORD_LU_SOLVE, /* columns, with a matrix that was taken apart */
    WORD_SCALE,    /* times a number */
    WORD_ADD,
    WORD_COMPARE, /* are numbers equal, or different */
    WORD_ANY,     /* is any of many true */
    WORDS
};

struct work_words {
    const struct context *cx;
    uint32_t *of_name; /* by str_id: 1 bit per word, and WORK_WORDS_READ */
    uint32_t *of_deep; /* the same of names in units in depth */
    uint32_t *around;  /* by row: of the operators and labels that it is and lies in */
    uint32_t *around_deep;
};

/* Memory from cx->mem. */
int work_words_init(struct work_words *w, const struct context *cx, struct err *e) MUST_USE;

/* 1 << word for each that fits. */
uint32_t work_words_of(struct work_words *w, const struct launched *x);

static inline bool work_words_has(struct work_words *w, const struct launched *x, enum work_word of)
{
    return work_words_of(w, x) >> of & 1;
}

#endif
