/* number_type.c: see number_type.h. */
#include "analyze/names/number_type.h"

static const struct {
    const char *name;
    double bytes;
} types[NUMBER_TYPES] = {
    [NUMBER_UNKNOWN] = {"unknown", 0},  [NUMBER_F64] = {"float64", 8},
    [NUMBER_F32] = {"float32", 4},      [NUMBER_F16] = {"fp16", 2},
    [NUMBER_BF16] = {"bf16", 2},        [NUMBER_F8] = {"fp8", 1},
    [NUMBER_I64] = {"int64", 8},        [NUMBER_I32] = {"int32", 4},
    [NUMBER_I16] = {"int16", 2},        [NUMBER_I8] = {"int8", 1},
    [NUMBER_BOOL] = {"bool", 1},        [NUMBER_C64] = {"complex64", 8},
    [NUMBER_C128] = {"complex128", 16},
};

struct word {
    const char *text;
    enum number_type type;
};

static enum number_type first_in(struct str s, const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_has(s, words[i].text)) return words[i].type;
    return NUMBER_UNKNOWN;
}

enum number_type number_type_of(struct str text)
{
    static const struct word words[] = {
        {"BFloat16", NUMBER_BF16},
        {"Half", NUMBER_F16},
        {"Float8", NUMBER_F8},
        {"complex<float>", NUMBER_C64},
        {"complex<double>", NUMBER_C128},
        {"ComplexFloat", NUMBER_C64},
        {"ComplexDouble", NUMBER_C128},
        {"double", NUMBER_F64},
        {"float", NUMBER_F32},
        {"long", NUMBER_I64},
        {"short", NUMBER_I16},
        {"int", NUMBER_I32},
        {"bool", NUMBER_BOOL},
        {"char", NUMBER_I8},
        /* as torch names them in messages: */
        {"Double", NUMBER_F64},
        {"Float", NUMBER_F32},
        {"Long", NUMBER_I64},
        {"Short", NUMBER_I16},
        {"Int", NUMBER_I32},
        {"Bool", NUMBER_BOOL},
        {"Char", NUMBER_I8},
        {"Byte", NUMBER_I8},
    };
    return first_in(text, words, sizeof words / sizeof *words);
}

/* The word that stands first in the name counts: functors say what they read first. */
enum number_type number_type_in(struct str kernel)
{
    static const struct word words[] = {
        {"BFloat16", NUMBER_BF16}, {"bfloat16", NUMBER_BF16},     {"bf16", NUMBER_BF16},
        {"c10::Half", NUMBER_F16}, {"__half", NUMBER_F16},        {"half_t", NUMBER_F16},
        {"f16f16", NUMBER_F16},    {"Float8", NUMBER_F8},         {"e4m3", NUMBER_F8},
        {"double", NUMBER_F64},    {"float", NUMBER_F32},         {"f32f32", NUMBER_F32},
        {"sgemm", NUMBER_F32},     {"_tst_", NUMBER_BF16},        {"_hsh_", NUMBER_F16},
        {"_sss_", NUMBER_F32},     {"OpaqueType<2", NUMBER_BF16}, {"OpaqueType<4", NUMBER_F32},
    };
    for (size_t i = 0; i < kernel.n; i++) {
        struct str rest = str_from(kernel.p + i, kernel.n - i);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (str_starts(rest, words[w].text)) return words[w].type;
    }
    return NUMBER_UNKNOWN;
}

const char *number_type_name(enum number_type t)
{
    return types[t].name;
}

double number_bytes(enum number_type t)
{
    return types[t].bytes;
}
