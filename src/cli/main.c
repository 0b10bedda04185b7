/* main.c: the program. Everything is in run.c, so that tests can call it in their own process. */
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/cli.h"

/* Torture tests make the k-th allocation of a whole command fail. */
static void arm_fault_injection(void)
{
    const char *k = getenv("STRATA_FAIL_ALLOC");
    if (k) mem_fail_at(strtol(k, NULL, 10));
}

int main(int argc, char **argv)
{
    arm_fault_injection();
    fd_fill_standard();
    return cli_main(argc, argv);
}
