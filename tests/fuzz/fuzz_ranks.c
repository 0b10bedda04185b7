/* fuzz_ranks.c: traces of the ranks of one program. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "report --ranks @0 @1 @2",
        "report --ranks @0 @1 @2 --json",
        "report --ranks @0 @1",
        "report --ranks .",
        NULL,
    };
    static const char *const suffixes[] = {".json", ".json", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
