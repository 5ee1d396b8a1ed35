/* labels.c - labels as they are written on the command line */
#include "service/labels.h"

#include <string.h>

bool labels_split(struct labels *labels, const char *text)
{
    labels->n = 0;
    for (const char *at = text; at && *at;) {
        size_t len = strcspn(at, ",");

        if (labels->n == ND_STORE_LABELS_MAX)
            return false;
        labels->at[labels->n++] = (struct nd_view){at, len};
        at += len + (at[len] == ',');
    }
    return true;
}
