// engine.cpp: a C++ program of some depth on the fake driver, without Python: where it waits is known
// from its native frames. Lines that tests name are marked.
#include <cstdio>
#include <dlfcn.h>

static int (*launch)(const char *, unsigned, unsigned);
static int (*wait)(unsigned);

namespace engine {

struct Renderer {
    template <typename T> void draw(T n)
    {
        for (T i = 0; i < n; i++) launch("_Z6filterPf", 300, 0);
        wait(0); // draw waits here
    }
};

} // namespace engine

__attribute__((noinline)) static void frame(engine::Renderer &r, int n)
{
    r.draw(n); // frame draws here
    __asm__ volatile("");
}

__attribute__((noinline)) static int deep(engine::Renderer &r, int depth)
{
    char room[200];
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth == 0) {
        frame(r, 3); // deep draws here
        return 1;
    }
    return deep(r, depth - 1) + 1;
}

int main()
{
    void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda || !cupti) return 9;
    auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(cuda, "cuInit"));
    launch = reinterpret_cast<int (*)(const char *, unsigned, unsigned)>(dlsym(cuda, "cuLaunchKernel"));
    wait = reinterpret_cast<int (*)(unsigned)>(dlsym(cuda, "cuStreamSynchronize"));
    init(0);
    engine::Renderer r;
    for (int i = 0; i < 40; i++) frame(r, 4); // main loop
    return deep(r, 5) == 6 ? 0 : 1;
}
