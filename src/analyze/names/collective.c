/* collective.c: the table. A word begins where a word begins in the name (not "small_reduce"), in
 * any case, with or without '_', '-' and blanks: "AllReduce" and "all_reduce" are one word. */
#include "analyze/names/collective.h"

#include <ctype.h>

enum {
    KERNEL = 1,  /* says so in the name of a kernel */
    STAGE = 2,   /* in the name of a stage */
    LIBRARY = 4, /* with a colon, before its annotations */
};

static const struct {
    const char *word;
    unsigned says;
} words[] = {
    /* libraries: NVIDIA, AMD, Intel, Huawei, Microsoft, and what runs on CPUs */
    {"nccl", KERNEL | STAGE | LIBRARY},
    {"rccl", KERNEL | STAGE | LIBRARY},
    {"oneccl", KERNEL | STAGE | LIBRARY},
    {"xccl", KERNEL | STAGE | LIBRARY},
    {"hccl", KERNEL | STAGE | LIBRARY},
    {"hcom", KERNEL},
    {"msccl", KERNEL | STAGE | LIBRARY},
    {"nvshmem", KERNEL | STAGE},
    {"rocshmem", KERNEL | STAGE},
    {"gloo", STAGE | LIBRARY},
    {"mpi", LIBRARY},
    {"ucc", LIBRARY},
    /* what they do, in kernels of their own too: vLLM, SGLang and AITER (cross_device_reduce),
     * torch's symmetric memory (one_shot_all_reduce, multimem_all_gather), TensorRT-LLM and
     * FlashInfer (oneShotAllReduceKernel, allreduce_fusion), quick reduce, DeepEP */
    {"allreduce", KERNEL | STAGE},
    {"allgather", KERNEL | STAGE},
    {"reducescatter", KERNEL | STAGE},
    {"alltoall", KERNEL | STAGE},
    {"sendrecv", KERNEL | STAGE},
    {"crossdevicereduce", KERNEL | STAGE},
    {"quickreduce", KERNEL | STAGE},
    {"deepep", KERNEL | STAGE},
    /* in a kernel these are something else */
    {"broadcast", STAGE},
    {"barrier", STAGE},
    {"collective", STAGE},
    {"syncgrad", STAGE},
    {"gradsync", STAGE},
    {"recv", STAGE},
    {"waitfor", STAGE},
    {"rendezvous", STAGE},
    {"synchronize", STAGE},
};

static bool joins(char c)
{
    return c == '_' || c == '-' || c == ' ';
}

static bool begins_word(struct str s, size_t i)
{
    if (i == 0 || !isalpha((unsigned char)s.p[i - 1])) return true;
    return isupper((unsigned char)s.p[i]) && islower((unsigned char)s.p[i - 1]);
}

static bool has_at(struct str s, size_t i, const char *word)
{
    for (const char *w = word; *w; i++) {
        if (i >= s.n) return false;
        if (w > word && joins(s.p[i])) continue;
        if (tolower((unsigned char)s.p[i]) != *w++) return false;
    }
    return true;
}

static bool has(struct str s, const char *word)
{
    for (size_t i = 0; i < s.n; i++)
        if (has_at(s, i, word) && begins_word(s, i)) return true;
    return false;
}

static bool says(struct str name, unsigned what)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((words[i].says & what) && has(name, words[i].word)) return true;
    return false;
}

bool collective_kernel(struct str name)
{
    return says(name, KERNEL);
}

bool collective_stage(struct str name)
{
    return says(name, STAGE);
}

bool collective_label(struct str name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (!(words[i].says & LIBRARY) || name.n <= n || name.p[n] != ':') continue;
        if (str_starts(name, words[i].word)) return true;
    }
    return false;
}
