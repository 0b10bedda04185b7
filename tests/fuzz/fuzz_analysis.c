/* fuzz_analysis.c: any bytes as a trace, through every command that takes one and `report --md`. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {"report @0 --md", "report @0 --whole --json", NULL};
    static const char *const suffixes[] = {".json", NULL};
    commands_run_all(p, n);
    commands_run(lines, suffixes, p, n);
    return 0;
}
