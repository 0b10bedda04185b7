/* ceilings.h: what programs reach on a GPU at best: bytes per second through its memory, operations
 * per second by precision and in fused attention. The figures are those of well-made programs,
 * below what datasheets claim. Measured ones are kept in a small JSON file for each GPU; a
 * table of GPUs stands in for what was never measured, and is marked. */
#ifndef STRATA_ANALYZE_KERNELS_CEILINGS_H
#define STRATA_ANALYZE_KERNELS_CEILINGS_H

#include "base/arena.h"
#include "base/err.h"

/* What numbers are made of, for rates of arithmetic. */
enum precision { FP64, FP32, TF32, HALF /* bf16 and fp16 */, FP8, INT8, PRECISIONS };

const char *precision_name(enum precision p); /* "fp64" ...; "bf16" for HALF */

enum ceiling_from { CEILING_NONE, CEILING_MEASURED, CEILING_TABLE };

const char *ceiling_from_name(enum ceiling_from f); /* "measured", "table"; "unknown" */

struct ceiling {
    double per_s; /* NaN when not known */
    enum ceiling_from from;
};

struct ceilings {
    struct str gpu; /* .n is 0 when not known */
    struct ceiling memory;
    struct ceiling compute[PRECISIONS];
    struct ceiling attention; /* forward, fused, 16 bits */
    double datasheet_half; /* dense products in 16 bits as the vendor states them; NaN: not known */
    int n_sms;             /* multiprocessors: of the trace, else of the table; 0 when not known */
};

/* Nothing known. */
void ceilings_init(struct ceilings *c, struct str gpu);

/* What the table says of a GPU of this name, for whatever is not known yet. */
void ceilings_from_table(struct ceilings *c);

/* The same for a GPU whose name is not in the table, by its compute capability. */
void ceilings_from_generation(struct ceilings *c, int major);

/* The same for what a trace says of its device: AMD's are recognized by their compute units, since
 * they often have no name of their own. Nothing where that says nothing either. */
void ceilings_from_device(struct ceilings *c, int major, int n_sms);

/* What was measured, from the text of such a file:
 *     {"gpu": "NVIDIA H200", "memory_gb_per_s": 4301.2, "bf16_tflop_per_s": 781.5, ...}
 * It may hold any of the rates. ERR_FORMAT when it is not such a file, or of another GPU. */
int ceilings_read(struct ceilings *c, struct str text, struct arena *mem, struct err *e) MUST_USE;

/* Where the file of a GPU is kept: in the user's cache folder. NULL when there is none, or the GPU
 * has no name. */
int ceilings_path(struct str gpu, struct arena *mem, const char **ret, struct err *e) MUST_USE;

/* What the vendor states for dense products in that precision; NaN when not known. For float32 it
 * is the rate of TF32 where there is one. */
double ceilings_datasheet(const struct ceilings *c, enum precision p);

/* Operations for each byte from which on arithmetic, not memory, is the limit; NaN when either
 * rate is not known. */
double ceilings_ridge(const struct ceilings *c, enum precision p);

/* The most operations per second that are possible at this intensity. */
double ceilings_roof(const struct ceilings *c, enum precision p, double flop_per_byte);

#endif
