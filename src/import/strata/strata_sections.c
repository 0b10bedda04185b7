/* strata_sections.c: see strata_private.h. */
#include "import/strata/strata_private.h"

#include <inttypes.h>
#include <string.h>

#include "base/pool.h"
#include "format/xxh64.h"

#define MOST_ITEMS (UINT32_MAX - 1)

static int strata_sections_check_head(const struct strata_head *h, struct err *e)
{
    if (h->byte_order != STRATA_BYTE_ORDER)
        return FAIL(e, ERR_UNSUPPORTED, "written on a machine with another byte order");
    if (h->major != STRATA_MAJOR)
        return FAIL(e, ERR_VERSION,
                    "written in version %u of the format; this strata reads version %d", h->major,
                    STRATA_MAJOR);
    return 0;
}

static int check_foot(const struct strata_head *h, const struct strata_foot *f, uint64_t n,
                      struct err *e)
{
    if (memcmp(f->magic, STRATA_END_MAGIC, sizeof f->magic) != 0)
        return FAIL(e, ERR_FORMAT, "cut short: the end of the file is missing (%" PRIu64 " bytes)",
                    n);
    if (f->checksum != strata_file_checksum(h, f))
        return FAIL(e, ERR_FORMAT, "damaged: the checksum of the file's end does not match");
    if (f->file_bytes != n)
        return FAIL(e, ERR_FORMAT, "damaged: %" PRIu64 " bytes long, expected %" PRIu64, n,
                    f->file_bytes);
    return 0;
}

static int check_table(struct strata_sections *f, const struct strata_foot *foot, uint64_t room,
                       struct err *e)
{
    uint64_t at = foot->table_offset;
    if (at % STRATA_ALIGN || at > room || foot->n_sections > STRATA_MAX_SECTIONS ||
        foot->n_sections * sizeof *f->sections > room - at)
        return FAIL(e, ERR_FORMAT, "damaged: the section table lies outside the file");
    f->sections = (const void *)(f->p + at);
    f->n_sections = foot->n_sections;
    f->end = at;
    if (xxh64(f->sections, f->n_sections * sizeof *f->sections) != foot->table_checksum)
        return FAIL(e, ERR_FORMAT, "damaged: the checksum of the section table does not match");
    return 0;
}

int strata_sections_open(struct strata_sections *f, const char *p, uint64_t n, struct err *e)
{
    const struct strata_head *head = (const void *)p;
    const struct strata_foot *foot;
    *f = (struct strata_sections){.p = p};
    if (n < sizeof *head) return FAIL(e, ERR_FORMAT, "cut short: only %" PRIu64 " bytes", n);
    TRY(strata_sections_check_head(head, e));
    if (n < sizeof *head + sizeof *foot || n % sizeof(uint64_t))
        return FAIL(e, ERR_FORMAT, "cut short: only %" PRIu64 " bytes", n);
    foot = (const void *)(p + n - sizeof *foot);
    TRY(check_foot(head, foot, n, e));
    return check_table(f, foot, n - sizeof *foot, e);
}

static const struct strata_section *strata_sections_do_find(const struct strata_sections *f,
                                                            uint32_t section)
{
    for (uint64_t i = 0; i < f->n_sections; i++)
        if (f->sections[i].id == section) return &f->sections[i];
    return NULL;
}

bool strata_sections_has(const struct strata_sections *f, uint32_t section)
{
    return strata_sections_do_find(f, section) != NULL;
}

static bool strata_sections_fits(const struct strata_sections *f, const struct strata_section *s)
{
    return s->item_bytes && s->offset <= f->end &&
           s->n_items <= (f->end - s->offset) / s->item_bytes;
}

int strata_sections_find(const struct strata_sections *f, uint32_t section, size_t item_bytes,
                         struct native_items *ret, struct err *e)
{
    const struct strata_section *s = strata_sections_do_find(f, section);
    if (!s) return FAIL(e, ERR_FORMAT, "damaged: section %u is missing", section);
    if (s->item_bytes != item_bytes || s->offset % STRATA_ALIGN || !strata_sections_fits(f, s))
        return FAIL(e, ERR_FORMAT, "damaged: section %u lies outside the file", section);
    *ret = (struct native_items){f->p + s->offset, s->n_items};
    return 0;
}

int strata_sections_find_table(const struct strata_sections *f, uint32_t section, size_t item_bytes,
                               struct native_items *ret, struct err *e)
{
    TRY(strata_sections_find(f, section, item_bytes, ret, e));
    if (ret->n > MOST_ITEMS) return FAIL(e, ERR_LIMIT, "section %u has too many items", section);
    return 0;
}

struct checksums {
    const struct strata_sections *f;
    bool bad[STRATA_MAX_SECTIONS];
};

static void check_section(void *ctx, int item, int worker)
{
    struct checksums *k = ctx;
    const struct strata_section *s = &k->f->sections[item];
    (void)worker;
    if (s->id == SECTION_ARGS_BLOCKS) return;
    k->bad[item] = !strata_sections_fits(k->f, s) ||
                   xxh64(k->f->p + s->offset, s->n_items * s->item_bytes) != s->checksum;
}

/* Sections stand in the order of the table, with zeros up to the next boundary: so every byte of
 * the file is proved by something. */
static bool gaps_are_empty(const struct strata_sections *f)
{
    uint64_t at = sizeof(struct strata_head);
    for (uint64_t i = 0; i <= f->n_sections; i++) {
        const struct strata_section *s = &f->sections[i];
        uint64_t next = i < f->n_sections ? s->offset : f->end;
        if (next < at || next > f->end || (i < f->n_sections && !strata_sections_fits(f, s)))
            return false;
        for (; at < next; at++)
            if (f->p[at]) return false;
        if (i < f->n_sections) at += s->n_items * s->item_bytes;
    }
    return true;
}

int strata_sections_verify(const struct strata_sections *f, int n_threads, struct err *e)
{
    struct checksums k = {.f = f};
    pool_run(n_threads, (int)f->n_sections, check_section, &k);
    for (uint64_t i = 0; i < f->n_sections; i++)
        if (k.bad[i])
            return FAIL(e, ERR_FORMAT, "damaged: the checksum of section %u does not match",
                        f->sections[i].id);
    if (!gaps_are_empty(f))
        return FAIL(e, ERR_FORMAT, "damaged: something stands between the sections");
    return 0;
}
