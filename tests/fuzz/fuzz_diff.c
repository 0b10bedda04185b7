/* fuzz_diff.c: two traces compared, either way and with themselves. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "diff @0 @1 --allow-untrusted",
        "diff @0 @1 --json --allow-untrusted",
        "diff @1 @0 --allow-untrusted",
        "diff @0 @0 vs @1 @1 --json",
        "diff --stages @0 @1",
        "diff --stages @0 @1 --json",
        NULL,
    };
    static const char *const suffixes[] = {".json", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
