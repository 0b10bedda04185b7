/* gpu_counters.c: see gpu_counters.h. */
#include "cli/gpu_counters.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/cli.h"

static int tick(void *ctx, struct err *e)
{
    return pm_poll(ctx, e);
}

/* The first of CUDA_VISIBLE_DEVICES, where it is a number. */
static size_t first_device(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && *visible >= '0' && *visible <= '9' ? strtoul(visible, NULL, 10) : 0;
}

static int sample(struct pm_sampler *s, char **command, struct pm_result *ret, struct err *e)
{
    int status = 0;
    TRY(pm_start(s, e));
    TRY(child_run_ticking(command, tick, s, &status, e));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_say("%s failed; showing what was counted until then", command[0]);
    return pm_stop(s, ret, e);
}

int gpu_counters_run(char **command, struct arena *mem, struct pm_result *ret, struct err *e)
{
    struct pm_api api;
    struct pm_sampler s;
    size_t device = first_device();
    unsetenv("CUDA_VISIBLE_DEVICES"); /* CUPTI counts all devices */
    TRY(pm_api_open(&api, mem, e));
    int rc = pm_open(&s, &api, device, mem, e);
    if (rc == 0) rc = sample(&s, command, ret, e);
    pm_close(&s);
    pm_api_close(&api);
    return rc;
}
