/* torch_inputs.c: see torch_ops.h.
 *
 * std::vector is three pointers in libstdc++. std::string is a pointer and a length where the names
 * of functions that return it carry the tag cxx11, and a pointer to characters behind their length
 * in a torch that was built for the older ABI. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backend/program/ranges.h"
#include "backend/program/torch_ops.h"
#include "backend/program/torch_tensors.h"
#include "base/str.h"
#include "record/defs.h"
#include "record/recorder.h"

enum {
    MOST_INPUTS = 64, /* of one operator: those with more are recorded without */
    MOST_LISTS = 8,
    MOST_LISTED = 1024, /* tensors of all lists */
    MOST_TEXT = 24576,  /* bytes of one description */
    MOST_VALUE = 64,    /* bytes of one number or list of numbers */
    MOST_KINDS =
        1 << 16, /* descriptions of a process: definitions are for kernels and stacks, too */
    SEARCHED_WORDS = 96, /* of a RecordFunction, which has some 60 */
    ENOUGH_CALLS = 4,    /* that agree on where the arguments stand */
    MOST_CALLS = 256,    /* that are compared before the search is given up */
};

struct cpp_vector {
    char *begin, *end, *limit;
};

/* They return a vector or string: where to put it is a hidden first argument. */
static void *(*sizes_of)(struct cpp_vector *ret, const void *function, bool flatten);
static void *(*types_of)(struct cpp_vector *ret, const void *function);
static void *(*text_of)(void *ret, const struct argument *value, bool quoted); /* may be NULL */
static size_t (*count_of)(const void *function);
static void (*drop_text)(void *string), (*drop_memory)(void *memory);
static size_t string_bytes;
static bool new_strings;

static atomic_int place; /* word of a RecordFunction where its arguments stand; 0: not known */
static atomic_int n_agree, n_compared, agreed_place;
static atomic_uint n_kinds;
static atomic_bool refused;
static __thread bool asking __attribute__((tls_model("initial-exec")));

static bool torch_inputs_symbol(void *library, const char *symbol, void *ret)
{
    void *at = dlsym(library, symbol);
    memcpy(ret, &at, sizeof at);
    return at != NULL;
}

static bool torch_inputs_find_strings(void *library)
{
    new_strings = torch_inputs_symbol(
        library, "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE", &types_of);
    if (new_strings) {
        string_bytes = 32;
        torch_inputs_symbol(library, "_ZN5torch8profiler4impl11ivalueToStrB5cxx11ERKN3c106IValueEb",
                            &text_of);
        return torch_inputs_symbol(
            library, "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev", &drop_text);
    }
    string_bytes = sizeof(void *);
    torch_inputs_symbol(library, "_ZN5torch8profiler4impl11ivalueToStrERKN3c106IValueEb", &text_of);
    return torch_inputs_symbol(
               library, "_ZN5torch8profiler4impl10inputTypesERKN2at14RecordFunctionE", &types_of) &&
           torch_inputs_symbol(library, "_ZNSsD1Ev", &drop_text);
}

bool torch_inputs_find(void *library)
{
    (void)torch_tensors_find(library);
    return torch_inputs_symbol(library,
                               "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb",
                               &sizes_of) &&
           torch_inputs_symbol(library, "_ZNK2at14RecordFunction10num_inputsEv", &count_of) &&
           torch_inputs_symbol(library, "_ZdlPv", &drop_memory) &&
           torch_inputs_find_strings(library);
}

/* ---- what torch says ---- */

static struct str torch_inputs_string(const void *string)
{
    const char *p;
    size_t n;
    memcpy(&p, string, sizeof p);
    if (new_strings) memcpy(&n, (const char *)string + sizeof p, sizeof n);
    else memcpy(&n, p - 24, sizeof n);
    return str_from(p, n);
}

struct inputs {
    const void *function;
    size_t n;
    struct cpp_vector sizes, types; /* of vectors of int64_t; of strings */
    size_t lists[MOST_LISTS];       /* the inputs that are lists; */
    size_t n_lists, each;           /* so many of them are of tensors, and so long */
};

static size_t n_sizes(const struct cpp_vector *v)
{
    return (size_t)(v->end - v->begin) / sizeof(struct cpp_vector);
}

static const struct cpp_vector *size_at(const struct inputs *in, size_t i)
{
    return (const struct cpp_vector *)(const void *)in->sizes.begin + i;
}

static struct str type_at(const struct inputs *in, size_t i)
{
    return torch_inputs_string(in->types.begin + i * string_bytes);
}

