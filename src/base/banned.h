/* banned.h: functions that must not be used, as compile errors. The build includes it in front of
 * every C file of the project; the headers that declare these names have to come first. */
#ifndef STRATA_BASE_BANNED_H
#define STRATA_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No bound: snprintf, buf_printf and struct str have one. */
#pragma GCC poison strcpy strcat sprintf vsprintf gets stpcpy
/* Truncates without a terminator, or without telling. */
#pragma GCC poison strncpy strncat
/* No error, or silent overflow: strtol, strtod, opt_long. */
#pragma GCC poison atoi atol atoll atof
/* Hidden state shared by all threads. */
#pragma GCC poison strtok asctime ctime gmtime localtime rand srand
/* Stack that grows with the input; names that race. */
#undef alloca
#pragma GCC poison alloca mktemp tmpnam tempnam

#endif
