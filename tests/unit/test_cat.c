/* test_cat.c: category names of all years and vendors, and what the kinds mean. */
#include "trace/cat.h"

#include "test.h"

TEST(categories_of_today_and_of_2021)
{
    static const struct {
        const char *cat;
        enum row_kind kind;
    } rows[] = {
        {"cpu_op", KIND_OP},
        {"Operator", KIND_OP},
        {"user_annotation", KIND_ANNOTATION},
        {"python_function", KIND_PYTHON},
        {"cuda_runtime", KIND_RUNTIME},
        {"Runtime", KIND_RUNTIME},
        {"cuda_driver", KIND_DRIVER},
        {"kernel", KIND_KERNEL},
        {"Kernel", KIND_KERNEL},
        {"gpu_memcpy", KIND_MEMCPY},
        {"Memcpy", KIND_MEMCPY},
        {"gpu_memset", KIND_MEMSET},
        {"gpu_user_annotation", KIND_GPU_ANNOTATION},
        {"cuda_sync", KIND_GPU_SYNC},
        {"overhead", KIND_OVERHEAD},
        {"Trace", KIND_WINDOW},
        {"xpu_runtime", KIND_RUNTIME},
        {"mtia_ccp_events", KIND_KERNEL},
        {"privateuse1_runtime", KIND_RUNTIME},
        {"something new", KIND_OTHER},
        {"KERNEL", KIND_OTHER},
        {"kernel ", KIND_OTHER},
        {"", KIND_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!CHECK_EQ_INT(cat_kind(str_c(rows[i].cat)), rows[i].kind)) puts(rows[i].cat);
}

TEST(every_kind_is_described)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        CHECK(kind_name(k) && kind_name(k)[0]);
        for (int other = 0; other < k; other++) CHECK(strcmp(kind_name(k), kind_name(other)) != 0);
        if (kind_is_device(k)) CHECK_EQ_INT(kind_table(k), TABLE_GPU);
        CHECK(!(kind_is_device(k) && kind_nests(k)));
    }
}

TEST(names_of_kinds_are_categories_of_today)
{
    static const enum row_kind same[] = {KIND_OP,     KIND_ANNOTATION, KIND_PYTHON, KIND_RUNTIME,
                                         KIND_DRIVER, KIND_KERNEL,     KIND_MEMCPY, KIND_MEMSET};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_EQ_INT(cat_kind(str_c(kind_name(same[i]))), same[i]);
}

TEST(vendors)
{
    CHECK_EQ_STR(cat_device_type(str_c("kernel")), "cuda");
    CHECK_EQ_STR(cat_device_type(str_c("mtia_ccp_events")), "mtia");
    CHECK_EQ_STR(cat_device_type(str_c("hpu_op")), "hpu");
    CHECK_EQ_STR(cat_device_type(str_c("cpu_op")), NULL);
    CHECK_EQ_STR(cat_device_type(str_c("unknown")), NULL);
}

TEST_MAIN
