/* kernel_name.c: see kernel_name.h. A C++ name is read as
 *
 *     [void ] qualifier :: base < argument, argument ... > ( parameters ) [ :: more ]
 *
 * by counting brackets; no grammar is needed for what is kept. */
#include "analyze/names/kernel_name.h"

#include <ctype.h>

#include "analyze/names/collective.h"
#include "analyze/names/fused_ops.h"

#define DEEPEST 12 /* nested arguments looked at in search of the functor */

/* One (part of a) C++ name taken apart. */
struct name_pieces {
    struct str base;      /* last component of the qualified name */
    struct str arguments; /* between < and >, or .p NULL */
};

static bool is_open(char c)
{
    return c == '<' || c == '(' || c == '{' || c == '[';
}

static bool is_close(char c)
{
    return c == '>' || c == ')' || c == '}' || c == ']';
}

/* Index after the bracket that closes the one at `i`; the end when none does. A > inside (...) that
 * opened no < there compares: "(8)>(0)". */
static size_t skip_bracket(struct str s, size_t i)
{
    char open[64];
    size_t depth = 0;
    for (; i < s.n; i++) {
        char c = s.p[i];
        bool arrow = c == '>' && i && s.p[i - 1] == '-';
        if (is_open(c)) {
            if (depth == sizeof open) return s.n;
            open[depth++] = c;
        } else if (is_close(c) && !arrow && depth && (c == '>') == (open[depth - 1] == '<') &&
                   --depth == 0) {
            return i + 1;
        }
    }
    return s.n;
}

static bool starts_at(struct str s, size_t i, const char *word)
{
    return str_starts(str_from(s.p + i, s.n - i), word);
}

static bool is_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Index of the name after the type that has the arguments at `i`, as in "enable_if<...>::type f<";
 * 0 when they are those of the name itself. */
static size_t kernel_name_after_type(struct str s, size_t i)
{
    size_t end = skip_bracket(s, i);
    while (starts_at(s, end, "::")) {
        end += 2;
        while (end < s.n && is_identifier(s.p[end])) end++;
    }
    if (end + 1 >= s.n || s.p[end] != ' ' || starts_at(s, end, " const")) return 0;
    return is_identifier(s.p[end + 1]) ? end + 1 : 0;
}

static struct name_pieces kernel_name_take_apart(struct str s)
{
    struct name_pieces p = {.base = {s.p, 0}};
    size_t i = 0, begin = 0, next;
    while (i < s.n) {
        if (starts_at(s, i, "(anonymous namespace)")) i += strlen("(anonymous namespace)");
        else if (starts_at(s, i, "::")) begin = i += 2;
        else if (s.p[i] == ' ' && !p.arguments.p) begin = ++i; /* a return type or "const" */
        else if (s.p[i] == '<' && (next = kernel_name_after_type(s, i)) > 0) begin = i = next;
        else if (s.p[i] == '<' || s.p[i] == '(' || s.p[i] == '{') break;
        else i++;
    }
    p.base = str_from(s.p + begin, i - begin);
    if (i < s.n && s.p[i] == '<') {
        size_t end = skip_bracket(s, i);
        p.arguments = str_from(s.p + i + 1, end - i - (end > i + 1 ? 2 : 1));
    }
    return p;
}

/* The next of the comma-separated arguments, from *at on; .p is NULL at the end. */
static struct str next_argument(struct str s, size_t *at)
{
    size_t begin = *at, i = begin;
    if (begin >= s.n) return (struct str){NULL, 0};
    while (i < s.n && s.p[i] != ',') i = is_open(s.p[i]) ? skip_bracket(s, i) : i + 1;
    *at = i + 1;
    return str_trim(str_from(s.p + begin, i - begin));
}

static bool is_word_in(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_is(s, *words)) return true;
    return false;
}

/* Types and sizes: they vary without changing what the kernel does. */
static bool kernel_name_says_nothing(struct str word)
{
    static const char *const types[] = {
        "",
        "bool",
        "char",
        "signed",
        "unsigned",
        "short",
        "int",
        "long",
        "float",
        "double",
        "half",
        "Half",
        "BFloat16",
        "void",
        "array",
        "Array",
        "complex",
        "__half",
        "true",
        "false",
        "float4",
        "uint",
        "tuple",
        "pair",
        "Policy",
        "uint8_t",
        "uint32_t",
        "int64_t",
        "integral_constant",
        "bfloat16_t",
        "__nv_bfloat16",
        "half_t",
        "int8_t",
        "Float8_e4m3fn",
        "Float8_e5m2",
        "OpaqueType",
        NULL,
    };
    return !word.n || isdigit((unsigned char)word.p[0]) || word.p[0] == '-' ||
           is_word_in(word, types);
}

