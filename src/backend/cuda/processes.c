/* processes.c: see processes.h. */
#include "backend/cuda/processes.h"

#include <stdbool.h>
#include <stdlib.h>

static int processes_by_pid(const void *a, const void *b)
{
    uint32_t x = ((const struct nvml_process *)a)->pid, y = ((const struct nvml_process *)b)->pid;
    return (x > y) - (x < y);
}

static bool is_partitioned(const struct nvml_process *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].gpu_instance != UINT32_MAX) return true;
    return false;
}

/* Different ids in a sorted list, without those that `except` has. */
static int processes_count(const struct nvml_process *list, uint32_t n,
                           const struct nvml_process *except, uint32_t n_except)
{
    int different = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i && list[i].pid == list[i - 1].pid) continue;
        different +=
            !n_except || !bsearch(&list[i], except, n_except, sizeof *except, processes_by_pid);
    }
    return different;
}

int processes_others(struct process_lists *l)
{
    if (is_partitioned(l->direct, l->n_direct) || is_partitioned(l->mps, l->n_mps))
        return PROCESSES_UNKNOWN;
    qsort(l->direct, l->n_direct, sizeof *l->direct, processes_by_pid);
    qsort(l->mps, l->n_mps, sizeof *l->mps, processes_by_pid);
    int clients = processes_count(l->mps, l->n_mps, NULL, 0);
    int direct = processes_count(l->direct, l->n_direct, l->mps, l->n_mps);
    if (!clients) return direct ? direct - 1 : PROCESSES_UNKNOWN;
    return clients - 1 + (direct ? direct - 1 : 0); /* we, and the server */
}
