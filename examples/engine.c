/* engine.c: an inference engine in miniature whose stages are marked with strata/strata.h.
 *
 *     cc engine.c $(pkg-config --cflags --libs strata) -o engine && strata run -- ./engine
 *
 * Without `strata run` a mark costs one load and one branch; with -DSTRATA_DISABLE, nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <strata/strata.h>

enum { N = 1 << 12, STEPS = 20 };

static void load_weights(float *w)
{
    STRATA_SCOPE("load_weights");
    for (int i = 0; i < N; i++) w[i] = (float)(i % 17) / 17;
}

static float forward(const float *w, float x)
{
    STRATA_SCOPE("forward");
    for (int i = 0; i < N; i++) x = x * 0.5f + w[i];
    return x;
}

int main(void)
{
    float *w = malloc(N * sizeof(*w));
    if (!w) return 1;
    strata_thread_name("engine");
    load_weights(w);
    float x = 0;
    for (int step = 0; step < STEPS; step++) {
        strata_step();
        strata_begin("denoise");
        strata_arg_int("index", step);
        x = forward(w, x);
        strata_end();
        strata_counter("activation", x);
    }
    printf("%d steps, last activation %.3f\n", STEPS, x);
    free(w);
    return 0;
}
