/* ceilings.c: see ceilings.h. */
#include "analyze/kernels/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/jdoc.h"

#define TERA 1e12
/* The newest generation of GPUs for data centers. */
#define DATA_CENTER 10

struct rates {
    const char *name; /* several words of a name part with '+'; the first row that fits counts */
    double memory;    /* TB/s, reads and writes counted */
    double rate[PRECISIONS]; /* dense, TFLOP/s */
    double attention;
    int n_sms; /* multiprocessors; compute units of AMD's */
};

/* Rates were measured where such a GPU was at hand (H200). The others are estimates of what matrix
 * multiplications and copies reach. Where published specifications were compared (H100, A100, A40,
 * L40, L40S, L4, V100, T4), 16-bit rates are 54 to 84 % of the dense tensor rate, lowest on L4 and
 * T4, which have little power; bandwidths are 81 to 91 % of the published ones.
 *
 * Multiprocessors: AMD's are those of "Accelerator and GPU hardware specifications" in the ROCm
 * documentation (MI250 and MI250X: one of two dies, which programs see as a device). NVIDIA's agree
 * with published specifications as reprinted by vendors of the cards and in comparisons, some as
 * CUDA cores divided by the 128 of a multiprocessor. For the L4 these differ: 7,424 cores are 58,
 * others list 60. No source was found for A10G, A30, A800, GH200, RTX 4080 and RTX 4070. A trace
 * that says how many its device has comes first. */
