/* test_kernel_traits.c: what kernel names tell about their work. */
#include "analyze/names/kernel_name.h"

#include "test.h"

static struct kernel_traits of(const char *name)
{
    return kernel_traits_of(str_c(name));
}

TEST(float32_products_without_tensor_cores)
{
    CHECK(of("ampere_sgemm_128x64_nn").plain_float);
    CHECK(of("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_ffma_aligna4").plain_float);
    CHECK(of("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>").plain_float);
    CHECK(of("cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1").plain_float);
    CHECK(!of("cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4").plain_float);
    CHECK(!of("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16").plain_float);
    CHECK(!of("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT").plain_float);
    CHECK(!of("ampere_bf16_s16816gemm_bf16_128x256_nn").plain_float);
}

TEST(types)
{
    CHECK_EQ_INT(of("vectorized<at::native::CUDAFunctor_add<c10::BFloat16>, float>").type,
                 NUMBER_BF16);
    CHECK_EQ_INT(of("reduce_kernel<512, float, c10::BFloat16>").type, NUMBER_F32);
    CHECK_EQ_INT(of("nvjet_sm90_tst_64x8").type, NUMBER_BF16);
    CHECK_EQ_INT(of("CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int>").type,
                 NUMBER_BF16);
    CHECK_EQ_INT(of("some_kernel").type, NUMBER_UNKNOWN);
}

/* 2 x 24 x 4096 x 64 elements, as an H200 ran them. */
TEST(elements_from_the_launch)
{
    const uint32_t block[3] = {128, 1, 1}, grid[3] = {12288, 1, 1}, twice[3] = {24576, 1, 1};
    struct kernel_traits v =
        of("void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, "
           "float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> "
           ">(int)");
    CHECK(v.library && !v.strided);
    CHECK_EQ_INT(v.tensors, 2);
    CHECK_NEAR(kernel_elements(&v, grid, block, 8), 2.0 * 24 * 4096 * 64, 0);
    CHECK_NEAR(kernel_elements(&v, grid, block, 4), 24.0 * 4096 * 64, 0);
    struct kernel_traits u =
        of("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
           "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>, 4, x>");
    CHECK_NEAR(kernel_elements(&u, twice, block, 8), 2.0 * 24 * 4096 * 64, 0);
    struct kernel_traits s = of(
        "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
        "at::native::BinaryFunctor<float, float, float, at::native::MulFunctor<float> > >(int)>");
    CHECK(s.strided);
    CHECK_EQ_INT(s.tensors, 3);
    CHECK_NEAR(kernel_elements(&s, twice, block, 8), 2.0 * 24 * 4096 * 64, 0);
    struct kernel_traits gemm = of("ampere_sgemm_128x64_nn");
    CHECK_NEAR(kernel_elements(&gemm, grid, block, 8), 0, 0);
}

/* The functor's arguments and the result; not the loop around it, nor what a cut name leaves. */
TEST(tensors_of_a_functor)
{
#define LOOP "void at::native::elementwise_kernel<128, 4, gpu_kernel_impl<f(int)::"
    CHECK_EQ_INT(of(LOOP "{lambda(float)#1}> >").tensors, 2);
    CHECK_EQ_INT(of(LOOP "{lambda(float, float)#1}> >").tensors, 3);
    CHECK_EQ_INT(of(LOOP "{lambda(int)#1}, {lambda(float, float, bool)#2}> >").tensors, 4);
    CHECK_EQ_INT(of(LOOP "{lambda(int)#1}> >").tensors, 0);
    CHECK_EQ_INT(of(LOOP "{lambda()#1}> >").tensors, 0);
    CHECK_EQ_INT(of(LOOP "{lambda(").tensors, 0);
    CHECK_EQ_INT(of(LOOP "{lambda(float, flo").tensors, 0);
#undef LOOP
}

TEST(cupy)
{
    const uint32_t block[3] = {128, 1, 1}, grid[3] = {1000, 1, 1};
    struct kernel_traits k = of("cupy_multiply__float32_float32_float32");
    CHECK_EQ_INT(k.tensors, 3);
    CHECK_EQ_INT(k.type, NUMBER_F32);
    CHECK_NEAR(kernel_elements(&k, grid, block, 8), 128000, 0);
    CHECK(of("cupy_tanh__float32_float32").instructions > k.instructions);
}

TEST(softmax_and_layouts)
{
    CHECK(of("cunn_SoftMaxForward<8, float, float, float, SoftMaxForwardEpilogue>").softmax);
    CHECK(!of("cunn_SoftMaxForward<8, float, float, float, LogSoftMaxForwardEpilogue>").softmax);
    CHECK(of("softmax_warp_forward<float, float, float, 9, false, false>").softmax);
    CHECK(!of("softmax_warp_forward<float, float, float, 9, true, false>").softmax);
    CHECK(of("softmax_warp_backward<float, float, float, 9, false, false>").softmax_backward);
    CHECK(of("void cudnn::ops::nchwToNhwcKernel<float, float>").converts_layout);
    CHECK(of("batched_transpose_32x32_half").converts_layout);
    CHECK(!of("transpose_kernel").converts_layout);
}

TEST_MAIN
