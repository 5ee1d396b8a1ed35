/* security.h - security labels as they are written on the command line */
#ifndef CLI_SERVICE_SECURITY_H
#define CLI_SERVICE_SECURITY_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/types.h>

#include "store/store.h"

struct security {
    struct nd_view at[ND_STORE_LABELS_MAX];
    size_t n;
};

/* Split "a,b", which the labels point into; NULL and "": none.  False: there are too many. */
bool security_split(struct security *security, const char *text);

#endif