static const struct rates gpus[] = {
    {"B200",
     6.9,
     {[FP64] = 35, [FP32] = 65, [TF32] = 820, [HALF] = 1650, [FP8] = 3200, [INT8] = 3200},
     900,
     148},
    {"GH200",
     3.6,
     {[FP64] = 50, [FP32] = 51, [TF32] = 384, [HALF] = 780, [FP8] = 1400, [INT8] = 1400},
     300,
     132},
    {"H200",
     4.27,
     {[FP64] = 50, [FP32] = 51, [TF32] = 384, [HALF] = 780, [FP8] = 1400, [INT8] = 1400},
     300,
     132},
    {"H100+PCIe",
     1.75,
     {[FP64] = 35, [FP32] = 40, [TF32] = 250, [HALF] = 500, [FP8] = 900, [INT8] = 900},
     220,
     114},
    {"H100+NVL",
     3.4,
     {[FP64] = 45, [FP32] = 46, [TF32] = 310, [HALF] = 620, [FP8] = 1150, [INT8] = 1150},
     260,
     132},
    {"H100",
     2.95,
     {[FP64] = 50, [FP32] = 51, [TF32] = 370, [HALF] = 720, [FP8] = 1350, [INT8] = 1350},
     290,
     132},
    {"A100+80GB",
     1.75,
     {[FP64] = 17, [FP32] = 18.8, [TF32] = 130, [HALF] = 260, [INT8] = 480},
     175,
     108},
    {"A100",
     1.36,
     {[FP64] = 17, [FP32] = 18.8, [TF32] = 130, [HALF] = 260, [INT8] = 480},
     175,
     108},
    {"A800",
     1.75,
     {[FP64] = 17, [FP32] = 18.8, [TF32] = 130, [HALF] = 260, [INT8] = 480},
     175,
     108},
    {"A40", 0.59, {[FP32] = 28, [TF32] = 55, [HALF] = 110, [INT8] = 220}, 75, 84},
    {"A30", 0.80, {[FP64] = 8, [FP32] = 9.5, [TF32] = 65, [HALF] = 130, [INT8] = 250}, 85, 56},
    {"A10G", 0.50, {[FP32] = 22, [TF32] = 30, [HALF] = 60, [INT8] = 120}, 42, 80},
    {"A10", 0.50, {[FP32] = 22, [TF32] = 45, [HALF] = 90, [INT8] = 180}, 60, 72},
    {"A6000", 0.66, {[FP32] = 30, [TF32] = 62, [HALF] = 120, [INT8] = 240}, 80, 84},
    {"L40S", 0.74, {[FP32] = 65, [TF32] = 130, [HALF] = 260, [FP8] = 500, [INT8] = 500}, 170, 142},
    {"L40", 0.74, {[FP32] = 60, [TF32] = 75, [HALF] = 150, [FP8] = 300, [INT8] = 300}, 100, 142},
    {"L4", 0.26, {[FP32] = 18, [TF32] = 32, [HALF] = 65, [FP8] = 130, [INT8] = 130}, 45, 58},
    {"V100", 0.79, {[FP64] = 7, [FP32] = 14.2, [HALF] = 95}, 40, 80},
    {"T4", 0.26, {[FP32] = 5.5, [HALF] = 35, [INT8] = 70}, 15, 40},
    {"RTX 5090",
     1.55,
     {[FP32] = 85, [TF32] = 95, [HALF] = 200, [FP8] = 390, [INT8] = 390},
     170,
     170},
    {"RTX 5080", 0.85, {[FP32] = 46, [TF32] = 50, [HALF] = 105, [FP8] = 205, [INT8] = 205}, 88, 84},
    {"RTX 5070+Ti",
     0.79,
     {[FP32] = 36, [TF32] = 40, [HALF] = 82, [FP8] = 160, [INT8] = 160},
     68,
     70},
    {"RTX 5070", 0.59, {[FP32] = 25, [TF32] = 28, [HALF] = 57, [FP8] = 113, [INT8] = 113}, 48, 48},
    {"RTX 4090",
     0.92,
     {[FP32] = 65, [TF32] = 80, [HALF] = 160, [FP8] = 310, [INT8] = 310},
     135,
     128},
    {"RTX 4080", 0.65, {[FP32] = 38, [TF32] = 47, [HALF] = 94, [FP8] = 180, [INT8] = 180}, 78, 76},
    {"RTX 4070", 0.45, {[FP32] = 24, [TF32] = 28, [HALF] = 56, [FP8] = 110, [INT8] = 110}, 47, 46},
    {"RTX 3090", 0.85, {[FP32] = 27, [TF32] = 34, [HALF] = 68, [INT8] = 135}, 56, 82},
    {"RTX 3080", 0.68, {[FP32] = 23, [TF32] = 29, [HALF] = 57, [INT8] = 115}, 47, 68},
    {"RTX 3070", 0.40, {[FP32] = 16, [TF32] = 20, [HALF] = 40, [INT8] = 80}, 32, 46},
    {"RTX 3060", 0.32, {[FP32] = 10, [TF32] = 12.5, [HALF] = 25, [INT8] = 50}, 20, 28},
    {"MI355X",
     6.4,
     {[FP64] = 60, [FP32] = 110, [HALF] = 1600, [FP8] = 3100, [INT8] = 3100},
     800,
     256},
    {"MI325X",
     4.8,
     {[FP64] = 65, [FP32] = 95, [TF32] = 320, [HALF] = 680, [FP8] = 1250, [INT8] = 1250},
     360,
     304},
    {"MI300X",
     4.1,
     {[FP64] = 65, [FP32] = 95, [TF32] = 310, [HALF] = 640, [FP8] = 1150, [INT8] = 1150},
     340,
     304},
    {"MI250X",
     1.35,
     {[FP64] = 30, [FP32] = 32, [HALF] = 140, [INT8] = 140},
     75,
     110}, /* one of two */
    {"MI250", 1.35, {[FP64] = 28, [FP32] = 30, [HALF] = 130, [INT8] = 130}, 70, 104}, /* dies */
    {"MI210", 1.35, {[FP64] = 28, [FP32] = 30, [HALF] = 130, [INT8] = 130}, 70, 104},
    {"MI100", 1.0, {[FP64] = 8, [FP32] = 20, [HALF] = 110, [INT8] = 110}, 45, 120},
};

/* What a small GPU of a generation reaches, for those that are not in the table. */
static const struct {
    int major;
    struct rates rates;
} generations[] = {
    {12, {"", 0.6, {[FP32] = 25, [TF32] = 28, [HALF] = 57, [FP8] = 113, [INT8] = 113}, 48, 48}},
    {10,
     {"", 5.0, {[FP32] = 60, [TF32] = 600, [HALF] = 1000, [FP8] = 2400, [INT8] = 2400}, 600, 148}},
    {9, {"", 3.0, {[FP32] = 40, [TF32] = 250, [HALF] = 500, [FP8] = 900, [INT8] = 900}, 220, 114}},
    {8, {"", 0.7, {[FP32] = 18, [TF32] = 50, [HALF] = 100, [INT8] = 200}, 65, 46}},
    {0, {"", 0.4, {[FP32] = 8, [HALF] = 50}, 20, 40}},
};

