/* glossary.h: the terms that reports, help and the page use, each with its meaning. The one table
 * behind `strata help glossary`, the tooltips of the page and docs/glossary.md. */
#ifndef STRATA_BASE_GLOSSARY_H
#define STRATA_BASE_GLOSSARY_H

struct glossary_term {
    const char *term;
    const char *also;    /* other forms that mean the same, separated by '|'; NULL without any */
    const char *meaning; /* one sentence, or two */
};

extern const struct glossary_term glossary[]; /* by term, ends with a NULL term */

#endif
