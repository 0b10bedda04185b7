/* ncu_args.h: the command line that makes Nsight Compute measure the chosen kernels and no others:
 * by name, one launch of each size after the warm-up, few metrics, clocks left alone. */
#ifndef STRATA_DIVE_NCU_ARGS_H
#define STRATA_DIVE_NCU_ARGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "dive/targets.h"

struct ncu_wish {
    const char *ncu;      /* the program */
    const char *report;   /* where it is to write, ending in .ncu-rep */
    const char *log;      /* where its talk goes */
    const char *replay;   /* "kernel" or "application" */
    uint32_t skip;        /* launches of each size to skip first */
    uint32_t count;       /* and to measure then */
    bool marked;          /* the program itself marks what to measure (cudaProfilerStart) */
    int major;            /* compute capability; 0 when not known */
    char *const *command; /* the program to measure, NULL-terminated */
};

/* The whole argument list, NULL-terminated, in `mem`. */
int ncu_args_profile(const struct targets *targets, const struct ncu_wish *w, struct arena *mem,
                     char ***ret, struct err *e) MUST_USE;

/* The list that prints a report as the raw page. */
int ncu_args_import(const char *ncu, const char *report, struct arena *mem, char ***ret,
                    struct err *e) MUST_USE;

/* The regular expression for the names of the targets: the words of their short names, in order.
 */
void ncu_args_names(const struct targets *targets, struct buf *out);

/* Launches of each size to skip first, and to measure then: from the target that comes first to the
 * one that comes last, but at most NCU_MOST_OF_A_SIZE. */
enum { NCU_MOST_OF_A_SIZE = 8 };
uint32_t ncu_args_skip(const struct targets *targets);
uint32_t ncu_args_count(const struct targets *targets);

/* ncu_log.c: what Nsight Compute says when it could not do what it was asked to, and what to do. */

struct ncu_trouble {
    const char *what; /* NULL when the log has nothing to complain about */
    const char *remedy;
    bool nothing_ran; /* no kernel of those asked for was launched in time */
};

/* `text` is its log. Memory from `mem`. */
struct ncu_trouble ncu_log_trouble(struct str text, struct arena *mem);

#endif
