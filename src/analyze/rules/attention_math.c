/* attention_math.c: see attention_math.h. */
#include "analyze/rules/attention_math.h"

/* Kernels before the first product, at most: the operands are converted and laid out, two of them
 * scaled, and the mask is made. */
enum part { PART_COPY, PART_SCALE, PART_MASK, PARTS, PART_NONE = PARTS };

static const uint8_t most[PARTS] = {[PART_COPY] = 6, [PART_SCALE] = 2, [PART_MASK] = 8};

static enum part part_of(struct str name)
{
    static const struct {
        const char *word;
        enum part part;
    } words[] = {{"copy_kernel", PART_COPY},  {"MulFunctor", PART_SCALE},
                 {"FillFunctor", PART_MASK},  {"triu_tril", PART_MASK},
                 {"where_kernel", PART_MASK}, {"masked_fill", PART_MASK}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_has(name, words[i].word)) return words[i].part;
    return PART_NONE;
}

bool attention_is_math(const struct trace *t, struct attention_rows a)
{
    for (row_t r = a.begin; r < a.end; r++)
        if (str_has(trace_name(t, r), "isneginf")) return true;
    return false;
}

struct attention_rows attention_whole_math(const struct trace *t, struct attention_rows a,
                                           struct attention_rows stream)
{
    uint8_t n[PARTS] = {0};
    while (a.begin > stream.begin) {
        enum part p = part_of(trace_name(t, a.begin - 1));
        if (p == PART_NONE || n[p] == most[p]) break;
        n[p]++;
        a.begin--;
    }
    bool converts = n[PART_COPY] >= 3; /* each operand: so is the result */
    if (converts && a.end < stream.end && part_of(trace_name(t, a.end)) == PART_COPY) a.end++;
    return a;
}
