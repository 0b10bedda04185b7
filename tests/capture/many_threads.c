/* many_threads.c: a program under load, for those who enter it while it runs: N threads that
 * allocate and free memory all the time, beside a main thread that computes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *work(void *unused)
{
    unsigned char *p = NULL;
    for (unsigned long i = 0;; i++) {
        unsigned char *more = realloc(p, 64 + i * 37 % 5000);
        if (!more) break;
        p = more;
        memset(p, 1, 64);
        if (i % 64 == 0) usleep(200);
        if (i % 7) continue;
        free(p);
        p = NULL;
    }
    free(p);
    return unused;
}

int main(int n_args, char **args)
{
    int n = n_args > 1 ? (int)strtol(args[1], NULL, 10) : 0;
    volatile double x = 1;
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) return 1;
    }
    printf("ready\n");
    fflush(stdout);
    for (unsigned long i = 0;; i++) {
        x = x * 1.0000001 + 1e-9;
        if (n && i % 100000 == 0) usleep(1000);
    }
}
