/* test_collective.c: kernels, annotations and stages in which devices or ranks meet. */
#include "analyze/names/collective.h"

#include "test.h"

static void check_kernels(const char *const *names, bool want)
{
    for (; *names; names++)
        if (!CHECK_EQ_INT(collective_kernel(str_c(*names)), want)) printf("  %s\n", *names);
}

TEST(kernels_of_every_library)
{
    static const char *const names[] = {
        "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", /* RCCL */
        "void rcclKernel()",
        "mscclKernel_Sum_half_LL",
        "nvshmemi_transfer_rma",
        "rocshmem_put",
        "oneccl_allreduce_pcie",
        "hcom_allReduce__428_0_1",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)",
        "one_shot_all_reduce_kernel",
        "multimem_all_gather_kernel",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>()",
        "allreduce_fusion_kernel_oneshot_lamport",
        "quickreduce::prototype_twoshot",
        "void deep_ep::intranode::dispatch<8, 768, 8192>()",
        "reduce_scatter_cross_device_store",
        "all_to_all_kernel",
        "moeA2ADispatchKernel",
        "multimem_one_shot_reduce_out",
        "ishmem_put",
        NULL};
    check_kernels(names, true);
}

TEST(kernels_that_only_sound_like_it)
{
    static const char *const names[] = {"small_reduce_kernel",
                                        "void at::native::reduce_kernel<512, 1, int>()",
                                        "scatter_reduce",
                                        "void at::native::broadcast_kernel()",
                                        "wall_gather",
                                        "gemm",
                                        "",
                                        "allreduc",
                                        NULL};
    check_kernels(names, false);
}

TEST(annotations_of_libraries)
{
    CHECK(collective_label(str_c("nccl:all_reduce")));
    CHECK(collective_label(str_c("gloo:broadcast")));
    CHECK(collective_label(str_c("hccl:x")));
    CHECK(collective_label(str_c("mpi:send")));
    CHECK(!collective_label(str_c("nccl")));
    CHECK(!collective_label(str_c("nccl_step")));
    CHECK(!collective_label(str_c("my nccl:all_reduce")));
    CHECK(!collective_label(str_c("barrier:x")));
}

TEST(stages_as_people_name_them)
{
    CHECK(collective_stage(str_c("all gather")));
    CHECK(collective_stage(str_c("AllReduce")));
    CHECK(collective_stage(str_c("grad-sync")));
    CHECK(collective_stage(str_c("sync_gradients")));
    CHECK(collective_stage(str_c("wait for ranks")));
    CHECK(collective_stage(str_c("recv_latents")));
    CHECK(collective_stage(str_c("dist.barrier")));
    CHECK(!collective_stage(str_c("forward")));
    CHECK(!collective_stage(str_c("small_reduce")));
    CHECK(!collective_stage(str_c("mpi"))); /* too short a word to say so */
}

TEST(which_collective_a_name_is_of)
{
    static const struct {
        const char *name;
        enum collective want;
    } is[] = {
        {"ncclDevKernel_AllReduce_Sum_f16_RING_LL", COLLECTIVE_ALL_REDUCE},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", COLLECTIVE_SEND_RECV},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", COLLECTIVE_REDUCE_SCATTER},
        {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", COLLECTIVE_BROADCAST},
        {"ncclKernel_Reduce_RING_LL_Sum_float", COLLECTIVE_REDUCE},
        {"ncclDevKernel_Generic_1", COLLECTIVE_OTHER},
        {"vllm::cross_device_reduce_1stage", COLLECTIVE_ALL_REDUCE},
        {"nccl:all_to_all", COLLECTIVE_ALL_TO_ALL},
        {"_allgather_base", COLLECTIVE_ALL_GATHER},
        {"_reduce_scatter_base", COLLECTIVE_REDUCE_SCATTER},
        {"all_to_allv", COLLECTIVE_ALL_TO_ALL},
        {"send", COLLECTIVE_SEND_RECV},
        {"barrier", COLLECTIVE_BARRIER},
        {"scatter", COLLECTIVE_SCATTER},
        {"", COLLECTIVE_OTHER},
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        if (!CHECK_EQ_INT(collective_of(str_c(is[i].name)), is[i].want))
            printf("  %s\n", is[i].name);
    CHECK_EQ_STR(collective_name(COLLECTIVE_SCATTER), "scatter");
    CHECK_EQ_STR(collective_name(COLLECTIVE_OTHER), "other");
}

TEST(what_the_links_carry)
{
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 8), 1.75, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 2), 1, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_ALL_GATHER, 4), 0.75, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_BROADCAST, 4), 1, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 1), 0, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_ALL_REDUCE, INT64_MIN), 0, 1e-9);
    CHECK_NEAR(collective_bus_factor(COLLECTIVE_OTHER, 8), 0, 1e-9);
}

TEST_MAIN
