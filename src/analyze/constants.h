/* constants.h: numbers that decide a result, other than thresholds that a user sets.
 *
 * Each subject has one table, <subject>_constants.h, with a row per number:
 *
 *     X(type, name, value, unit, why)        int or double; the name begins with its user
 *
 * A number in code that is only the size of a buffer, the width of a column or a bound on effort
 * stays where it is used. tests/unit/test_constants.c and tools/check_banned.py hold to this.
 *
 * The program is built with these as constants. A build with -Dtune=true has them as variables,
 * which the environment sets by name (STRATA_TEST_TUNE="rounds_slack_pct=4,wall_gpu_share=0.8"):
 * `make sensitivity` asks what each of them still decides. */
#ifndef STRATA_ANALYZE_CONSTANTS_H
#define STRATA_ANALYZE_CONSTANTS_H

#ifdef STRATA_TUNE
#define CONSTANT_DECLARE(type, name, value, unit, why) extern type name;
#else
#define CONSTANT_DECLARE(type, name, value, unit, why) CONSTANT_OF_##type(name, value)
#define CONSTANT_OF_int(name, value)                   enum { name = (value) };
#define CONSTANT_OF_double(name, value)                static const double name = value;
#endif

#endif