/* Wrappers around the functor: look inside. */
static bool is_wrapper(struct str word)
{
    static const char *const wrappers[] = {
        "gpu_kernel_impl",
        "gpu_kernel_impl_nocast",
        "BinaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "ReduceOp",
        "func_wrapper_t",
        "opmath_gpu_kernel_with_scalars",
        "opmath_symmetric_gpu_kernel_with_scalars",
        "Kernel",
        "device_kernel",
        "GemmUniversal",
        "DefaultPolicy",
        "policy_hub",
        "gpu_kernel_with_index",
        "distribution_nullary_kernel",
        "normal_and_transform",
        NULL,
    };
    return is_word_in(word, wrappers);
}

/* With the namespace around it, where the word alone is the same for many kernels. */
static struct str kernel_name_told_apart(struct str arg, struct name_pieces p)
{
    if (!str_is(p.base, "GemmKernel") || p.base.p - arg.p < 3) return p.base;
    const char *at = p.base.p - 2;
    while (at > arg.p && is_identifier(at[-1])) at--;
    return str_from(at, (size_t)(p.base.p + p.base.n - at));
}

/* The first word inside the arguments that says what is done; empty when there is none. */
static struct str find_functor(struct str arguments, int depth)
{
    size_t at = 0;
    struct str arg;
    while (depth < DEEPEST && (arg = next_argument(arguments, &at)).p) {
        struct name_pieces p = kernel_name_take_apart(arg);
        if (p.arguments.p && is_wrapper(p.base)) {
            struct str inner = find_functor(p.arguments, depth + 1);
            if (inner.n) return inner;
        } else if (!kernel_name_says_nothing(p.base)) {
            return kernel_name_told_apart(arg, p);
        }
    }
    return (struct str){"", 0};
}

/* The last part of a mangled name that could not be demangled: of _ZN4vllm10add_kernelI... it is
 * add_kernel. Empty where the name is not of that form. */
static struct str kernel_name_of_mangled(struct str name)
{
    struct str last = {"", 0};
    size_t i = 2;
    if (!str_starts(name, "_Z")) return last;
    if (i < name.n && name.p[i] == 'N') i++;
    while (i < name.n && isdigit((unsigned char)name.p[i])) {
        size_t n = 0;
        while (i < name.n && isdigit((unsigned char)name.p[i]) && n < name.n)
            n = 10 * n + (size_t)(name.p[i++] - '0');
        if (!n || n > name.n - i) break;
        last = str_from(name.p + i, n);
        i += n;
    }
    return last;
}

/* Names of libraries that list every setting of a kernel: what it multiplies and its tile tell it
 * apart, the rest does not. */
static const struct {
    const char *start, *tile;
} listing[] = {{"Cijk_", "_MT"}, {"sm80_xmma_", "_tilesize"}, {"sm90_xmma_", "_tilesize"}};

/* Up to the types, and the tile; false for other names. */
static bool kernel_name_add_tile(struct str name, struct buf *out)
{
    for (size_t k = 0; k < sizeof listing / sizeof *listing; k++) {
        size_t n = strlen(listing[k].tile), at = 0, end;
        if (!str_starts(name, listing[k].start)) continue;
        while (at < name.n && !(starts_at(name, at, listing[k].tile) && at + n < name.n &&
                                isdigit((unsigned char)name.p[at + n])))
            at++;
        if (at == name.n) return false;
        for (end = at + n; end < name.n && name.p[end] != '_';) end++;
        size_t types = at;
        for (size_t i = 0, bars = 0; i < at && listing[k].start[0] == 'C'; i++)
            if (name.p[i] == '_' && ++bars == 4) types = i;
        buf_add_str(out, str_from(name.p, types));
        buf_add_str(out, str_from(name.p + at, end - at));
        if (str_has(name, "split_k")) buf_adds(out, "_split_k");
        return true;
    }
    return false;
}

/* Only what looks like C++: "Memcpy HtoD (Pinned -> Device)" and triton_red_fused_0 do not. */
static bool is_cpp(struct str name)
{
    return str_has(name, "::") || str_has(name, "<") || str_starts(name, "void ") ||
           (str_ends(name, ")") && !str_has(name, " ("));
}

/* Names of generated kernels begin alike; what tells them apart comes after that. */
static void kernel_name_add_plain(struct str name, struct buf *out)
{
    static const char generated[] = "cudnn_generated_fort_native_";
    if (fused_ops_short(name, out)) return;
    bool long_name = str_starts(name, generated);
    if (long_name) buf_adds(out, "cudnn_");
    size_t skip = long_name ? strlen(generated) : 0;
    buf_add_str(out, str_from(name.p + skip, name.n - skip));
}

void kernel_name_short(struct str name, struct buf *out)
{
    struct name_pieces p = kernel_name_take_apart(name);
    struct str mangled = kernel_name_of_mangled(name);
    if (mangled.n) {
        buf_add_str(out, mangled);
        return;
    }
    if (kernel_name_add_tile(name, out)) return;
    if (!is_cpp(name) || !p.base.n) {
        kernel_name_add_plain(name, out);
        return;
    }
    buf_add_str(out, p.base);
    struct str functor = p.arguments.p ? find_functor(p.arguments, 0) : (struct str){"", 0};
    if (!functor.n) return;
    buf_addc(out, '<');
    buf_add_str(out, functor);
    buf_addc(out, '>');
}

