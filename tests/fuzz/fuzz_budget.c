/* fuzz_budget.c: a budget and a trace. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "check @1 --budget @0 --allow-untrusted",
        "check @1 --json --budget @0",
        NULL,
    };
    static const char *const suffixes[] = {".txt", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
