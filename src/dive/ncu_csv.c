/* ncu_csv.c: see ncu_csv.h. The text is read twice: once for how numbers are written in it, once
 * for the numbers. */
#include "dive/ncu_csv.h"

#include <math.h>

#include "base/mem.h"
#include "base/vec.h"
#include "dive/csv.h"

enum column_kind {
    COLUMN_OTHER,
    COLUMN_ID,
    COLUMN_NAME,
    COLUMN_GRID,
    COLUMN_BLOCK,
    COLUMN_CC,
    COLUMN_GPU,
    COLUMN_LABEL, /* the details page: name, unit and value of one metric */
    COLUMN_UNIT,
    COLUMN_VALUE,
    COLUMN_METRIC /* the raw page */
};

struct column {
    enum column_kind kind;
    struct ncu_place place; /* COLUMN_METRIC */
    double scale;           /* of its unit */
};

struct reader {
    struct csv csv;
    struct arena *mem;
    struct number_style style;
    struct column *columns;
    size_t n_columns;
    bool details;
    uint32_t n_metrics;
    struct ncu_launch *launches;
    size_t n, cap;
};

static enum column_kind ncu_csv_kind_of(struct str head)
{
    static const struct {
        const char *name;
        enum column_kind kind;
    } known[] = {
        {"ID", COLUMN_ID},
        {"Kernel Name", COLUMN_NAME},
        {"Function Name", COLUMN_NAME},
        {"Grid Size", COLUMN_GRID},
        {"Block Size", COLUMN_BLOCK},
        {"CC", COLUMN_CC},
        {"device__attribute_display_name", COLUMN_GPU},
        {"Device Name", COLUMN_GPU},
        {"Metric Name", COLUMN_LABEL},
        {"Metric Unit", COLUMN_UNIT},
        {"Metric Value", COLUMN_VALUE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(head, known[i].name)) return known[i].kind;
    return COLUMN_OTHER;
}

/* The tool and the program it runs print messages before the table. */
static bool is_head(const struct csv *c)
{
    return c->n > 3 && str_is(c->fields[0], "ID");
}

static int find_head(struct reader *r, struct err *e)
{
    int rc;
    while ((rc = csv_next(&r->csv, e)) > 0)
        if (is_head(&r->csv)) return 0;
    if (rc < 0) return rc;
    return FAIL(e, ERR_FORMAT,
                "not a table from Nsight Compute: expected a line that begins with "
                "\"ID\" and names its columns (ncu --csv --page raw)");
}

/* Of several columns for one metric the best name's is read. */
static void drop_second_names(struct reader *r)
{
    int best[NCU_METRICS];
    for (int i = 0; i < NCU_METRICS; i++) best[i] = INT32_MAX;
    for (size_t i = 0; i < r->n_columns; i++) {
        const struct ncu_place *p = &r->columns[i].place;
        if (r->columns[i].kind == COLUMN_METRIC && p->metric != NCU_NONE &&
            p->rank < best[p->metric])
            best[p->metric] = p->rank;
    }
    for (size_t i = 0; i < r->n_columns; i++) {
        const struct ncu_place *p = &r->columns[i].place;
        if (r->columns[i].kind == COLUMN_METRIC && p->metric != NCU_NONE &&
            p->rank > best[p->metric])
            r->columns[i].kind = COLUMN_OTHER;
    }
}

static int ncu_csv_read_head(struct reader *r, struct err *e)
{
    r->n_columns = r->csv.n;
    r->columns = arena_zalloc(r->mem, r->n_columns, sizeof *r->columns);
    if (!r->columns) return err_nomem(e);
    for (size_t i = 0; i < r->n_columns; i++) {
        struct column *c = &r->columns[i];
        *c = (struct column){.kind = ncu_csv_kind_of(r->csv.fields[i]), .scale = 1};
        r->details |= c->kind == COLUMN_LABEL;
        if (c->kind != COLUMN_OTHER) continue;
        c->place = ncu_place_of(r->csv.fields[i]);
        if (c->place.metric == NCU_NONE && c->place.stall < 0 && c->place.tensor_of == PRECISIONS)
            continue;
        c->kind = COLUMN_METRIC;
        r->n_metrics++;
    }
    drop_second_names(r);
    return 0;
}

/* The raw page has its units in a row without an id. */
static bool read_units(struct reader *r)
{
    if (r->details || r->csv.fields[0].n) return false;
    for (size_t i = 0; i < r->n_columns && i < r->csv.n; i++)
        r->columns[i].scale = ncu_unit_scale(r->csv.fields[i]);
    return true;
}

static void ncu_csv_vote(struct reader *r)
{
    for (size_t i = 0; i < r->n_columns && i < r->csv.n; i++)
        if (r->columns[i].kind == COLUMN_METRIC || r->columns[i].kind == COLUMN_VALUE)
            number_vote(&r->style, r->csv.fields[i]);
}

/* "(132, 1, 1)"; "132" alone leaves the other two at 1. */
static void ncu_csv_read_size(struct str s, uint32_t ret[3])
{
    uint64_t v[3] = {0, 1, 1};
    int k = 0;
    bool inside = false;
    for (size_t i = 0; i < s.n && k < 3; i++) {
        bool digit = s.p[i] >= '0' && s.p[i] <= '9';
        if (digit && !inside) v[k] = 0;
        if (digit && v[k] <= UINT32_MAX) v[k] = v[k] * 10 + (uint64_t)(s.p[i] - '0');
        if (inside && !digit) k++;
        inside = digit;
    }
    for (int i = 0; i < 3; i++) ret[i] = v[i] <= UINT32_MAX ? (uint32_t)v[i] : 0;
}

static int64_t read_id(struct str s)
{
    int64_t id = 0;
    if (!s.n) return -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || id > INT32_MAX) return -1;
        id = id * 10 + (s.p[i] - '0');
    }
    return id;
}