bool kernel_name_read(struct demangler *d, struct str *name, struct str *ret_short,
                      struct arena *mem)
{
    struct buf b;
    buf_init(&b);
    if (demangle(d, *name, &b)) *name = str_from(arena_strdup(mem, buf_str(&b)), b.n);
    buf_reset(&b);
    if (name->p) kernel_name_short(*name, &b);
    *ret_short = str_from(arena_strdup(mem, buf_str(&b)), b.n);
    bool failed = !buf_ok(&b) || !name->p || !ret_short->p;
    buf_done(&b);
    return failed;
}

static const char *const family_names[FAMILY_COUNT] = {
    [FAMILY_OTHER] = "other",
    [FAMILY_GEMM] = "gemm",
    [FAMILY_CONV] = "conv",
    [FAMILY_ATTENTION] = "attention",
    [FAMILY_ELEMENTWISE] = "elementwise",
    [FAMILY_REDUCTION] = "reduction",
    [FAMILY_NORM] = "norm",
    [FAMILY_COPY] = "copy",
    [FAMILY_MEMSET] = "memset",
    [FAMILY_TRITON] = "triton",
    [FAMILY_COMMUNICATION] = "communication",
};

const char *kernel_family_name(enum kernel_family f)
{
    return family_names[f];
}

/* The first word found in the name decides; so the more telling ones come first. */
static const struct {
    const char *word;
    enum kernel_family family;
} words[] = {
    {"triton_", FAMILY_TRITON},
    {"flash", FAMILY_ATTENTION},
    {"fmha", FAMILY_ATTENTION},
    {"attention", FAMILY_ATTENTION},
    {"attn", FAMILY_ATTENTION},
    {"sdpa", FAMILY_ATTENTION},
    {"fprop", FAMILY_CONV},
    {"dgrad", FAMILY_CONV},
    {"wgrad", FAMILY_CONV},
    {"convolve", FAMILY_CONV},
    {"conv2d", FAMILY_CONV},
    {"winograd", FAMILY_CONV},
    {"layer_norm", FAMILY_NORM},
    {"layernorm", FAMILY_NORM},
    {"rms_norm", FAMILY_NORM},
    {"rmsnorm", FAMILY_NORM},
    {"group_norm", FAMILY_NORM},
    {"groupnorm", FAMILY_NORM},
    {"batch_norm", FAMILY_NORM},
    {"batchnorm", FAMILY_NORM},
    {"bn_fw", FAMILY_NORM},
    {"bn_bw", FAMILY_NORM},
    {"rowwisemoments", FAMILY_NORM},
    {"gemm", FAMILY_GEMM},
    {"gemv", FAMILY_GEMM},
    {"nvjet", FAMILY_GEMM},
    {"cublas", FAMILY_GEMM},
    {"cutlass", FAMILY_GEMM},
    {"cijk_", FAMILY_GEMM},
    {"splitk", FAMILY_GEMM},
    {"matmul", FAMILY_GEMM},
    {"xmma", FAMILY_GEMM},
    {"s16816", FAMILY_GEMM},
    {"softmax", FAMILY_REDUCTION},
    {"catarray", FAMILY_COPY},
    {"direct_copy", FAMILY_COPY},
    {"copy_kernel", FAMILY_COPY},
    {"transpose", FAMILY_COPY},
    {"elementwise", FAMILY_ELEMENTWISE},
    {"multi_tensor_apply", FAMILY_ELEMENTWISE},
    {"reduce", FAMILY_REDUCTION},
    {"scan", FAMILY_REDUCTION},
    {"argmax", FAMILY_REDUCTION},
    {"topk", FAMILY_REDUCTION},
    {"sort", FAMILY_REDUCTION},
    {"fill", FAMILY_ELEMENTWISE},
};

/* Whether `name` contains `word`, which is in lower case, in any case. */
static bool kernel_name_has_word(struct str name, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= name.n; i++) {
        size_t k = 0;
        while (k < n && tolower((unsigned char)name.p[i + k]) == word[k]) k++;
        if (k == n) return true;
    }
    return false;
}

enum kernel_family kernel_family(enum row_kind kind, struct str name)
{
    if (kind == KIND_MEMCPY) return FAMILY_COPY;
    if (kind == KIND_MEMSET) return FAMILY_MEMSET;
    if (collective_kernel(name)) return FAMILY_COMMUNICATION;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kernel_name_has_word(name, words[i].word)) return words[i].family;
    return FAMILY_OTHER;
}

bool kernel_is_backward(struct str name)
{
    static const char *const gradients[] = {"backward", "bwd", "bprop", "grad"};
    for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++)
        if (kernel_name_has_word(name, gradients[i])) return true;
    return false;
}