static void torch_inputs_drop_sizes(struct cpp_vector *v)
{
    for (size_t i = 0; i < n_sizes(v); i++) {
        struct cpp_vector *one = (struct cpp_vector *)(void *)v->begin + i;
        if (one->begin) drop_memory(one->begin);
    }
    if (v->begin) drop_memory(v->begin);
    *v = (struct cpp_vector){0};
}

static void torch_inputs_drop(struct inputs *in)
{
    torch_inputs_drop_sizes(&in->sizes);
    for (char *s = in->types.begin; s < in->types.end; s += string_bytes) drop_text(s);
    if (in->types.begin) drop_memory(in->types.begin);
}

static bool torch_inputs_is_number(struct str type)
{
    return str_is(type, "Int") || str_is(type, "Double") || str_is(type, "Bool");
}

static bool torch_inputs_is_list(struct str type)
{
    return str_ends(type, "List");
}

/* What stands for a tensor without elements, and for what is neither tensor, number nor list. */
static bool torch_inputs_is_none(struct str type)
{
    return type.n == 0 || str_starts(type, "nullptr");
}

static bool torch_inputs_is_tensor(struct str type)
{
    return !torch_inputs_is_none(type) && !torch_inputs_is_number(type) &&
           !torch_inputs_is_list(type);
}

static const struct cpp_vector *flat_at(const struct cpp_vector *flat, size_t i)
{
    return (const struct cpp_vector *)(const void *)flat->begin + i;
}

static bool torch_inputs_same_size(const struct cpp_vector *a, const struct cpp_vector *b)
{
    size_t n = (size_t)(a->end - a->begin);
    return n == (size_t)(b->end - b->begin) && (!n || memcmp(a->begin, b->begin, n) == 0);
}

/* Whether the first `n` lists hold `each` tensors: of the same sizes in all of them. */
static bool torch_inputs_are_alike(const struct inputs *in, const struct cpp_vector *flat, size_t n,
                                   size_t each)
{
    const struct cpp_vector *first = flat_at(flat, in->lists[0]);
    if (n * each > MOST_LISTED || first->begin == first->end) return false;
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < each; k++)
            if (!torch_inputs_same_size(flat_at(flat, in->lists[0] + k),
                                        flat_at(flat, in->lists[i] + i * (each - 1) + k)))
                return false;
    return true;
}

/* Lists among the inputs are of tensors when their parts appear one by one. Whose they are is plain
 * where there is one list only, and where the first ones hold tensors of the same sizes: numbers
 * come after them. */
static void torch_inputs_open_lists(struct inputs *in)
{
    size_t lists = 0, n = 0, each = 0;
    for (size_t i = 0; i < in->n; i++)
        if (torch_inputs_is_list(type_at(in, i)) && lists < MOST_LISTS) in->lists[lists++] = i;
    if (!lists) return;
    struct cpp_vector flat = {0};
    sizes_of(&flat, in->function, true);
    size_t more = n_sizes(&flat) >= in->n ? n_sizes(&flat) - in->n : 0;
    for (n = n_sizes(&flat) >= in->n ? lists : 0; n; n--) {
        each = more / n + 1;
        if (more % n == 0 && torch_inputs_are_alike(in, &flat, n, each)) break;
    }
    struct cpp_vector drop = n ? in->sizes : flat;
    if (n) {
        in->sizes = flat;
        in->n_lists = n;
        in->each = each;
    }
    torch_inputs_drop_sizes(&drop);
}

/* A function of torch that throws (sizes of nested tensors) leaves through here, to where torch
 * catches and logs it: once is enough. */
static bool torch_inputs_ask(struct inputs *in)
{
    if (asking && !atomic_exchange(&refused, true))
        defs_id(DEF_NOTE,
                str_c("torch refused the input shapes of an operator: later operators are "
                      "recorded without shapes"));
    asking = false;
    in->n = count_of(in->function);
    if (atomic_load_explicit(&refused, memory_order_relaxed) || in->n > MOST_INPUTS) return false;
    asking = true;
    sizes_of(&in->sizes, in->function, false);
    types_of(&in->types, in->function);
    bool fit = n_sizes(&in->sizes) == in->n &&
               (size_t)(in->types.end - in->types.begin) == in->n * string_bytes;
    if (fit) torch_inputs_open_lists(in);
    asking = false;
    if (!fit) torch_inputs_drop(in);
    return fit;
}

/* ---- where the arguments stand ---- */

static bool torch_inputs_are_at(const struct inputs *in, uint64_t address)
{
    struct argument a[MOST_INPUTS];
    if (address % 8 || !torch_tensors_peek((const void *)(uintptr_t)address, a, in->n * sizeof *a))
        return false;
    for (size_t i = 0; i < in->n; i++) {
        bool none = torch_inputs_is_none(type_at(in, i));
        bool tensor = torch_inputs_is_tensor(type_at(in, i));
        if (a[i].tag >= MOST_TAG || (!none && (a[i].tag == TAG_TENSOR) != tensor)) return false;
    }
    return true;
}