static void launch_init(struct ncu_launch *l, int64_t id)
{
    *l = (struct ncu_launch){.id = id};
    for (int i = 0; i < NCU_METRICS; i++) l->value[i] = NAN;
    for (int i = 0; i < NCU_STALLS; i++) l->stall[i] = NAN;
    for (int i = 0; i < PRECISIONS; i++) l->tensor_ops[i] = l->tensor_part_ops[i] = NAN;
}

/* The launch a record is about: the details page has many records of one. NULL with rc set when
 * there is no room; an id that is not a number belongs to nothing. */
static struct ncu_launch *ncu_csv_launch_of(struct reader *r, int64_t id, int *rc, struct err *e)
{
    if (r->details && r->n && r->launches[r->n - 1].id == id) return &r->launches[r->n - 1];
    if (r->n >= NCU_MOST_LAUNCHES) {
        *rc = FAIL(e, ERR_LIMIT, "more than %u launches", NCU_MOST_LAUNCHES);
        return NULL;
    }
    if (VEC_RESERVE(r->launches, r->n, r->cap, 1)) {
        *rc = err_nomem(e);
        return NULL;
    }
    launch_init(&r->launches[r->n], id);
    return &r->launches[r->n++];
}

static void set_once(double *at, double v)
{
    if (isnan(*at)) *at = v;
}

static void ncu_csv_put_value(struct ncu_launch *l, struct ncu_place p, double v)
{
    if (!isfinite(v)) return; /* a unit may scale a number beyond what is one */
    if (p.metric != NCU_NONE) {
        set_once(&l->value[p.metric], v);
    } else if (p.stall >= 0) {
        set_once(&l->stall[p.stall], v);
    } else if (p.tensor_of < PRECISIONS) {
        double *at = (p.tensor_part ? l->tensor_part_ops : l->tensor_ops) + p.tensor_of;
        *at = isnan(*at) ? v : *at + v;
    }
}

static void put_field(const struct reader *r, struct ncu_launch *l, size_t i)
{
    const struct column *c = &r->columns[i];
    struct str s = r->csv.fields[i];
    switch (c->kind) {
    case COLUMN_NAME: l->name = s; break;
    case COLUMN_GRID: ncu_csv_read_size(s, l->grid); break;
    case COLUMN_BLOCK: ncu_csv_read_size(s, l->block); break;
    case COLUMN_GPU: l->gpu = s; break;
    case COLUMN_CC:
        if (s.n == 3 && s.p[1] == '.') l->major = s.p[0] - '0', l->minor = s.p[2] - '0';
        if (s.n == 4 && s.p[2] == '.') l->major = (s.p[0] - '0') * 10 + s.p[1] - '0';
        break;
    case COLUMN_METRIC: ncu_csv_put_value(l, c->place, number_parse(r->style, s) * c->scale); break;
    default: break;
    }
}

