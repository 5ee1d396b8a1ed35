/* keep_policy.c - which document represents a cluster: the key keep of a recipe */
#include "recipe/keep_policy.h"

#include <neardup/types.h>

#include <stdbool.h>
#include <string.h>

enum field { NO_FIELD, MAY_HAVE_FIELD, NEEDS_FIELD };

static const struct {
    const char *name;
    enum nd_keep_by by;
    enum field field;
} policies[] = {
    {"first", ND_KEEP_FIRST, NO_FIELD},           {"last", ND_KEEP_LAST, NO_FIELD},
    {"longest", ND_KEEP_LONGEST, MAY_HAVE_FIELD}, {"shortest", ND_KEEP_SHORTEST, MAY_HAVE_FIELD},
    {"newest", ND_KEEP_NEWEST, NEEDS_FIELD},      {"max", ND_KEEP_GREATEST, NEEDS_FIELD},
    {"min", ND_KEEP_LEAST, NEEDS_FIELD},          {"none", ND_KEEP_NONE, NO_FIELD},
};
enum { N_POLICIES = sizeof policies / sizeof *policies };

static enum nd_status no_policy(const char *text, size_t len, struct nd_error *err)
{
    const char *names[N_POLICIES], *nearest;

    for (size_t i = 0; i < N_POLICIES; i++)
        names[i] = policies[i].name;
    nearest = nd_name_nearest(text, len, names, N_POLICIES);
    return nd_fail(err, ND_EINVAL,
                   "keep: '%s' is not one of first, last, longest, shortest, longest:FIELD, "
                   "shortest:FIELD, newest:FIELD, max:FIELD, min:FIELD, none%s%s%s",
                   text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                   nearest ? "'?" : "");
}

enum nd_status nd_keep_parse(const char *text, struct nd_keep *keep, struct nd_error *err)
{
    size_t len = strcspn(text, ":");

    for (size_t i = 0; i < N_POLICIES; i++) {
        bool has_field = text[len] == ':' && text[len + 1];

        if (strlen(policies[i].name) != len || memcmp(policies[i].name, text, len) != 0)
            continue;
        if (policies[i].field == NO_FIELD && text[len])
            return nd_fail(err, ND_EINVAL, "keep: '%s' takes no field", policies[i].name);
        if (!has_field && (policies[i].field == NEEDS_FIELD || text[len]))
            return nd_fail(err, ND_EINVAL, "keep: '%s' needs a field: %s:FIELD", text,
                           policies[i].name);
        *keep = (struct nd_keep){policies[i].by, has_field ? text + len + 1 : NULL};
        return ND_OK;
    }
    return no_policy(text, len, err);
}
