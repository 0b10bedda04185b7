/* xplane.h: profiles of XLA (JAX, TensorFlow, PyTorch/XLA): .xplane.pb files. */
#ifndef STRATA_IMPORT_XPLANE_H
#define STRATA_IMPORT_XPLANE_H

#include "import/importer.h"

extern const struct importer import_xplane;

/* Whether the bytes begin like an XSpace. */
bool xplane_sniff(struct str head);

#endif
