/* security.c - security labels as they are written on the command line */
#include "service/security.h"

#include <string.h>

bool security_split(struct security *security, const char *text)
{
    security->n = 0;
    for (const char *at = text; at && *at;) {
        size_t len = strcspn(at, ",");

        if (security->n == ND_STORE_LABELS_MAX)
            return false;
        security->at[security->n++] = (struct nd_view){at, len};
        at += len + (at[len] == ',');
    }
    return true;
}
