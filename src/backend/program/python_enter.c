/* python_enter.c: see python_side.h. The interpreter ends threads that ask for the GIL too late,
 * so the thread has no frames but these. */
#include "backend/program/python_side.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

static struct {
    int (*is_up)(void);
    int (*ensure)(void);
    void (*release)(int state);
    int (*run)(const char *words);
} python;

static int python_enter_find(const char *name, void *function)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static void *python_enter_run(void *words)
{
    if (python.is_up()) {
        int state = python.ensure();
        (void)python.run(words);
        python.release(state);
    }
    mem_free(words);
    return NULL;
}

void python_enter(const char *words)
{
    pthread_t thread;
    sigset_t all, before;
    if (!*words || !python_enter_find("Py_IsInitialized", &python.is_up) ||
        !python_enter_find("PyGILState_Ensure", &python.ensure) ||
        !python_enter_find("PyGILState_Release", &python.release) ||
        !python_enter_find("PyRun_SimpleString", &python.run))
        return;
    size_t n = strlen(words) + 1;
    char *copy = mem_zalloc(1, n);
    if (!copy) return;
    memcpy(copy, words, n);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, python_enter_run, copy);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) mem_free(copy);
    else pthread_detach(thread);
}
