/* order.c: a least-significant-digit radix sort of row numbers; the keys stay where they are. */
#include "export/export_private.h"

#include "base/mem.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static uint64_t largest_src(const struct trace *t)
{
    uint64_t most = 0;
    for (row_t r = 0; r < t->n_rows; r++) most = t->src[r] > most ? t->src[r] : most;
    return most;
}

/* One stable pass over the digit at `shift`. */
static void order_pass(const struct trace *t, const row_t *from, row_t *to, int shift)
{
    uint32_t at[DIGITS] = {0};
    for (row_t i = 0; i < t->n_rows; i++) at[t->src[i] >> shift & (DIGITS - 1)]++;
    uint32_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t n = at[d];
        at[d] = sum;
        sum += n;
    }
    for (row_t i = 0; i < t->n_rows; i++)
        to[at[t->src[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

row_t *order_by_src(const struct trace *t)
{
    row_t *rows = mem_alloc(t->n_rows * sizeof *rows);
    row_t *spare = mem_alloc(t->n_rows * sizeof *spare);
    if (!rows || !spare) {
        mem_free(rows);
        mem_free(spare);
        return NULL;
    }
    for (row_t r = 0; r < t->n_rows; r++) rows[r] = r;
    uint64_t most = largest_src(t);
    for (int shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
        order_pass(t, rows, spare, shift);
        row_t *sorted = spare;
        spare = rows;
        rows = sorted;
    }
    mem_free(spare);
    return rows;
}
