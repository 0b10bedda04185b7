/* cupti_find.c: see cupti_api.h. */
#include "backend/cuda/cupti_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int least_driver; /* CUDA version the driver must have; 0: not known */
} libraries[] = {{"libcupti.so.13", 13000}, {"libcupti.so.12", 12000}, {"libcupti.so", 0}};
enum { N_LIBRARIES = sizeof libraries / sizeof *libraries, PATH_BYTES = 1200 };

/* The mapped library whose path holds `part`; its folder if that ends behind `part`. */
struct search {
    const char *part;
    char path[512];
};

static int cupti_find_look(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *s = ctx;
    if (!info->dlpi_name || !strstr(info->dlpi_name, s->part)) return 0;
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

static bool find_mapped(const char *part, struct search *ret)
{
    *ret = (struct search){.part = part};
    return dl_iterate_phdr(cupti_find_look, ret) == 1;
}

static void *open_mapped(void)
{
    struct search s;
    for (int i = 0; i < N_LIBRARIES; i++) {
        void *h = dlopen(libraries[i].name, RTLD_LAZY | RTLD_NOLOAD);
        if (h) return h;
    }
    return find_mapped("/libcupti.so", &s) ? dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* CUDA's version that the driver was made for, 0 when it does not say. */
static int driver_version(void)
{
    void *h = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *p = h ? dlsym(h, "cuDriverGetVersion") : NULL;
    int (*get)(int *) = NULL;
    int version = 0;
    memcpy(&get, &p, sizeof p);
    if (!get || get(&version) != 0) version = 0;
    if (h) dlclose(h);
    return version;
}

static bool cupti_find_suits(int library)
{
    int version = driver_version();
    return !version || version >= libraries[library].least_driver;
}

/* In the folders that match `pattern`, the newest version first. */
static void *open_in(const char *pattern)
{
    char path[PATH_BYTES + 80];
    void *h = NULL;
    for (int i = 0; i < N_LIBRARIES && !h; i++) {
        if (!cupti_find_suits(i)) continue;
        glob_t found = {0};
        snprintf(path, sizeof path, "%s/%s", pattern, libraries[i].name);
        if (glob(path, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc && !h; k++)
                h = dlopen(found.gl_pathv[k], RTLD_LAZY | RTLD_LOCAL);
        globfree(&found);
    }
    return h;
}

static void *open_below(const char *folder, const char *const *below, size_t n)
{
    char path[PATH_BYTES + 40];
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, below[i]);
        void *h = open_in(path);
        if (h) return h;
    }
    return NULL;
}

/* Where wheels keep it, seen from the folder of a library that is mapped. */
static void *open_beside(const char *mapped)
{
    static const char *const below[] = {".", "../../nvidia/cu13/lib", "../../nvidia/cuda_cupti/lib",
                                        "../../cuda_cupti/lib"};
    struct search s;
    if (!find_mapped(mapped, &s)) return NULL;
    char *slash = strrchr(s.path, '/');
    if (!slash) return NULL;
    *slash = 0;
    return open_below(s.path, below, sizeof below / sizeof *below);
}

/* Where the packages of the Python in this process are, as a pattern; false when that is not
 * known. Extension modules that are mapped say it best. */
static bool find_packages(char out[PATH_BYTES])
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    struct search s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!find_mapped(names[i], &s)) continue;
        char *end = strstr(s.path, names[i]) + strlen(names[i]) - 1;
        snprintf(out, PATH_BYTES, "%.*s", (int)(end - s.path), s.path);
        return true;
    }
    const char *venv = getenv("VIRTUAL_ENV");
    char exe[512];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    char *slash = strrchr(exe, '/');
    if (slash) *slash = 0;
    if (venv && *venv) snprintf(out, PATH_BYTES, "%s/lib/python3*/site-packages", venv);
    else snprintf(out, PATH_BYTES, "%s/../lib/python3*/site-packages", exe);
    return (venv && *venv) || slash;
}

static bool has_python(void)
{
    return dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") != NULL;
}

/* A wheel's is the one that torch of the same packages would load. */
static void *open_wheel(void)
{
    static const char *const below[] = {"nvidia/*/lib", "cupy/.data/lib"};
    char packages[PATH_BYTES];
    if (!has_python() || !find_packages(packages)) return NULL;
    return open_below(packages, below, sizeof below / sizeof *below);
}

/* Whether torch may be imported after us: it must find its own then. */
static bool torch_may_come(void)
{
    char packages[PATH_BYTES], path[PATH_BYTES + 40];
    struct search s;
    if (!has_python() || find_mapped("/libtorch", &s)) return false;
    if (!find_packages(packages)) return true;
    snprintf(path, sizeof path, "%s/torch/lib/libtorch_cpu.so", packages);
    glob_t found = {0};
    bool there = glob(path, 0, NULL, &found) == 0;
    globfree(&found);
    return there;
}

static void *open_toolkit(void)
{
    static const char *const below[] = {"extras/CUPTI/lib64", "lib64", "lib", "targets/*/lib"};
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const places[] = {"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"};
    void *h = NULL;
    if (torch_may_come()) return NULL;
    for (size_t i = 0; i < sizeof homes / sizeof *homes && !h; i++) {
        const char *home = getenv(homes[i]);
        if (home && *home) h = open_below(home, below, sizeof below / sizeof *below);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places && !h; i++)
        h = open_below(places[i], below, sizeof below / sizeof *below);
    for (int i = 0; i < N_LIBRARIES && !h; i++)
        if (cupti_find_suits(i)) h = dlopen(libraries[i].name, RTLD_LAZY | RTLD_LOCAL);
    return h;
}

void *cupti_find(void)
{
    const char *named = getenv("STRATA_CUPTI");
    void *h = named && *named ? dlopen(named, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!h) h = open_mapped();
    if (!h) h = open_beside("/libtorch_cpu.so");
    if (!h) h = open_beside("/libcudart.so");
    if (!h) h = open_wheel();
    return h ? h : open_toolkit();
}
