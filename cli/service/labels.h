/* labels.h - labels as they are written on the command line */
#ifndef CLI_SERVICE_LABELS_H
#define CLI_SERVICE_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/types.h>

#include "store/store.h"

struct labels {
    struct nd_view at[ND_STORE_LABELS_MAX];
    size_t n;
};

/* Split "a,b", which they point into; NULL and "": none.  False: there are too many. */
bool labels_split(struct labels *labels, const char *text);

#endif
