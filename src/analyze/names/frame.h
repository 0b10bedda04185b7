/* frame.h: names of Python frames as recorders write them, taken apart.
 *
 *     "diffusers/models/attention.py(120): forward"            a Python function
 *     "<built-in method nonzero of Tensor object at 0x7f3b>"   a function written in C
 *     "nn.Module: Linear_12"                                   a module being called
 *
 * The line is the one the function starts at, not the one that was running: torch notes it when
 * the function is entered. Only frames already open when recording began carry the line they
 * were at. Nothing here allocates; results point into the name. */
#ifndef STRATA_ANALYZE_NAMES_FRAME_H
#define STRATA_ANALYZE_NAMES_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Whose code a frame is. What can be changed by the reader of a report is FRAME_USER. */
enum frame_class {
    FRAME_USER,      /* the pipeline and the packages it is made of */
    FRAME_LIBRARY,   /* torch, triton, numpy ... */
    FRAME_STDLIB,    /* Python's own */
    FRAME_GENERATED, /* written by a compiler: inductor's output */
    FRAME_PROFILER,  /* starting, stepping and stopping the recording */
    FRAME_RECORDER,  /* strata in the user's process: its wrappers stand around the user's functions
                      */
    FRAME_BUILTIN,   /* a function in C: no file */
    FRAME_MODULE,    /* nn.Module: a call of a module, no file */
};

struct frame {
    struct str file; /* as recorded */
    struct str function;
    int32_t line;
};

/* False when the name is not of the form FILE(LINE): FUNCTION. */
bool frame_parse(struct str name, struct frame *ret);

enum frame_class frame_class(struct str name);

/* The class of a module, "Linear" of "nn.Module: Linear_12"; other names as they are. */
struct str frame_module(struct str name);

/* The path as people know it: from the package on ("diffusers/models/attention.py") when it lies
 * in an installed or src/ tree, else as recorded. */
struct str frame_path(struct str file);

/* The file alone, without folders. */
struct str frame_file(struct str path);

/* ":LINE" behind a path; nothing where no line is known, as in programs without debug information.
 */
void frame_print_line(struct buf *out, int32_t line);

/* What a C frame calls: "nonzero" of "Tensor", "tensor" of "type". False for other names. */
struct frame_builtin {
    struct str method;
    struct str owner; /* empty for plain functions */
};
bool frame_builtin(struct str name, struct frame_builtin *ret);

#endif