/* Dense products in 16 bits, summed up in float32, TFLOP/s: from the vendors' datasheets, of the
 * variant with the highest rate where a name has several (SXM before PCIe). MI250 and MI250X: one
 * of two dies. GPUs whose datasheet gives other figures are left out. */
static const struct {
    const char *name; /* as in the table of rates, most telling first */
    double half;
} datasheets[] = {
    {"B200", 2250},    {"GH200", 989},      {"H200", 989},       {"H100+PCIe", 756},
    {"H100+NVL", 835}, {"H100", 989},       {"A100+80GB", 312},  {"A100", 312},
    {"A800", 312},     {"A40", 149.7},      {"A30", 165},        {"A10", 125},
    {"A6000", 154.8},  {"L40S", 362},       {"L40", 181},        {"L4", 121},
    {"V100", 125},     {"T4", 65},          {"RTX 4090", 165.2}, {"RTX 4080", 97.5},
    {"RTX 3090", 71},  {"RTX 5090", 209.5}, {"MI355X", 2516},    {"MI325X", 1307},
    {"MI300X", 1307},  {"MI250X", 191.5},   {"MI250", 181},      {"MI210", 181},
    {"MI100", 184.6},
};

const char *precision_name(enum precision p)
{
    static const char *const text[PRECISIONS] = {"fp64", "fp32", "tf32", "bf16", "fp8", "int8"};
    return p < PRECISIONS ? text[p] : "unknown";
}

const char *ceiling_from_name(enum ceiling_from f)
{
    static const char *const names[] = {"unknown", "measured", "table"};
    return names[f];
}

void ceilings_init(struct ceilings *c, struct str gpu)
{
    const struct ceiling none = {NAN, CEILING_NONE};
    *c = (struct ceilings){.gpu = gpu, .memory = none, .attention = none, .datasheet_half = NAN};
    for (int i = 0; i < PRECISIONS; i++) c->compute[i] = none;
}

/* A word stands alone: "L4" is not in "L40". */
static bool ceilings_has_word(struct str name, struct str word)
{
    for (size_t i = 0; i + word.n <= name.n; i++) {
        if (memcmp(name.p + i, word.p, word.n) != 0) continue;
        bool begins = i == 0 || strchr(" -_/", name.p[i - 1]);
        bool ends = i + word.n == name.n || strchr(" -_/", name.p[i + word.n]);
        if (begins && ends) return true;
    }
    return false;
}

static bool ceilings_fits(struct str gpu, const char *words)
{
    for (;;) {
        size_t n = strcspn(words, "+");
        if (!ceilings_has_word(gpu, str_from(words, n))) return false;
        if (!words[n]) return true;
        words += n + 1;
    }
}

static void ceilings_fill(struct ceiling *c, double tera_per_s)
{
    if (c->from == CEILING_NONE && tera_per_s > 0)
        *c = (struct ceiling){tera_per_s * TERA, CEILING_TABLE};
}

static void fill_all(struct ceilings *c, const struct rates *r)
{
    if (!c->n_sms) c->n_sms = r->n_sms;
    ceilings_fill(&c->memory, r->memory);
    ceilings_fill(&c->attention, r->attention);
    for (int p = 0; p < PRECISIONS; p++) ceilings_fill(&c->compute[p], r->rate[p]);
}

static void ceilings_fill_datasheet(struct ceilings *c)
{
    for (size_t i = 0; i < sizeof datasheets / sizeof *datasheets; i++) {
        if (!ceilings_fits(c->gpu, datasheets[i].name)) continue;
        c->datasheet_half = datasheets[i].half * TERA;
        return;
    }
}

/* Tensor cores have fixed ratios between precisions, wherever they take one at all. */
double ceilings_datasheet(const struct ceilings *c, enum precision p)
{
    double half = c->datasheet_half;
    if (p == HALF) return half;
    if (p >= PRECISIONS || c->compute[p].from == CEILING_NONE) return NAN;
    if (p == TF32) return half / 2;
    return p == FP8 ? 2 * half : NAN;
}