/* The only word of the RecordFunction that may be the address of its arguments; 0 for none. */
static int torch_inputs_only_place(const struct inputs *in)
{
    uint64_t words[SEARCHED_WORDS];
    int found = 0;
    if (!torch_tensors_peek(in->function, words, sizeof words)) return 0;
    for (int i = 2; i + 1 < SEARCHED_WORDS; i++) {
        if (words[i + 1] != in->n || !torch_inputs_are_at(in, words[i])) continue;
        if (found) return 0;
        found = i;
    }
    return found;
}

/* Calls with a tensor and something else say where. */
static void torch_inputs_compare(const struct inputs *in)
{
    size_t tensors = 0, others = 0;
    for (size_t i = 0; i < in->n; i++) {
        tensors += torch_inputs_is_tensor(type_at(in, i));
        others += torch_inputs_is_number(type_at(in, i)) || torch_inputs_is_list(type_at(in, i));
    }
    if (!tensors || !others || atomic_load(&n_compared) >= MOST_CALLS) return;
    atomic_fetch_add(&n_compared, 1);
    int at = torch_inputs_only_place(in);
    if (!at) return;
    if (atomic_exchange(&agreed_place, at) != at) atomic_store(&n_agree, 0);
    if (atomic_fetch_add(&n_agree, 1) + 1 >= ENOUGH_CALLS) atomic_store(&place, at);
}

/* NULL when they are not known. */
static const struct argument *torch_inputs_arguments(const struct inputs *in, int64_t *ret_sequence)
{
    int at = atomic_load_explicit(&place, memory_order_relaxed);
    if (!at) {
        torch_inputs_compare(in);
        return NULL;
    }
    const uint64_t *words = in->function;
    memcpy(ret_sequence, &words[at - 1], sizeof *ret_sequence);
    return words[at + 1] == in->n ? (const struct argument *)(uintptr_t)words[at] : NULL;
}

/* ---- as text ---- */

struct description {
    size_t n;
    bool full;
    char text[MOST_TEXT];
};