/* The details page: the metric is named in the record itself. */
static void ncu_csv_put_label(struct reader *r, struct ncu_launch *l)
{
    struct str label = {0}, unit = {0}, value = {0};
    for (size_t i = 0; i < r->n_columns && i < r->csv.n; i++) {
        if (r->columns[i].kind == COLUMN_LABEL) label = r->csv.fields[i];
        if (r->columns[i].kind == COLUMN_UNIT) unit = r->csv.fields[i];
        if (r->columns[i].kind == COLUMN_VALUE) value = r->csv.fields[i];
    }
    if (!label.n) return;
    struct ncu_place p = ncu_place_of(label); /* --page details prints some by name */
    if (p.metric == NCU_NONE) p.metric = ncu_label_metric(label, unit);
    if (p.metric == NCU_NONE && p.stall < 0 && p.tensor_of == PRECISIONS) return;
    r->n_metrics++;
    ncu_csv_put_value(l, p, number_parse(r->style, value) * ncu_unit_scale(unit));
}

static int ncu_csv_read_record(struct reader *r, struct err *e)
{
    int rc = 0;
    int64_t id = read_id(r->csv.fields[0]);
    struct ncu_launch *l = id >= 0 ? ncu_csv_launch_of(r, id, &rc, e) : NULL;
    if (!l) return rc;
    for (size_t i = 0; i < r->n_columns && i < r->csv.n; i++) put_field(r, l, i);
    if (r->details) ncu_csv_put_label(r, l);
    return 0;
}

static int read_styles(struct reader *r, struct err *e)
{
    int rc;
    size_t body = r->csv.at;
    while ((rc = csv_next(&r->csv, e)) > 0)
        if (r->csv.fields[0].n) ncu_csv_vote(r);
    r->csv.at = body;
    return rc;
}

/* Without the columns of the raw page's head the size of the launch stands among the metrics. */
static void fill_size(const double *v, uint32_t ret[3])
{
    if (ret[0]) return;
    for (int i = 0; i < 3; i++)
        ret[i] = v[i] >= 1 && v[i] <= UINT32_MAX ? (uint32_t)v[i] : i > 0 && ret[0];
}

static int read_table(struct reader *r, struct err *e)
{
    int rc;
    TRY(find_head(r, e));
    TRY(ncu_csv_read_head(r, e));
    TRY(read_styles(r, e));
    bool first = true;
    while ((rc = csv_next(&r->csv, e)) > 0) {
        if (!first || !read_units(r)) TRY(ncu_csv_read_record(r, e));
        first = false;
    }
    for (size_t i = 0; i < r->n; i++) {
        fill_size(r->launches[i].value + NCU_GRID_X, r->launches[i].grid);
        fill_size(r->launches[i].value + NCU_BLOCK_X, r->launches[i].block);
    }
    return rc;
}

int ncu_csv_read(struct str text, struct arena *mem, struct ncu_report *ret, struct err *e)
{
    struct reader r = {.mem = mem};
    csv_init(&r.csv, text, mem);
    int rc = read_table(&r, e);
    struct ncu_launch *kept = rc < 0 ? NULL : arena_zalloc(mem, r.n + 1, sizeof *kept);
    if (rc == 0 && !kept) rc = err_nomem(e);
    if (kept && r.n) memcpy(kept, r.launches, r.n * sizeof *kept);
    if (rc == 0)
        *ret = (struct ncu_report){.page = r.details ? NCU_PAGE_DETAILS : NCU_PAGE_RAW,
                                   .launches = kept,
                                   .n_launches = (uint32_t)r.n,
                                   .n_metrics = r.n_metrics};
    mem_free(r.launches);
    csv_done(&r.csv);
    return rc;
}

bool ncu_csv_is(struct str text)
{
    enum { LOOK_AT = 64 << 10 };
    struct str head = str_from(text.p, text.n < LOOK_AT ? text.n : LOOK_AT);
    return str_starts(head, "\"ID\",\"") || str_has(head, "\n\"ID\",\"") ||
           str_starts(head, "\xef\xbb\xbf\"ID\",\"");
}
