/* collective.c: the table. A word begins where a word begins in the name (not "small_reduce"), in
 * any case, with or without '_', '-' and blanks: "AllReduce" and "all_reduce" are one word. */
#include "analyze/names/collective.h"

#include <string.h>

enum {
    KERNEL = 1,  /* says so in the name of a kernel */
    STAGE = 2,   /* in the name of a stage */
    LIBRARY = 4, /* with a colon, before its annotations */
    NAMES = 8,   /* says which collective, in a name that is known to be of one */
};

static const struct {
    const char *word;
    unsigned says;
    enum collective what;
} words[] = {
    /* libraries: NVIDIA, AMD, Intel, Huawei, Microsoft, and what runs on CPUs */
    {"nccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"rccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"oneccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"xccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"hccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"hcom", KERNEL, COLLECTIVE_OTHER},
    {"msccl", KERNEL | STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"nvshmem", KERNEL | STAGE, COLLECTIVE_OTHER},
    {"rocshmem", KERNEL | STAGE, COLLECTIVE_OTHER},
    {"ishmem", KERNEL | STAGE, COLLECTIVE_OTHER},
    {"gloo", STAGE | LIBRARY, COLLECTIVE_OTHER},
    {"mpi", LIBRARY, COLLECTIVE_OTHER},
    {"ucc", LIBRARY, COLLECTIVE_OTHER},
    /* what they do, in kernels of their own too: vLLM, SGLang and AITER (cross_device_reduce),
     * torch's symmetric memory (one_shot_all_reduce, multimem_all_gather), TensorRT-LLM and
     * FlashInfer (oneShotAllReduceKernel, allreduce_fusion, moeA2ADispatch), quick reduce, DeepEP.
     * The more particular word stands first: "scatter" is in "reduce_scatter" too. */
    {"allreduce", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_REDUCE},
    {"crossdevicereduce", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_REDUCE},
    {"quickreduce", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_REDUCE},
    {"multimemoneshotreduce", KERNEL | NAMES, COLLECTIVE_REDUCE},
    {"allgather", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_GATHER},
    {"reducescatter", KERNEL | STAGE | NAMES, COLLECTIVE_REDUCE_SCATTER},
    {"alltoall", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"moea2a", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"deepep", KERNEL | STAGE | NAMES, COLLECTIVE_ALL_TO_ALL},
    /* namespaces of DeepEP, and kernels of mori */
    {"internodell::", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"internode::", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"intranode::", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"epdispatch", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"epcombine", KERNEL | NAMES, COLLECTIVE_ALL_TO_ALL},
    {"mori::", KERNEL, COLLECTIVE_OTHER},
    {"sendrecv", KERNEL | STAGE | NAMES, COLLECTIVE_SEND_RECV},
    /* in a kernel these are something else */
    {"broadcast", STAGE | NAMES, COLLECTIVE_BROADCAST},
    {"barrier", STAGE | NAMES, COLLECTIVE_BARRIER},
    {"collective", STAGE, COLLECTIVE_OTHER},
    {"syncgrad", STAGE, COLLECTIVE_OTHER},
    {"gradsync", STAGE, COLLECTIVE_OTHER},
    {"send", NAMES, COLLECTIVE_SEND_RECV},
    {"recv", STAGE | NAMES, COLLECTIVE_SEND_RECV},
    {"waitfor", STAGE, COLLECTIVE_OTHER},
    {"rendezvous", STAGE, COLLECTIVE_OTHER},
    {"synchronize", STAGE, COLLECTIVE_OTHER},
    {"reduce", NAMES, COLLECTIVE_REDUCE},
    {"gather", NAMES, COLLECTIVE_GATHER},
    {"scatter", NAMES, COLLECTIVE_SCATTER},
};

static bool collective_joins(char c)
{
    return c == '_' || c == '-' || c == ' ';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static char collective_lowered(char c)
{
    return is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

static bool begins_word(struct str s, size_t i)
{
    if (i == 0 || !(is_upper(s.p[i - 1]) || is_lower(s.p[i - 1]))) return true;
    return is_upper(s.p[i]) && is_lower(s.p[i - 1]);
}

static bool collective_has_at(struct str s, size_t i, const char *word)
{
    for (const char *w = word; *w; i++) {
        if (i >= s.n) return false;
        if (w > word && collective_joins(s.p[i])) continue;
        if (collective_lowered(s.p[i]) != *w++) return false;
    }
    return true;
}

static bool collective_has(struct str s, const char *word)
{
    for (size_t i = 0; i < s.n && i < 4096; i++)
        if (collective_lowered(s.p[i]) == *word && begins_word(s, i) &&
            collective_has_at(s, i, word))
            return true;
    return false;
}

/* Names of kernels have hundreds of characters, and traces have millions of them: one pass, which
 * looks closer where a word begins as one of these does. */
static bool collective_says(struct str name, unsigned what)
{
    enum { LOOKED_AT = 4096 }; /* templates go on for long, but no name begins so late */
    uint32_t firsts = 0;
    if (name.n > LOOKED_AT) name.n = LOOKED_AT;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].says & what) firsts |= 1u << (*words[k].word - 'a');
    for (size_t i = 0; i < name.n; i++) {
        char c = collective_lowered(name.p[i]);
        if (!is_lower(c) || !(firsts >> (c - 'a') & 1) || !begins_word(name, i)) continue;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if ((words[k].says & what) && collective_has_at(name, i, words[k].word)) return true;
    }
    return false;
}

bool collective_kernel(struct str name)
{
    return collective_says(name, KERNEL);
}

bool collective_stage(struct str name)
{
    return collective_says(name, STAGE);
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

enum collective collective_of(struct str name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((words[i].says & NAMES) && collective_has(name, words[i].word)) return words[i].what;
    return COLLECTIVE_OTHER;
}

const char *collective_name(enum collective c)
{
    static const char *const names[COLLECTIVES] = {
        "other",     "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv",
        "broadcast", "barrier",    "reduce",     "gather",         "scatter"};
    return names[c];
}

double collective_bus_factor(enum collective c, int64_t ranks)
{
    if (ranks < 2) return 0;
    double n = (double)ranks;
    switch (c) {
    case COLLECTIVE_ALL_REDUCE: return 2 * (n - 1) / n;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER: return (n - 1) / n;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE: return 1;
    case COLLECTIVE_OTHER:
    case COLLECTIVE_BARRIER:
    case COLLECTIVES: break;
    }
    return 0;
}
