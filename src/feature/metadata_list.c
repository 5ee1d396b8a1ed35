/* metadata_list.c - the lists of `fields` and `force` */
#include <string.h>

#include "feature/list.h"
#include "feature/metadata_list.h"

#include <neardup/ratio.h>

enum { SHARE_MAX = 1000, FORCE_MAX = 62, BUCKETS_MAX = 1 << 20, EXPONENT_MAX = 60 };

#define DECIMAL_ONE ((nd_decimal)1000000000)
#define DECIMAL_MAX (DECIMAL_ONE * 1000000000 * 1000000000)

/* Digits and a point: the digits as one number, and how many stood behind the point. */
static bool read_digits(const char **p, const char *end, nd_decimal *value, int *places)
{
    bool any = false, behind = false;

    *value = 0;
    *places = 0;
    for (; *p < end && ((**p >= '0' && **p <= '9') || (**p == '.' && !behind)); ++*p) {
        if (**p == '.') {
            behind = true;
            continue;
        }
        any = true;
        if (*value < DECIMAL_MAX) {
            *value = *value * 10 + (**p - '0');
            *places += behind;
        } else {
            *places -= !behind; /* a digit that no longer counts */
        }
    }
    return any;
}

static bool read_exponent(const char **p, const char *end, int *exponent)
{
    bool negative = false, any = false;

    *exponent = 0;
    if (*p == end || (**p != 'e' && **p != 'E'))
        return true;
    if (++*p < end && (**p == '+' || **p == '-'))
        negative = *(*p)++ == '-';
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        any = true;
        if (*exponent < 1000)
            *exponent = *exponent * 10 + (**p - '0');
    }
    if (negative)
        *exponent = -*exponent;
    return any;
}

bool nd_decimal_parse(const char *text, size_t len, nd_decimal *out)
{
    const char *p = text, *end = text + len;
    bool negative = len > 0 && *p == '-';
    int places, exponent;
    nd_decimal value;

    p += negative;
    if (!read_digits(&p, end, &value, &places) || !read_exponent(&p, end, &exponent) || p != end)
        return false;
    exponent += 9 - places; /* of 10^-9 */
    exponent = exponent > EXPONENT_MAX ? EXPONENT_MAX : exponent;
    for (; exponent > 0 && value < DECIMAL_MAX; exponent--)
        value *= 10;
    for (; exponent < 0 && value > 0; exponent++)
        value /= 10;
    if (value > DECIMAL_MAX)
        value = DECIMAL_MAX;
    *out = negative ? -value : value;
    return true;
}

static enum nd_status bad_entry(const char *list, const struct nd_view *entry, const char *why,
                                struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s: \"%.*s\": %s", list, (int)entry->len, entry->data, why);
}

static bool is_known(const struct nd_metadata_list *list, struct nd_view name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].name.len == name.len &&
            memcmp(list->at[i].name.data, name.data, name.len) == 0)
            return true;
    return false;
}

/* The name of an entry to a new field of the list. */
static enum nd_status begin_entry(struct nd_metadata_list *list, const char *key,
                                  const struct nd_view *entry, struct nd_view *rest,
                                  struct nd_error *err)
{
    struct nd_view name;

    *rest = *entry;
    if (list->count == ND_METADATA_FIELDS)
        return bad_entry(key, entry, "there are more than 32 fields", err);
    if (!nd_list_part(rest, &name) || name.len == 0)
        return bad_entry(key, entry, "it begins without the name of a field", err);
    if (is_known(list, name))
        return bad_entry(key, entry, "the field is there twice", err);
    list->at[list->count] = (struct nd_metadata_field){.name = name};
    return ND_OK;
}

static enum nd_status read_range(struct nd_metadata_field *field, const struct nd_view *entry,
                                 struct nd_view *rest, struct nd_error *err)
{
    struct nd_view low, high, buckets;
    nd_decimal count;

