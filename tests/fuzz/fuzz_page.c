/* fuzz_page.c: any bytes as a trace, through the HTML page. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "report @0 --html -",
        NULL,
    };
    static const char *const suffixes[] = {".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
