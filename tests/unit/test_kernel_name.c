/* test_kernel_name.c: what is left of a kernel's name, and what family it is of. */
#include "analyze/names/kernel_name.h"
#include "test.h"

static void check_short(const char *name, const char *want)
{
    struct buf b;
    buf_init(&b);
    kernel_name_short(str_c(name), &b);
    CHECK_EQ_STR(buf_c(&b), want);
    buf_done(&b);
}

TEST(templates_keep_their_name_and_their_functor)
{
    check_short(
        "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul>)",
        "vectorized_elementwise_kernel<CUDAFunctor_add>");
    check_short("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                "at::native::BinaryFunctor<float, float, float, "
                "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, "
                "at::native::BinaryFunctor<float> const&)::{lambda(int)#1}>(int)",
                "elementwise_kernel<MulFunctor>");
    check_short("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
                "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}>(int)",
                "unrolled_elementwise_kernel<direct_copy_kernel_cuda>");
}

TEST(types_and_sizes_say_nothing)
{
    check_short(
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
        "float>(int, float)",
        "vectorized_layer_norm_kernel");
    check_short("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, true>(int)",
                "splitKreduce_kernel");
}

TEST(names_that_are_no_templates_stay)
{
    check_short("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT");
    check_short("triton_red_fused_add_mul_0", "add + mul (triton_red_0)");
    check_short("triton_my_kernel", "triton_my_kernel");
    check_short("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)");
    check_short("Memset (Device)", "Memset (Device)");
    check_short("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    check_short("", "");
}

TEST(what_all_generated_names_begin_with_goes)
{
    check_short("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3f",
                "cudnn_sdpa_sm90_flash_fprop_wgmma_f16_knob_3f");
}

TEST(a_return_type_is_not_the_name)
{
    check_short("std::enable_if<(((8)>(0)))&&_typeConvert<c10::Half>::exists, void>::type "
                "vllm::scaled_fused_add_rms_norm_kernel<c10::Half, 8>(c10::Half*, float, int)",
                "scaled_fused_add_rms_norm_kernel");
    check_short("std::pair<int, int> ns::walk<float>(int)", "walk");
    check_short("void ns::Loop<float>::run(int) const", "Loop"); /* near miss: no type before it */
}

TEST(names_that_cannot_be_demangled_keep_their_last_part)
{
    check_short("_Z32paged_attention_ll4mi_QKV_kernelIDF16_hLN4vllm18Fp8KVCacheDataTypeE1E",
                "paged_attention_ll4mi_QKV_kernel");
    check_short("_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_",
                "scaled_act_and_mul_kernel");
    check_short("_Z99short", "_Z99short");
    check_short("_Zero", "_Zero");
}

TEST(names_that_list_settings_keep_types_and_tile)
{
    check_short("Cijk_Alik_Bljk_F8HS_BH_BiasSH_AS_SAB_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB1",
                "Cijk_Alik_Bljk_F8HS_MT64x32x256");
    check_short("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_"
                "aligna4_alignc4_execute_split_k_kernel__5x_cublas",
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_split_k");
    check_short("Cijk_Alik_Bljk_MTx", "Cijk_Alik_Bljk_MTx");
    check_short("void cutlass::device_kernel<a::fp8_ptp128c::GemmKernel>(a::GemmKernel::Params)",
                "device_kernel<fp8_ptp128c::GemmKernel>");
}

TEST(names_cut_short_or_odd_do_not_confuse_it)
{
    check_short("void at::native::kernel<int, (unsigned", "kernel");
    check_short("<", "<");
    check_short("a<b<c<d", "a<b>");
    check_short("void ", "void ");
}

static enum kernel_family family(const char *name)
{
    return kernel_family(KIND_KERNEL, str_c(name));
}

TEST(families_are_told_by_words)
{
    CHECK_EQ_STR(kernel_family_name(family("nvjet_sm90_tst_64x8")), "gemm");
    CHECK_EQ_STR(kernel_family_name(family("cudnn_generated_fort_native_sdpa_sm90_flash_fprop")),
                 "attention");
    CHECK_EQ_STR(kernel_family_name(family("sm90_xmma_fprop_implicit_gemm_bf16")), "conv");
    CHECK_EQ_STR(kernel_family_name(family("triton_poi_fused_layer_norm_0")), "triton");
    CHECK_EQ_STR(kernel_family_name(family("vectorized_layer_norm_kernel")), "norm");
    CHECK_EQ_STR(kernel_family_name(family("ncclDevKernel_AllReduce")), "communication");
    CHECK_EQ_STR(kernel_family_name(family("CatArrayBatchedCopy")), "copy");
    CHECK_EQ_STR(kernel_family_name(family("reduce_kernel<512>")), "reduction");
    CHECK_EQ_STR(kernel_family_name(family("whatever")), "other");
    CHECK_EQ_INT(kernel_family(KIND_MEMCPY, str_c("nccl")), FAMILY_COPY);
    CHECK_EQ_INT(kernel_family(KIND_MEMSET, str_c("Memset (Device)")), FAMILY_MEMSET);
}

TEST_MAIN