static void describe(struct description *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void describe(struct description *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(d->text + d->n, sizeof d->text - d->n, fmt, ap);
    va_end(ap);
    d->full |= n < 0 || (size_t)n >= sizeof d->text - d->n;
    if (!d->full) d->n += (size_t)n;
}

static void describe_size(struct description *d, const struct cpp_vector *v)
{
    const int64_t *size = (const int64_t *)(const void *)v->begin;
    size_t n = (size_t)(v->end - v->begin) / sizeof *size;
    describe(d, "[");
    for (size_t i = 0; i < n; i++) describe(d, "%s%lld", i ? ", " : "", (long long)size[i]);
    describe(d, "]");
}

/* Whether input `i` is a list of tensors, whose sizes are known. */
static bool torch_inputs_is_opened(const struct inputs *in, size_t i)
{
    for (size_t k = 0; k < in->n_lists; k++)
        if (in->lists[k] == i) return true;
    return false;
}

static void describe_sizes(struct description *d, const struct inputs *in)
{
    size_t at = 0;
    describe(d, "[");
    for (size_t i = 0; i < in->n; i++) {
        bool list = torch_inputs_is_opened(in, i);
        describe(d, i ? ", %s" : "%s", list ? "[" : "");
        for (size_t k = 0; k < (list ? in->each : 1); k++) {
            if (k) describe(d, ", ");
            describe_size(d, size_at(in, at++));
        }
        if (list) describe(d, "]");
    }
    describe(d, "]");
}

/* The words of torch's own profiler. */
static void describe_types(struct description *d, const struct inputs *in)
{
    describe(d, "[");
    for (size_t i = 0; i < in->n; i++) {
        struct str type = type_at(in, i);
        if (torch_inputs_is_none(type)) type = str_c("");
        else if (torch_inputs_is_number(type)) type = str_c("Scalar");
        else if (torch_inputs_is_list(type))
            type = str_c(torch_inputs_is_opened(in, i) ? "TensorList" : "ScalarList");
        describe(d, "%s\"%.*s\"", i ? ", " : "", (int)type.n, type.p);
    }
    describe(d, "]");
}

/* Lists are read where they hold numbers only: torch prints all elements of tensors. */
static void describe_list(struct description *d, const struct argument *a)
{
    char string[32], text[MOST_VALUE];
    if (!text_of) return;
    asking = true;
    text_of(string, a, false);
    asking = false;
    struct str s = torch_inputs_string(string);
    size_t n = 0;
    for (size_t i = 0; s.n < sizeof text && i < s.n; i++)
        if (strchr("[]-, 0123456789TrueFals", s.p[i])) text[n++] = s.p[i];
    if (n == s.n) describe(d, "%.*s", (int)n, text);
    drop_text(string);
}

static void describe_value(struct description *d, struct str type, const struct argument *a,
                           bool lists)
{
    if (str_is(type, "Int")) describe(d, "%lld", (long long)a->integer);
    else if (str_is(type, "Double")) describe(d, "%.9g", a->number);
    else if (str_is(type, "Bool")) describe(d, "%s", a->truth ? "True" : "False");
    else if (lists && torch_inputs_is_list(type)) describe_list(d, a);
}

static void describe_values(struct description *d, const struct inputs *in,
                            const struct argument *a, const char *name)
{
    bool lists = strstr(name, "conv") != NULL;
    describe(d, "[");
    for (size_t i = 0; i < in->n; i++) {
        describe(d, i ? ", \"" : "\"");
        describe_value(d, type_at(in, i), &a[i], lists);
        describe(d, "\"");
    }
    describe(d, "]");
}

static uint32_t torch_inputs_define(const struct description *d)
{
    struct str text = str_from(d->text, d->n);
    uint32_t id = defs_find(DEF_SHAPES, text);
    if (id || d->full || atomic_load_explicit(&n_kinds, memory_order_relaxed) >= MOST_KINDS)
        return id;
    atomic_fetch_add(&n_kinds, 1);
    return defs_id(DEF_SHAPES, text);
}

/* The inputs that are lists, a bit for each. */
static uint64_t torch_inputs_lists(const struct inputs *in)
{
    uint64_t lists = 0;
    for (size_t i = 0; i < in->n; i++)
        if (torch_inputs_is_list(type_at(in, i))) lists |= UINT64_C(1) << i;
    return lists;
}

static void torch_inputs_learn_tensors(const struct inputs *in, const struct argument *a)
{
    for (size_t i = 0; i < in->n && !in->n_lists; i++) {
        const struct cpp_vector *v = size_at(in, i);
        const int64_t *size = (const int64_t *)(const void *)v->begin;
        if (torch_inputs_is_tensor(type_at(in, i)))
            torch_tensors_learn(&a[i], size, (size_t)(v->end - v->begin) / sizeof *size);
    }
}

bool torch_inputs_settled(void)
{
    return torch_tensors_settled() || atomic_load(&n_compared) >= MOST_CALLS ||
           atomic_load(&refused);
}

void torch_inputs_learn(const void *function)
{
    struct inputs in = {.function = function};
    int64_t sequence;
    if (torch_inputs_settled() || !torch_inputs_ask(&in)) return;
    const struct argument *a = torch_inputs_arguments(&in, &sequence);
    if (a) torch_inputs_learn_tensors(&in, a);
    torch_inputs_drop(&in);
}

void torch_inputs_learn_outputs(const void *function)
{
    int at = atomic_load_explicit(&place, memory_order_relaxed);
    if (at) torch_tensors_learn_outputs(function, at);
}

void torch_inputs_put_outputs(const void *function)
{
    int at = atomic_load_explicit(&place, memory_order_relaxed);
    if (at && torch_tensors_known()) torch_tensors_put_outputs(function, at);
}

void torch_inputs_put(const void *function, const char *name, enum torch_inputs_of_what what)
{
    struct inputs in = {.function = function};
    struct description d;
    d.n = 0;
    d.full = false;
    int64_t sequence = -1;
    if (!torch_inputs_ask(&in)) return;
    const struct argument *a = torch_inputs_arguments(&in, &sequence);
    describe_sizes(&d, &in);
    describe(&d, "\t");
    describe_types(&d, &in);
    describe(&d, "\t");
    if (a) describe_values(&d, &in, a, name);
    uint64_t lists = torch_inputs_lists(&in);
    if (a && what == TORCH_INPUTS_TENSORS) torch_inputs_learn_tensors(&in, a);
    torch_inputs_drop(&in);
    struct ring_record r = {.kind = RING_SHAPES, .type = what == TORCH_INPUTS_BACKWARD};
    uint32_t inputs = torch_inputs_define(&d);
    ranges_set_inputs(inputs);
    recorder_put(ring_with_id(r, inputs), sequence >= 0 ? (uint64_t)sequence + 1 : 0);
    if (a && what == TORCH_INPUTS_TENSORS && torch_tensors_known())
        torch_tensors_put_inputs(a, in.n, lists);
}
