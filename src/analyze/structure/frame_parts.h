/* frame_parts.h: which Python frames are parts of the program that a person would name.
 *
 * A trace with stacks has a frame for every function, most of them between two that matter:
 *
 *     main > decorate_context > generate > _sample > LlamaForCausalLM > _call_impl > wrapper >
 *     forward > LlamaModel ...
 *     is read as: generate > LlamaForCausalLM > LlamaModel
 *
 * Calls of modules and of the user's functions that hold a share of the time are parts. Of
 * functions that do nothing but call one another, one is taken: the module, else the outermost
 * that is not private. Functions around the whole recording are none. */
#ifndef STRATA_ANALYZE_STRUCTURE_FRAME_PARTS_H
#define STRATA_ANALYZE_STRUCTURE_FRAME_PARTS_H

#include "analyze/names/source_place.h"

struct frame_part {
    row_t row;
    struct str name; /* "LlamaDecoderLayer", "generate", "pipeline_flux2" */
    bool module;
};

struct frame_parts {
    struct frame_part *list; /* by row */
    uint32_t n;
};

/* None in traces without stacks, or whose stacks are samples: those do not separate one call from
 * the next. Memory from `mem`. */
int frame_parts_find(const struct trace *t, struct source_places *places, struct arena *mem,
                     struct frame_parts *ret, struct err *e) MUST_USE;

#endif
