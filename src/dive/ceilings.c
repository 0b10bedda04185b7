/* ceilings.c: see ceilings.h. */
#include "dive/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/jdoc.h"

#define TERA 1e12

/* Dense rates; several words of a name part with '+'. The first row that fits counts. */
static const struct {
    const char *name;
    double memory; /* TB/s */
    double rate[PRECISIONS];
} datasheets[] = {
    {"B200",
     8.0,
     {[FP64] = 37, [FP32] = 75, [TF32] = 1100, [HALF] = 2250, [FP8] = 4500, [INT8] = 4500}},
    {"H200",
     4.8,
     {[FP64] = 34, [FP32] = 67, [TF32] = 495, [HALF] = 989, [FP8] = 1979, [INT8] = 1979}},
    {"GH200",
     4.0,
     {[FP64] = 34, [FP32] = 67, [TF32] = 495, [HALF] = 989, [FP8] = 1979, [INT8] = 1979}},
    {"H100+PCIe",
     2.0,
     {[FP64] = 26, [FP32] = 51, [TF32] = 378, [HALF] = 756, [FP8] = 1513, [INT8] = 1513}},
    {"H100+NVL",
     3.9,
     {[FP64] = 30, [FP32] = 60, [TF32] = 418, [HALF] = 835, [FP8] = 1671, [INT8] = 1671}},
    {"H100",
     3.35,
     {[FP64] = 34, [FP32] = 67, [TF32] = 495, [HALF] = 989, [FP8] = 1979, [INT8] = 1979}},
    {"A100+80GB", 2.04, {[FP64] = 9.7, [FP32] = 19.5, [TF32] = 156, [HALF] = 312, [INT8] = 624}},
    {"A100", 1.56, {[FP64] = 9.7, [FP32] = 19.5, [TF32] = 156, [HALF] = 312, [INT8] = 624}},
    {"L40S", 0.86, {[FP32] = 91.6, [TF32] = 183, [HALF] = 362, [FP8] = 733, [INT8] = 733}},
    {"L40", 0.86, {[FP32] = 90.5, [TF32] = 90.5, [HALF] = 181, [FP8] = 362, [INT8] = 362}},
    {"L4", 0.30, {[FP32] = 30.3, [TF32] = 60, [HALF] = 121, [FP8] = 242, [INT8] = 242}},
    {"A40", 0.70, {[FP32] = 37.4, [TF32] = 74.8, [HALF] = 150, [INT8] = 299}},
    {"A10G", 0.60, {[FP32] = 31.5, [TF32] = 35, [HALF] = 70, [INT8] = 140}},
    {"A10", 0.60, {[FP32] = 31.2, [TF32] = 62.5, [HALF] = 125, [INT8] = 250}},
    {"V100", 0.90, {[FP64] = 7.8, [FP32] = 15.7, [HALF] = 125}},
    {"T4", 0.32, {[FP32] = 8.1, [HALF] = 65, [INT8] = 130}},
    {"RTX 5090", 1.79, {[FP32] = 105, [TF32] = 105, [HALF] = 210, [FP8] = 419, [INT8] = 838}},
    {"RTX 4090", 1.01, {[FP32] = 82.6, [TF32] = 82.6, [HALF] = 165, [FP8] = 330, [INT8] = 661}},
    {"RTX 3090", 0.94, {[FP32] = 35.6, [TF32] = 35.6, [HALF] = 71, [INT8] = 284}},
};

const char *ceiling_from_name(enum ceiling_from f)
{
    static const char *const names[] = {"unknown", "measured", "datasheet"};
    return names[f];
}

void ceilings_init(struct ceilings *c, struct str gpu)
{
    *c = (struct ceilings){.gpu = gpu, .memory = {NAN, CEILING_NONE}};
    for (int i = 0; i < PRECISIONS; i++) c->compute[i] = (struct ceiling){NAN, CEILING_NONE};
}

/* Whole words only: "L4" does not match "L40". */
static bool has_word(struct str name, struct str word)
{
    for (size_t i = 0; i + word.n <= name.n; i++) {
        if (memcmp(name.p + i, word.p, word.n) != 0) continue;
        bool begins = i == 0 || strchr(" -_", name.p[i - 1]);
        bool ends = i + word.n == name.n || strchr(" -_", name.p[i + word.n]);
        if (begins && ends) return true;
    }
    return false;
}

static bool fits(struct str gpu, const char *words)
{
    for (;;) {
        size_t n = strcspn(words, "+");
        if (!has_word(gpu, str_from(words, n))) return false;
        if (!words[n]) return true;
        words += n + 1;
    }
}

static void fill(struct ceiling *c, double per_s)
{
    if (c->from == CEILING_NONE && per_s > 0) *c = (struct ceiling){per_s, CEILING_DATASHEET};
}

void ceilings_from_datasheet(struct ceilings *c)
{
    for (size_t i = 0; i < sizeof datasheets / sizeof *datasheets; i++) {
        if (!fits(c->gpu, datasheets[i].name)) continue;
        fill(&c->memory, datasheets[i].memory * TERA);
        for (int p = 0; p < PRECISIONS; p++) fill(&c->compute[p], datasheets[i].rate[p] * TERA);
        return;
    }
}

static void read_rate(const struct jdoc *d, const char *key, double unit, struct ceiling *c)
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
        return FAIL(e, ERR_FORMAT, "has the rates of %.60s, but this GPU is " STR_FMT, gpu,
                    STR_ARG(c->gpu));
    c->gpu = str_c(gpu);
    read_rate(&d, "memory_gb_per_s", 1e9, &c->memory);
    for (int p = 0; p < PRECISIONS; p++) {
        char key[32];
        snprintf(key, sizeof key, "%s_tflop_per_s", precision_name((enum precision)p));
        read_rate(&d, key, TERA, &c->compute[p]);
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
