/* pm_api.h: CUPTI's calls that sample a whole GPU's counters, found at run time: strata links
 * to no GPU library. Declared here as far as they are used; every parameter block begins with its
 * own size, by which the library knows how much of it there is. A test brings functions of its own.
 */
#ifndef STRATA_DIVE_PM_API_H
#define STRATA_DIVE_PM_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* As in the header of CUPTI: size up to the end of the last member. */
#define PM_SIZE(type, last) (offsetof(type, last) + sizeof((type *)0)->last)

struct pm_plain { /* cuptiProfilerInitialize, cuptiProfilerDeInitialize */
    size_t size;
    void *priv;
};

struct pm_chip_name {
    size_t size;
    void *priv;
    size_t device;
    const char *name;
};

struct pm_host_init {
    size_t size;
    void *priv;
    int type; /* PM_HOST_TYPE */
    const char *chip;
    const uint8_t *availability;
    void *host;
};

struct pm_object { /* host deinitialize; sampling start, stop, disable */
    size_t size;
    void *priv;
    void *object;
};

struct pm_availability {
    size_t size;
    void *priv;
    size_t device;
    size_t image_size;
    uint8_t *image;
};

struct pm_add_metrics {
    size_t size;
    void *priv;
    void *host;
    const char **names;
    size_t n;
};

struct pm_config_size {
    size_t size;
    void *priv;
    void *host;
    size_t image_size;
};

struct pm_config {
    size_t size;
    void *priv;
    void *host;
    size_t image_size;
    uint8_t *image;
};

struct pm_passes {
    size_t size;
    void *priv;
    size_t image_size;
    uint8_t *image;
    size_t n;
};

struct pm_enable {
    size_t size;
    void *priv;
    size_t device;
    void *sampler;
};

struct pm_set_config {
    size_t size;
    void *priv;
    void *sampler;
    size_t config_size;
    const uint8_t *config;
    size_t hardware_buffer;
    uint64_t interval; /* ns with PM_TRIGGER_TIME */
    int trigger;
    int append_mode;
};

struct pm_data_size {
    size_t size;
    void *priv;
    void *sampler;
    const char **names;
    size_t n;
    uint32_t most_samples;
    size_t data_size;
};

struct pm_data_init {
    size_t size;
    void *priv;
    void *sampler;
    size_t data_size;
    uint8_t *data;
};

struct pm_decode {
    size_t size;
    void *priv;
    void *sampler;
    uint8_t *data;
    size_t data_size;
    int stop_reason;
    uint8_t overflow;
};

struct pm_data_info {
    size_t size;
    void *priv;
    const uint8_t *data;
    size_t data_size;
    size_t n_total, n_populated, n_completed;
};

struct pm_sample_info {
    size_t size;
    void *priv;
    void *sampler;
    const uint8_t *data;
    size_t data_size;
    size_t index;
    uint64_t begin_ns, end_ns;
};

struct pm_evaluate {
    size_t size;
    void *priv;
    void *host;
    const uint8_t *data;
    size_t data_size;
    size_t index;
    const char **names;
    size_t n;
    double *values;
};

enum { PM_HOST_TYPE = 1, PM_TRIGGER_TIME = 1, PM_KEEP_LATEST = 1 };

/* All return 0, or a CUptiResult. */
struct pm_api {
    int (*cuda_init)(unsigned flags);
    int (*init)(struct pm_plain *p);
    int (*chip_name)(struct pm_chip_name *p);
    int (*availability)(struct pm_availability *p);
    int (*host_init)(struct pm_host_init *p);
    int (*host_done)(struct pm_object *p);
    int (*add_metrics)(struct pm_add_metrics *p);
    int (*config_size)(struct pm_config_size *p);
    int (*config)(struct pm_config *p);
    int (*passes)(struct pm_passes *p);
    int (*enable)(struct pm_enable *p);
    int (*disable)(struct pm_object *p);
    int (*set_config)(struct pm_set_config *p);
    int (*data_size)(struct pm_data_size *p);
    int (*data_init)(struct pm_data_init *p);
    int (*start)(struct pm_object *p);
    int (*stop)(struct pm_object *p);
    int (*decode)(struct pm_decode *p);
    int (*data_info)(struct pm_data_info *p);
    int (*sample_info)(struct pm_sample_info *p);
    int (*evaluate)(struct pm_evaluate *p);
    void *cuda, *cupti, *host_library;
};

/* Loads the driver and CUPTI: STRATA_CUPTI, what the loader finds, where toolkits and Python
 * environments keep it. ERR_UNSUPPORTED when there is none, or one without this kind of sampling.
 */
int pm_api_open(struct pm_api *a, struct arena *mem, struct err *e) MUST_USE;
void pm_api_close(struct pm_api *a);

#endif
