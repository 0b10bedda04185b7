/* serving_label.h: what servers of language models write around one round of their engine:
 *
 *     step[DECODE bs=32]                                              SGLang
 *     execute_32_context_0(sq0sk0...)_generation_32(sq32sk32785...)   vLLM
 */
#ifndef STRATA_ANALYZE_NAMES_SERVING_LABEL_H
#define STRATA_ANALYZE_NAMES_SERVING_LABEL_H

#include <stdint.h>

#include "base/str.h"

enum serving_phase { SERVING_NONE, SERVING_PREFILL, SERVING_DECODE, SERVING_MIXED };

struct serving_label {
    enum serving_phase phase;
    int64_t requests; /* of the round: those that decode bring one token each; -1 unknown */
    int64_t decoding; /* of them */
};

/* phase is SERVING_NONE for any other name. */
struct serving_label serving_label_of(struct str name);

const char *serving_phase_name(enum serving_phase p); /* "prefill", "decode", "mixed" */

#endif