    if (rest->len == 7 && memcmp(rest->data, "weights", 7) == 0) {
        field->is_weighted = true;
        return ND_OK;
    }
    field->is_numeric = true;
    if (!nd_list_part(rest, &low) || !nd_list_part(rest, &high) ||
        !nd_decimal_parse(low.data, low.len, &field->low) ||
        !nd_decimal_parse(high.data, high.len, &field->high))
        return bad_entry("fields", entry,
                         "a numeric field is NAME:SHARE:LOW:HIGH, two numbers at the end; one with "
                         "weights of its own NAME:SHARE:weights",
                         err);
    if (field->low >= field->high)
        return bad_entry("fields", entry, "the range must rise", err);
    if (!rest->data)
        return ND_OK;
    if (!nd_list_part(rest, &buckets) || rest->data ||
        !nd_decimal_parse(buckets.data, buckets.len, &count) || count % DECIMAL_ONE ||
        count < 2 * DECIMAL_ONE || count > BUCKETS_MAX * DECIMAL_ONE)
        return bad_entry(
            "fields", entry,
            "a numeric field ends in NAME:SHARE:LOW:HIGH:BUCKETS, 2 to 1048576 buckets", err);
    field->buckets = (unsigned)(count / DECIMAL_ONE);
    return ND_OK;
}

static enum nd_status read_field(struct nd_metadata_list *list, const struct nd_view *entry,
                                 struct nd_error *err)
{
    struct nd_metadata_field *field = &list->at[list->count];
    struct nd_view rest, share;
    struct nd_ratio ratio = {1, 1};
    enum nd_status status = begin_entry(list, "fields", entry, &rest, err);

    if (status != ND_OK)
        return status;
    if (nd_list_part(&rest, &share) && nd_ratio_parse(share.data, share.len, &ratio, NULL) != ND_OK)
        return bad_entry("fields", entry, "a field is NAME or NAME:SHARE, such as title:0.5", err);
    if (ratio.p == 0 || ratio.p > (uint64_t)ratio.q * SHARE_MAX)
        return bad_entry("fields", entry, "a share is above 0, and at most 1000", err);
    field->share = (uint32_t)(((uint64_t)ratio.p * ND_WEIGHT_ONE + ratio.q / 2) / ratio.q);
    if (rest.data)
        status = read_range(field, entry, &rest, err);
    list->count += status == ND_OK;
    return status;
}

static enum nd_status read_forced(struct nd_metadata_list *list, const struct nd_view *entry,
                                  struct nd_error *err)
{
    struct nd_metadata_field *field = &list->at[list->count];
    struct nd_view rest, number;
    nd_decimal n = DECIMAL_ONE;
    enum nd_status status = begin_entry(list, "force", entry, &rest, err);

    if (status != ND_OK)
        return status;
    if ((nd_list_part(&rest, &number) && !nd_decimal_parse(number.data, number.len, &n)) ||
        rest.data || n % DECIMAL_ONE || n < DECIMAL_ONE || n > FORCE_MAX * DECIMAL_ONE)
        return bad_entry("force", entry,
                         "a forced field is NAME or NAME:N, N from 1 to 62: a change of it flips a "
                         "bit except with probability 2^-N",
                         err);
    field->share = (uint32_t)(n / DECIMAL_ONE);
    list->count++;
    return ND_OK;
}

enum nd_status nd_metadata_read_fields(struct nd_metadata_list *list, const char *text,
                                       struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view entry;

    list->count = 0;
    while (status == ND_OK && nd_list_next(&text, &entry))
        status = read_field(list, &entry, err);
    return status;
}

enum nd_status nd_metadata_read_force(struct nd_metadata_list *list, const char *text,
                                      struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view entry;

    list->count = 0;
    while (status == ND_OK && nd_list_next(&text, &entry))
        status = read_forced(list, &entry, err);
    return status;
}

enum nd_status nd_feature_field_names(const struct nd_feature_params *features,
                                      char names[ND_FEATURE_NAMES_MAX], size_t *n,
                                      struct nd_error *err)
{
    struct nd_metadata_list fields, force;
    struct nd_view name;
    enum nd_status status = nd_metadata_read_fields(&fields, features->fields, err);
    size_t len = 0;

    if (status == ND_OK)
        status = nd_metadata_read_force(&force, features->force, err);
    if (status != ND_OK)
        return status;
    *n = 0;
    for (size_t i = 0; i < fields.count + force.count; i++) {
        bool forced = i >= fields.count;

        name = forced ? force.at[i - fields.count].name : fields.at[i].name;
        if (forced && is_known(&fields, name))
            continue;
        memcpy(names + len, name.data, name.len);
        names[len + name.len] = 0;
        len += name.len + 1;
        ++*n;
    }
    name = (struct nd_view){features->reserved_field, strlen(features->reserved_field)};
    if (name.len && !is_known(&fields, name) && !is_known(&force, name)) {
        memcpy(names + len, name.data, name.len + 1);
        ++*n;
    }
    return ND_OK;
}
