/* pftrace_value.h: the debug annotations of a Perfetto trace: names and values of any depth. */
#ifndef STRATA_IMPORT_PFTRACE_VALUE_H
#define STRATA_IMPORT_PFTRACE_VALUE_H

#include "base/buf.h"
#include "import/pftrace_state.h"

enum pf_kind { PF_NOTHING, PF_INT, PF_UINT, PF_BOOL, PF_REAL, PF_STRING, PF_JSON, PF_NESTED };

struct pf_value {
    struct str name;
    const struct event_arg_key *arg; /* which of the args we read it is, or NULL */
    enum pf_kind kind;
    uint64_t number;   /* as it is on the wire */
    struct str text;   /* of PF_STRING and PF_JSON */
    struct str nested; /* of PF_NESTED: the whole annotation */
};

struct pf_value pf_read_value(const struct pf_view *at, struct str bytes);

/* False where the value is nothing of that kind. */
bool pf_value_int(const struct pf_value *v, int64_t *ret);
bool pf_value_real(const struct pf_value *v, double *ret);
bool pf_value_dim3(const struct pf_view *at, const struct pf_value *v, uint32_t ret[3]);

/* Appends the value as JSON. */
void pf_value_json(const struct pf_view *at, const struct pf_value *v, int depth, struct buf *out);

#endif
