/* tune.c: constants as variables, in a build that tunes (-Dtune=true). Other builds do not have
 * this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/constants_all.h"

#define TUNE_DEFINE(type, name, value, unit, why) type name = value;
CONSTANTS_ALL(TUNE_DEFINE)

static void tune_set_int(int *c, double v)
{
    *c = (int)v;
}

static void tune_set_double(double *c, double v)
{
    *c = v;
}

static int tune_set(const char *word, size_t n, double v)
{
#define TUNE_SET(type, name, value, unit, why)               \
    if (strlen(#name) == n && memcmp(#name, word, n) == 0) { \
        tune_set_##type(&name, v);                           \
        return 0;                                            \
    }
    CONSTANTS_ALL(TUNE_SET)
    return -1;
}

/* "name=value,name=value". A wrong name ends the program, which would otherwise show no change. */
__attribute__((constructor)) static void tune_from_environment(void)
{
    const char *at = getenv("STRATA_TEST_TUNE");
    while (at && *at) {
        size_t n = strcspn(at, "=");
        if (at[n] != '=' || tune_set(at, n, strtod(at + n + 1, NULL)) < 0) {
            fprintf(stderr, "no such constant: %s\n", at); /* allowed: before main */
            exit(2);                                       /* allowed: before main */
        }
        at += strcspn(at, ",");
        at += *at == ',';
    }
}
