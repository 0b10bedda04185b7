/* fuzz_safetensors.c: any bytes as the list of a model's modules, and as a .safetensors file. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "offload --modules @0 --step-time 1098ms --resident 1GB",
        "offload --modules @0 --tokens 4096 --tflops 300 --steps 4 --json",
        "offload --modules @1 --step-time 1098ms --resident 1GB --json",
        NULL,
    };
    static const char *const suffixes[] = {".safetensors", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
