/* ring_devices.c: see ring_set.h. */
#include "import/ring/ring_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What a process says of its devices. */
struct said {
    struct str uuid[RING_DEVICES];
    struct str visible; /* CUDA_VISIBLE_DEVICES */
};

static void ring_devices_hear(const struct ring_process *p, struct said *ret)
{
    size_t n_uuid = strlen(RING_FACT_UUID), n_visible = strlen(RING_FACT_VISIBLE);
    *ret = (struct said){.visible = {"", 0}};
    for (uint32_t id = 0; id < p->defs.n; id++) {
        struct str text = defs_file_get(&p->defs, id, DEF_FACT, n_visible + 1);
        if (!text.p) continue;
        if (str_starts(text, RING_FACT_VISIBLE "="))
            ret->visible = str_from(text.p + n_visible + 1, text.n - n_visible - 1);
        if (!str_starts(text, RING_FACT_UUID)) continue;
        int number = 0;
        size_t at = n_uuid;
        for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9' && number < RING_DEVICES; at++)
            number = number * 10 + (text.p[at] - '0');
        if (at > n_uuid && at < text.n && text.p[at] == '=' && number < RING_DEVICES)
            ret->uuid[number] = str_from(text.p + at + 1, text.n - at - 1);
    }
}

static bool ring_devices_same(struct str a, struct str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* What the user calls device `n` of the process: its entry in CUDA_VISIBLE_DEVICES. */
static struct str ring_devices_chosen(const struct said *p, int n)
{
    struct str all = p->visible;
    for (size_t begin = 0; begin < all.n;) {
        size_t end = begin;
        while (end < all.n && all.p[end] != ',') end++;
        if (n-- == 0) return str_from(all.p + begin, end - begin);
        begin = end + 1;
    }
    return (struct str){"", 0};
}

/* Whether no two processes mean different devices by one number. */
static bool all_agree(const struct said *said, size_t n)
{
    struct str first[RING_DEVICES] = {{NULL, 0}};
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < RING_DEVICES; d++) {
            struct str uuid = said[i].uuid[d];
            if (!uuid.n) continue;
            if (first[d].n && !ring_devices_same(first[d], uuid)) return false;
            first[d] = uuid;
        }
    return true;
}

/* Every device that has a UUID, in the order in which they are met. */
struct known {
    struct str uuid[RING_DEVICES * 4];
    int number[RING_DEVICES * 4];
    int n;
};

static bool ring_devices_taken(const struct known *k, int number)
{
    for (int i = 0; i < k->n; i++)
        if (k->number[i] == number) return true;
    return false;
}

/* The machine's number where the user gave it, else the first that is free. */
static int ring_devices_choose(const struct known *k, struct str entry)
{
    char text[16] = "", *end = text;
    if (entry.n && entry.n < sizeof text) memcpy(text, entry.p, entry.n);
    long number = strtol(text, &end, 10);
    if (end != text && *end == 0 && number >= 0 && number < 1024 &&
        !ring_devices_taken(k, (int)number))
        return (int)number;
    int free = 0;
    while (ring_devices_taken(k, free)) free++;
    return free;
}

static int ring_devices_number_of(struct known *k, const struct said *p, int device)
{
    struct str uuid = p->uuid[device];
    if (!uuid.n) return device;
    for (int i = 0; i < k->n; i++)
        if (ring_devices_same(k->uuid[i], uuid)) return k->number[i];
    if (k->n == RING_DEVICES * 4) return device;
    int number = ring_devices_choose(k, ring_devices_chosen(p, device));
    k->uuid[k->n] = uuid;
    k->number[k->n++] = number;
    return number;
}

int ring_devices_number(struct ring_set *s)
{
    struct known k = {.n = 0};
    struct said *said = mem_alloc((s->n_processes + 1) * sizeof *said);
    if (!said) return ERR_NOMEM;
    for (size_t i = 0; i < s->n_processes; i++) ring_devices_hear(&s->processes[i], &said[i]);
    bool agreed = all_agree(said, s->n_processes);
    for (size_t i = 0; i < s->n_processes; i++)
        for (int d = 0; d < RING_DEVICES; d++)
            s->processes[i].device_number[d] = agreed ? d : ring_devices_number_of(&k, &said[i], d);
    mem_free(said);
    return 0;
}

static int ring_devices_add_text(struct builder *b, const char *what, int number, struct str value)
{
    char key[48], text[300];
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '"' || value.p[i] == '\\' || (unsigned char)value.p[i] < ' ') return 0;
    snprintf(key, sizeof key, "%s%d", what, number);
    snprintf(text, sizeof text, "\"%.*s\"", (int)(value.n < 256 ? value.n : 256), value.p);
    return value.n ? builder_add_meta(b, str_c(key), str_c(text)) : 0;
}

static bool ring_devices_has_device(struct builder *b, int number)
{
    const struct trace *t = builder_trace(b);
    for (uint32_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].id == number) return true;
    return false;
}

static int ring_devices_add_device(struct builder *b, const struct ring_process *p,
                                   const struct said *said, struct str def)
{
    struct def_device d;
    memcpy(&d, def.p, sizeof d);
    int number = ring_process_device(p, d.id);
    if (ring_devices_has_device(b, number)) return 0;
    struct device device = {
        .id = number,
        .name = builder_intern(b, str_from(def.p + sizeof d, def.n - sizeof d)),
        .memory_bytes = d.memory_bytes,
        .major = d.major,
        .minor = d.minor,
        .n_sms = d.n_sms,
        .warp_size = d.warp_size,
        .max_threads_per_sm = d.max_threads_per_sm,
        .regs_per_sm = d.regs_per_sm,
        .shared_per_sm = d.shared_per_sm,
        .shared_per_block_optin = d.shared_per_block_optin,
    };
    if (device.name == STR_NONE) return ERR_NOMEM;
    TRY(builder_add_device(b, &device));
    if (d.id < 0 || d.id >= RING_DEVICES) return 0;
    TRY(ring_devices_add_text(b, TRACE_META_UUID, number, said->uuid[d.id]));
    return ring_devices_add_text(b, TRACE_META_VISIBLE, number, ring_devices_chosen(said, d.id));
}

int ring_devices_add(struct builder *b, const struct ring_set *s)
{
    for (size_t i = 0; i < s->n_processes; i++) {
        const struct ring_process *p = &s->processes[i];
        struct said said;
        ring_devices_hear(p, &said);
        for (uint32_t id = 0; id < p->defs.n; id++) {
            struct str def = defs_file_get(&p->defs, id, DEF_DEVICE, sizeof(struct def_device));
            if (def.p) TRY(ring_devices_add_device(b, p, &said, def));
        }
    }
    return 0;
}
