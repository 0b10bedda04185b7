/* main.c: the program. Everything is in run.c, so that tests can call it in their own process. */
#include <signal.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/file_temps.h"
#include "base/mem.h"
#include "cli/cli.h"

/* Torture tests make the k-th allocation of a whole command fail. */
static void arm_fault_injection(void)
{
    const char *k = getenv("STRATA_TEST_FAIL_ALLOC");
    if (k) mem_fail_at(strtol(k, NULL, 10));
}

static void leave_nothing(int number)
{
    file_temps_remove();
    raise(number); /* by now what it does by default */
}

/* Half of a file is of no use. Signals that a parent ignores stay ignored. */
static void tidy_on_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now, tidy = {.sa_handler = leave_nothing, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&tidy.sa_mask);
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(ending[i], &tidy, NULL);
    }
}

int main(int argc, char **argv)
{
    arm_fault_injection();
    fd_fill_standard();
    tidy_on_signals();
    old_settings_take();
    return cli_main(argc, argv);
}