void ceilings_from_table(struct ceilings *c)
{
    ceilings_fill_datasheet(c);
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        if (!ceilings_fits(c->gpu, gpus[i].name)) continue;
        fill_all(c, &gpus[i]);
        return;
    }
}

void ceilings_from_generation(struct ceilings *c, int major)
{
    size_t i = 0;
    if (major < 0) major = 0;
    if (major > generations[0].major) major = DATA_CENTER; /* newer, or no generation at all */
    while (generations[i].major > major) i++;
    fill_all(c, &generations[i].rates);
}

void ceilings_from_device(struct ceilings *c, int major, int n_sms)
{
    static const struct {
        int units;
        const char *name;
    } amd[] = {{304, "MI300X"}, {256, "MI355X"}, {110, "MI250X"}, {104, "MI250"}, {120, "MI100"}};
    if (c->memory.from != CEILING_NONE) return;
    if (!str_has(c->gpu, "AMD") && !str_has(c->gpu, "Radeon") && !str_has(c->gpu, "gfx")) {
        if (major > 0) ceilings_from_generation(c, major);
        return;
    }
    struct ceilings like = *c;
    for (size_t i = 0; i < sizeof amd / sizeof *amd; i++)
        if (amd[i].units == n_sms) like.gpu = str_c(amd[i].name);
    ceilings_from_table(&like);
    like.gpu = c->gpu;
    *c = like;
}

static void ceilings_read_rate(const struct jdoc *d, const char *key, double unit,
                               struct ceiling *c)
{
    double v = jdoc_number(d, key, NAN);
    if (v > 0 && isfinite(v)) *c = (struct ceiling){v * unit, CEILING_MEASURED};
}

int ceilings_read(struct ceilings *c, struct str text, struct arena *mem, struct err *e)
{
    struct jdoc d;
    TRY(jdoc_parse(text, mem, &d, e));
    const char *gpu = jdoc_text(&d, "gpu", NULL);
    if (!gpu) return FAIL(e, ERR_FORMAT, "expected an object with \"gpu\" and measured rates");
    if (c->gpu.n && !str_is(c->gpu, gpu))
        return FAIL(e, ERR_FORMAT, "holds the rates of %.60s, and this is " STR_FMT, gpu,
                    STR_ARG(c->gpu));
    c->gpu = str_c(gpu);
    ceilings_read_rate(&d, "memory_gb_per_s", 1e9, &c->memory);
    ceilings_read_rate(&d, "attention_tflop_per_s", TERA, &c->attention);
    for (int p = 0; p < PRECISIONS; p++) {
        char key[32];
        snprintf(key, sizeof key, "%s_tflop_per_s", precision_name((enum precision)p));
        ceilings_read_rate(&d, key, TERA, &c->compute[p]);
    }
    return 0;
}

/* A name that is safe as part of a file name, in place. */
static void make_plain(char *name)
{
    for (char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (!letter && !(*p >= '0' && *p <= '9')) *p = '_';
    }
}

int ceilings_path(struct str gpu, struct arena *mem, const char **ret, struct err *e)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && *cache;
    *ret = NULL;
    if (!gpu.n || (!own && (!home || !*home))) return 0;
    char *name = arena_strdup(mem, gpu);
    if (name) make_plain(name);
    if (name)
        *ret = arena_printf(mem, "%s%s/strata/ceilings_%s.json", own ? cache : home,
                            own ? "" : "/.cache", name);
    return *ret ? 0 : err_nomem(e);
}

double ceilings_ridge(const struct ceilings *c, enum precision p)
{
    return p < PRECISIONS ? c->compute[p].per_s / c->memory.per_s : NAN;
}

double ceilings_roof(const struct ceilings *c, enum precision p, double flop_per_byte)
{
    double slope = c->memory.per_s * flop_per_byte;
    double flat = p < PRECISIONS ? c->compute[p].per_s : NAN;
    if (isnan(flat) || isnan(slope)) return isnan(slope) ? flat : slope;
    return slope < flat ? slope : flat;
}
