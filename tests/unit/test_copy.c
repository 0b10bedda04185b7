/* test_copy.c: copies in the words of every vendor, and what follows from them. */
#include "analyze/names/copy.h"

#include "analyze/simulate/pinned_speed.h"
#include "kit.h"

static const struct {
    const char *name;
    enum copy_way way;
    enum copy_memory memory;
} words[] = {
    /* CUDA: Kineto and our own recorder */
    {"Memcpy HtoD (Pageable -> Device)", COPY_TO_DEVICE, MEMORY_PAGEABLE},
    {"Memcpy HtoD (Pinned -> Device)", COPY_TO_DEVICE, MEMORY_PINNED},
    {"Memcpy DtoH (Device -> Pageable)", COPY_TO_HOST, MEMORY_PAGEABLE},
    {"Memcpy DtoH (Device -> Pinned)", COPY_TO_HOST, MEMORY_PINNED},
    {"Memcpy DtoD (Device -> Device)", COPY_INSIDE, MEMORY_UNKNOWN},
    {"Memcpy PtoP (Device 0 -> Device 1)", COPY_INSIDE, MEMORY_UNKNOWN},
    {"Memcpy HtoA (Pageable -> Array)", COPY_TO_DEVICE, MEMORY_PAGEABLE},
    {"Memcpy AtoH (Array -> Pinned)", COPY_TO_HOST, MEMORY_PINNED},
    {"Memcpy Unknown (Unknown -> Unknown)", COPY_UNKNOWN, MEMORY_UNKNOWN},
    {"cuMemcpyHtoDAsync_v2", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"cuMemcpyDtoHAsync_v2", COPY_TO_HOST, MEMORY_UNKNOWN},
    /* CUDA: Nsight Systems */
    {"[CUDA memcpy Host-to-Device]", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"[CUDA memcpy Device-to-Host]", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"[CUDA memcpy Device-to-Device]", COPY_INSIDE, MEMORY_UNKNOWN},
    {"[CUDA memcpy Peer-to-Peer]", COPY_INSIDE, MEMORY_UNKNOWN},
    /* HIP: Kineto, roctracer, rocprof */
    {"Memcpy HtoD (Host -> Device)", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"Memcpy DtoH (Device -> Host)", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"hipMemcpyHtoD", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"CopyHostToDevice", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"CopyDeviceToHost", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"CopyDeviceToDevice", COPY_INSIDE, MEMORY_UNKNOWN},
    {"MEMORY_COPY_HOST_TO_DEVICE", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"MEMORY_COPY_DEVICE_TO_HOST", COPY_TO_HOST, MEMORY_UNKNOWN},
    /* Intel: Level Zero, Kineto */
    {"zeCommandListAppendMemoryCopy(M2D)[1572864]", COPY_TO_DEVICE, MEMORY_PAGEABLE},
    {"zeCommandListAppendMemoryCopy(D2M)[4096]", COPY_TO_HOST, MEMORY_PAGEABLE},
    {"zeCommandListAppendMemoryCopy(H2D)", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"Memcpy M2D (Memory -> Device)", COPY_TO_DEVICE, MEMORY_PAGEABLE},
    {"Memcpy D2H (Device -> Host)", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"Memcpy D2D (Device -> Device)", COPY_INSIDE, MEMORY_UNKNOWN},
    {"Memcpy D2DP2P (Device -> Device)", COPY_INSIDE, MEMORY_UNKNOWN},
    /* XLA, TensorFlow, others */
    {"MemcpyH2D", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"MemcpyD2H kind_src:device kind_dst:pinned", COPY_TO_HOST, MEMORY_PINNED},
    {"MemcpyD2D", COPY_INSIDE, MEMORY_UNKNOWN},
    {"MemcpyP2P", COPY_INSIDE, MEMORY_UNKNOWN},
    {"H2D", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"D2H", COPY_TO_HOST, MEMORY_UNKNOWN},
    /* Ascend */
    {"ACL_MEMCPY_HOST_TO_DEVICE", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"MEMCPY_ASYNC device to host", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"MEMCPY_ASYNC", COPY_UNKNOWN, MEMORY_UNKNOWN},
    {"", COPY_UNKNOWN, MEMORY_UNKNOWN},
};

TEST(every_vendors_words_are_known)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct copy c = copy_parse(str_c(words[i].name));
        if (c.way != words[i].way || c.memory != words[i].memory) printf("  %s\n", words[i].name);
        CHECK_EQ_INT(c.way, words[i].way);
        CHECK_EQ_INT(c.memory, words[i].memory);
    }
}

static void add_copy(struct kit *k, double us, const char *name, double dur_us, int64_t bytes)
{
    kit_call(k, "cudaMemcpyAsync", us, 5);
    k->bytes = bytes;
    kit_work(k, KIND_MEMCPY, name, us + 10, dur_us);
}

TEST(only_copies_are_copies)
{
    struct kit k = kit_begin();
    add_copy(&k, 0, "MemcpyH2D", 20, 64);
    kit_launch(&k, 100, "patch2d_MemcpyH2D", 110, 20);
    struct trace *t = kit_end(&k);
    uint32_t crossing = 0;
    for (row_t r = 0; r < t->n_rows; r++) crossing += copy_crosses(copy_of(t, r));
    CHECK_EQ_UINT(crossing, 1);
    CHECK_EQ_INT(copy_of(t, ROW_NONE).way, COPY_UNKNOWN);
    trace_free(t);
}

enum { MB = 1000000 };

static double speed_of(const char *pinned, double pinned_us, double pageable_us, bool *ret_seen)
{
    struct kit k = kit_begin();
    if (pageable_us > 0) add_copy(&k, 0, "Memcpy HtoD (Pageable -> Device)", pageable_us, 10 * MB);
    if (pinned) add_copy(&k, 5000, pinned, pinned_us, 10 * MB);
    add_copy(&k, 9000, "Memcpy HtoD (Pinned -> Device)", 100, 1000); /* mostly latency */
    struct trace *t = kit_end(&k);
    struct pinned_speed s = pinned_speed(t);
    *ret_seen = s.seen;
    trace_free(t);
    return s.bytes_per_ns;
}

TEST(the_speed_of_pinned_copies_is_seen_or_guessed)
{
    bool seen;
    CHECK_NEAR(speed_of("Memcpy DtoH (Device -> Pinned)", 500, 2000, &seen), 20, 1e-9);
    CHECK(seen);
    CHECK_NEAR(speed_of("Memcpy HtoD (Host -> Device)", 500, 2000, &seen), pinned_speed_guess(0),
               1e-9);
    CHECK(!seen);
    CHECK_NEAR(speed_of(NULL, 0, 100, &seen), 100, 1e-9); /* no slower than the pageable ones */
    CHECK(!seen);
    CHECK(pinned_speed_guess(9) > pinned_speed_guess(8));
    CHECK(pinned_speed_guess(8) > pinned_speed_guess(7));
    CHECK_NEAR(pinned_speed_guess(0), pinned_speed_guess(8), 0);
    CHECK_NEAR(pinned_speed_guess(INT32_MIN), pinned_speed_guess(0), 0);
}

TEST_MAIN
