/* keep_policy.h - which document represents a cluster: the key keep of a recipe */
#ifndef ND_RECIPE_KEEP_POLICY_H
#define ND_RECIPE_KEEP_POLICY_H

#include <neardup/error.h>

enum nd_keep_by {
    ND_KEEP_FIRST,
    ND_KEEP_LAST,
    ND_KEEP_LONGEST, /* code points of the normalised text, or of a field's value */
    ND_KEEP_SHORTEST,
    ND_KEEP_NEWEST,   /* a date in a field */
    ND_KEEP_GREATEST, /* a number in a field */
    ND_KEEP_LEAST,
    ND_KEEP_NONE, /* ordered as by ND_KEEP_FIRST; who stands for a cluster goes with the others */
};

struct nd_keep {
    enum nd_keep_by by;
    const char *field; /* within the string that was parsed; NULL: none, the text itself */
};

/* Read "first", "last", "longest", "shortest", "longest:F", "shortest:F", "newest:F", "max:F",
 * "min:F" or "none", where F is a field.  ND_EINVAL: the message begins with "keep". */
ND_API enum nd_status nd_keep_parse(const char *text, struct nd_keep *keep, struct nd_error *err);

#endif
