/* test_processes.c: how many processes on a device are certainly not this one. */
#include "backend/cuda/processes.h"

#include "test.h"

static struct process_lists lists;

static void add(struct nvml_process *list, uint32_t *n, uint32_t pid)
{
    list[(*n)++] = (struct nvml_process){
        .pid = pid, .gpu_instance = UINT32_MAX, .compute_instance = UINT32_MAX};
}

/* Ids up to the first 0. */
static int others(const uint32_t *direct, const uint32_t *mps)
{
    lists.n_direct = lists.n_mps = 0;
    while (*direct) add(lists.direct, &lists.n_direct, *direct++);
    while (*mps) add(lists.mps, &lists.n_mps, *mps++);
    return processes_others(&lists);
}

#define PIDS(...) ((const uint32_t[]){__VA_ARGS__, 0})
#define NONE      ((const uint32_t[]){0})

TEST(whoever_is_listed_besides_us)
{
    CHECK_EQ_INT(others(PIDS(41), NONE), 0);
    CHECK_EQ_INT(others(PIDS(41, 77), NONE), 1);
    CHECK_EQ_INT(others(PIDS(80, 41, 77), NONE), 2);
}

/* Hidden processes: we work on the device, and are not there. */
TEST(an_empty_list_says_nothing)
{
    CHECK_EQ_INT(others(NONE, NONE), PROCESSES_UNKNOWN);
}

TEST(a_process_that_is_listed_twice_is_one)
{
    CHECK_EQ_INT(others(PIDS(41, 41), NONE), 0);
    CHECK_EQ_INT(others(PIDS(77, 41, 77), NONE), 1);
}

TEST(the_server_of_mps_is_nobody)
{
    CHECK_EQ_INT(others(PIDS(9), PIDS(41)), 0);
    CHECK_EQ_INT(others(PIDS(9), PIDS(41, 77)), 1);
    CHECK_EQ_INT(others(NONE, PIDS(41, 77)), 1);        /* the server is hidden */
    CHECK_EQ_INT(others(PIDS(9, 41), PIDS(41)), 0);     /* clients are in both lists */
    CHECK_EQ_INT(others(PIDS(9, 88), PIDS(41, 77)), 2); /* and one beside MPS */
}

TEST(partitions_do_not_share)
{
    uint32_t n = 0;
    add(lists.direct, &n, 41);
    add(lists.direct, &n, 77);
    lists.direct[1].gpu_instance = 3;
    lists.n_direct = n;
    lists.n_mps = 0;
    CHECK_EQ_INT(processes_others(&lists), PROCESSES_UNKNOWN);
}

TEST(a_full_list)
{
    lists.n_direct = lists.n_mps = 0;
    for (uint32_t i = 0; i < PROCESSES_MOST; i++) add(lists.direct, &lists.n_direct, 1000 - i);
    CHECK_EQ_INT(processes_others(&lists), PROCESSES_MOST - 1);
}

TEST_MAIN
