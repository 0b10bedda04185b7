/* What cpu.h says is what the kernel lists in /proc/cpuinfo. */
#include "base/cpu.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static char flags[1 << 16]; /* of the first processor, with a space before and after each */

static bool read_flags(void)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (f && !found && fgets(flags, sizeof flags - 1, f))
        found = strncmp(flags, "flags", 5) == 0;
    if (f) fclose(f);
    char *end = strchr(flags, '\n');
    if (end) *end = ' ';
    return found;
}

static bool all(const char *const *names)
{
    for (; *names; names++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", *names);
        if (!strstr(flags, word)) return false;
    }
    return true;
}

TEST(agrees_with_the_kernel)
{
    static const char *const avx2[] = {"avx2", "bmi1", "bmi2", "abm", "popcnt", NULL};
    static const char *const avx512[] = {"avx512f", "avx512bw", "avx512vl", NULL};
#if defined(__x86_64__)
    const bool x86 = true;
#else
    const bool x86 = false; /* an emulator may show the flags of its host */
#endif
    REQUIRE(read_flags() || !x86);
    CHECK_EQ_INT(cpu_has_avx2(), x86 && all(avx2));
    CHECK_EQ_INT(cpu_has_avx512(), x86 && all(avx2) && all(avx512));
}

TEST_MAIN
