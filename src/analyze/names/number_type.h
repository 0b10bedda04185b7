/* number_type.h: what the numbers of a tensor are, as operators and kernel names have it. */
#ifndef STRATA_ANALYZE_NAMES_NUMBER_TYPE_H
#define STRATA_ANALYZE_NAMES_NUMBER_TYPE_H

#include "base/str.h"

enum number_type {
    NUMBER_UNKNOWN,
    NUMBER_F64,
    NUMBER_F32,
    NUMBER_F16,
    NUMBER_BF16,
    NUMBER_F8,
    NUMBER_I64,
    NUMBER_I32,
    NUMBER_I16,
    NUMBER_I8,
    NUMBER_BOOL,
    NUMBER_C64, /* two of F32 */
    NUMBER_C128,
    NUMBER_TYPES
};

/* From the type of an input: "c10::BFloat16", "float", "long int"; or of a message: "Float". */
enum number_type number_type_of(struct str text);

/* The first type of floating-point numbers that a kernel's name mentions. */
enum number_type number_type_in(struct str kernel);

const char *number_type_name(enum number_type t); /* "bf16", "float32" ...; "unknown" */
double number_bytes(enum number_type t);          /* 0 when not known */

static inline int number_is_half(enum number_type t)
{
    return t == NUMBER_F16 || t == NUMBER_BF16;
}

#endif
