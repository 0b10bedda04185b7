/* device_constants.h: the numbers that decide in analyze/device; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_DEVICE_DEVICE_CONSTANTS_H
#define STRATA_ANALYZE_DEVICE_DEVICE_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define DEVICE_CONSTANTS(X) \
    X(int, gpu_clock_sample_ns, 50000000, "ns", \
      "readings of one sample lie this close together") \
    X(double, gpu_clock_busy_share, 0.5, "share of time", \
      "a device that works less before a sample may rest its clock") \
    X(int, gpu_clock_busy_ns, 100000000, "ns", \
      "the time before a sample that is examined") \
    X(double, gpu_clock_nearly_share, 0.97, "share", \
      "a clock this close to the highest is not held down")
/* clang-format on */

DEVICE_CONSTANTS(CONSTANT_DECLARE)

#endif
