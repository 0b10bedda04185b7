/* python.h: the strata package for the Python programs we start. */
#ifndef STRATA_CLI_PYTHON_H
#define STRATA_CLI_PYTHON_H

#include <stdbool.h>

#include "cli/cli.h"

/* Makes every Python started from here find the package, and this program through STRATA_BIN, by
 * setting our own environment. False if the package is not next to this program. */
bool python_prepare(struct arena *mem);

/* A module of the package that does the work of a command. */
struct python_front {
    const char *module;
    const char *wanted; /* which Python it needs: "a Python that has torch" */
};

/* Starts it with the options of the command, except --python, which names the Python, and with
 * nothing recorded. Ends this process as that one ends. */
int python_front_run(const struct python_front *front, const struct cli *cli, const struct opts *o,
                     struct err *e) MUST_USE;

#endif
