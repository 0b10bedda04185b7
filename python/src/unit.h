/* unit.h: where units begin that may be recorded in depth (backend/program/depth.h): outermost
 * calls, those of modules and stages. The library that records them may be loaded at any time, or
 * never.
 */
#ifndef STRATA_PYTHON_UNIT_H
#define STRATA_PYTHON_UNIT_H

#include "core.h"

/* A unit begins: `what` is a class of modules or a stage; units with another `size` are of another
 * kind. Nearly free where nothing is recorded. */
void unit_begins(const void *what, uint64_t size);

/* What stands for the size of the first tensor among the arguments of a call; 0 for none. Both may
 * be NULL. */
uint64_t unit_size(PyObject *args, PyObject *kwargs);

extern PyMethodDef unit_methods[];

#endif
