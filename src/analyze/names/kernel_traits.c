/* kernel_traits.c: see kernel_name.h. */
#include "analyze/names/kernel_name.h"

#include <stdlib.h>

static bool kernel_traits_has_any(struct str name, const char *const *words)
{
    for (; *words; words++)
        if (str_has(name, *words)) return true;
    return false;
}

/* Kernels of cuBLAS, CUTLASS, cuDNN and MAGMA carry their arithmetic in their names. */
static bool is_plain_float(struct str name)
{
    static const char *const plain[] = {"sgemm",
                                        "_simt_",
                                        "_ffma_",
                                        "scudnn",
                                        "gemmSN_",
                                        "gemm_f32f32_f32f32",
                                        "f32f32_f32f32_f32_",
                                        "implicit_convolve_sgemm",
                                        NULL};
    static const char *const others[] = {"tensorop", "tf32", "TF32", "bf16", "BFloat16", NULL};
    return kernel_traits_has_any(name, plain) && !kernel_traits_has_any(name, others);
}

static bool is_layout(struct str name)
{
    static const char *const words[] = {"nchwToNhwc", "nhwcToNchw",         "nchw2nhwc",
                                        "nhwc2nchw",  "nhwcAddPadding",     "nchwAddPadding",
                                        "NCHWToNHWC", "batched_transpose_", NULL};
    return kernel_traits_has_any(name, words);
}

/* The whole number after `mark`; 0 when it is not there. */
static int number_after(struct str name, const char *mark)
{
    long at = str_find(name, mark);
    if (at < 0) return 0;
    size_t i = (size_t)at + strlen(mark);
    int n = 0;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < 10000; i++)
        n = n * 10 + (name.p[i] - '0');
    return n;
}

/* Tensors of a kernel that does not list its pointers: its functor's arguments and the result. */
static int functor_tensors(struct str name)
{
    static const char *const two[] = {"AUnaryFunctor", "BUnaryFunctor", "OnSelf_add", NULL};
    static const char *const three[] = {"BinaryFunctor", "CUDAFunctor_add", NULL};
    if (kernel_traits_has_any(name, two)) return 2;
    if (kernel_traits_has_any(name, three)) return 3;
    for (size_t i = 0; i < name.n; i++) {
        struct str rest = str_from(name.p + i, name.n - i);
        if (!str_starts(rest, "{lambda(") || str_starts(rest, "{lambda()")) continue;
        if (str_starts(rest, "{lambda(int)")) continue; /* the loop around the functor */
        long end = str_find(rest, ")");
        int n = 2;
        for (long k = 0; k < end; k++) n += rest.p[k] == ',';
        return end < 0 ? 0 : n; /* not of a name that is cut off */
    }
    return 0;
}

/* Functions that take more than a few instructions for an element. */
static int instructions_of(struct str name)
{
    static const char *const special[] = {"tanh", "_sin_", "_cos_",   "sin_kernel", "cos_kernel",
                                          "erf",  "Gelu",  "dropout", "softplus",   NULL};
    static const char *const exponents[] = {"exp_",       "exp_kernel", "sigmoid",    "silu",
                                            "log_kernel", "log1p",      "elu_kernel", NULL};
    static const char *const roots[] = {"Div", "sqrt", "pow", "reciprocal", NULL};
    return kernel_traits_has_any(name, special)     ? 16
           : kernel_traits_has_any(name, exponents) ? 12
           : kernel_traits_has_any(name, roots)     ? 8
                                                    : 2;
}

/* "cupy_multiply__float32_float_float32": what is read, and last what is written; a "float" is a
 * number of Python's. A thread takes one element. */
static void read_cupy(struct str name, struct kernel_traits *k)
{
    long at = str_find(name, "__");
    if (at < 0) return;
    k->library = k->exact = true;
    k->per_thread = 1;
    k->instructions = instructions_of(name);
    for (size_t i = (size_t)at + 2; i + 1 < name.n; i++) k->tensors += name.p[i] == '_';
    k->tensors++;
}

static void read_elementwise(struct str name, struct kernel_traits *k)
{
    k->library = true;
    k->instructions = instructions_of(name);
    int pointers = number_after(name, "rray<char*, ");
    k->tensors = pointers ? pointers : functor_tensors(name);
    if (str_has(name, "vectorized_elementwise_kernel<")) {
        k->per_thread = number_after(name, "vectorized_elementwise_kernel<");
    } else if (str_has(name, "unrolled_elementwise_kernel<")) {
        k->per_thread = 4;
        k->exact = true;
    } else {
        k->strided = k->exact = true;
        k->per_thread = number_after(name, "elementwise_kernel<128, ");
    }
}

struct kernel_traits kernel_traits_of(struct str name)
{
    struct kernel_traits k = {.plain_float = is_plain_float(name),
                              .converts_layout = is_layout(name),
                              .many_tensors = str_has(name, "multi_tensor_apply"),
                              .type = number_type_in(name)};
    bool logarithms = str_has(name, "LogSoftMax") || str_has(name, "log_softmax") ||
                      (str_has(name, "softmax_warp_") && str_has(name, ", true, "));
    bool soft = str_has(name, "SoftMax") || str_has(name, "softmax") || str_has(name, "Softmax");
    k.softmax = soft && !logarithms;
    k.softmax_backward = k.softmax && (str_has(name, "Backward") || str_has(name, "backward"));
    if (str_has(name, "elementwise_kernel<")) read_elementwise(name, &k);
    else if (str_starts(name, "cupy_")) read_cupy(name, &k);
    return k;
}

double kernel_elements(const struct kernel_traits *k, const uint32_t grid[3],
                       const uint32_t block[3], int least)
{
    if (!k->library || !k->per_thread) return 0;
    double threads = (double)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    int each = k->exact || k->per_thread > least ? k->per_thread : least;
    return threads * each;
}
