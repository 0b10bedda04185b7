/* fuzz_xplane.c: profiles of XLA from any bytes. */
#include "import/importer.h"

#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    (void)xplane_sniff(str_from((const char *)p, n));
    return fuzz_importer(&import_xplane, p, n);
}
