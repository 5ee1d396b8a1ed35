/* key_value.c - one value of a recipe: read, checked against its key, written canonically */
#include "recipe/keys.h"

#include <neardup/ratio.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int is_word(struct nd_view value, const char *word)
{
    return strlen(word) == value.len && memcmp(value.data, word, value.len) == 0;
}

static int is_within(const struct nd_recipe_key *key, double number)
{
    return number >= key->least && number <= key->greatest &&
           (key->type != ND_KEY_RATIO || number > 0);
}

static enum nd_status read_number(const struct nd_recipe_key *key, struct nd_view value,
                                  void *field, struct nd_error *err)
{
    struct nd_ratio ratio;
    unsigned whole;
    double number;

    if (nd_ratio_parse(value.data, value.len, &ratio, NULL) != ND_OK ||
        (key->type == ND_KEY_INT && ratio.q != 1) ||
        (key->type != ND_KEY_RATIO && memchr(value.data, '/', value.len)))
        return nd_fail(err, ND_EINVAL, "%s = %.*s: not a%s", key->name, nd_view_shown(value),
                       value.data,
                       key->type == ND_KEY_INT     ? " whole number"
                       : key->type == ND_KEY_RATIO ? " ratio such as 0.8 or 4/5"
                                                   : " number such as 0.995");
    whole = ratio.p;
    number = (double)ratio.p / (double)ratio.q; /* both below 2^53: rounded once, correctly */
    if (!is_within(key, number))
        return nd_fail(err, ND_EINVAL, "%s = %.*s: not %s %.10g and at most %.10g", key->name,
                       nd_view_shown(value), value.data,
                       key->type == ND_KEY_RATIO ? "above" : "at least", key->least, key->greatest);
    if (key->type == ND_KEY_INT)
        memcpy(field, &whole, sizeof whole);
    else if (key->type == ND_KEY_REAL)
        memcpy(field, &number, sizeof number);
    else
        memcpy(field, &ratio, sizeof ratio);
    return ND_OK;
}

static enum nd_status read_word(const struct nd_recipe_key *key, struct nd_view value, void *field,
                                struct nd_error *err)
{
    char list[256] = "";
    const char *nearest;

    for (unsigned i = 0; i < key->n_values; i++)
        if (is_word(value, key->values[i])) {
            if (key->type == ND_KEY_ENUM)
                memcpy(field, &i, sizeof i);
            return ND_OK;
        }
    for (size_t i = 0, used = 0; i < key->n_values && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 key->values[i]);
    nearest = nd_name_nearest(value.data, value.len, key->values, key->n_values);
    return nd_fail(err, ND_EINVAL, "%s = %.*s: %s %s%s%s%s", key->name, nd_view_shown(value),
                   value.data, key->n_values == 1 ? "can only be" : "not one of", list,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static enum nd_status read_string(const struct nd_recipe_key *key, struct nd_view value,
                                  char *field, struct nd_error *err)
{
    if (!value.len || (double)value.len > key->greatest || memchr(value.data, 0, value.len))
        return nd_fail(err, ND_EINVAL, "%s: wants 1 to %.0f bytes", key->name, key->greatest);
    memcpy(field, value.data, value.len);
    field[value.len] = 0;
    return ND_OK;
}

enum nd_status nd_key_read(const struct nd_recipe_key *key, struct nd_view value, void *values,
                           struct nd_error *err)
{
    void *field = (char *)values + key->offset;

    switch (key->type) {
    case ND_KEY_FIXED:
    case ND_KEY_ENUM: return read_word(key, value, field, err);
    case ND_KEY_STRING: return read_string(key, value, field, err);
    case ND_KEY_INT:
    case ND_KEY_REAL:
    case ND_KEY_RATIO: break;
    }
    return read_number(key, value, field, err);
}

/*
 * The fewest digits that read back to the same number; at most 9 after the point.  Not by printf,
 * whose decimal point follows the locale.
 */
static void print_real(double number, char *out, size_t size)
{
    uint64_t power = 1, scaled = 0;
    int digits = 0;

    for (;; digits++, power *= 10) {
        scaled = (uint64_t)(number * (double)power + 0.5);
        if (digits == 9 || (double)scaled / (double)power == number)
            break;
    }
    if (digits)
        snprintf(out, size, "%" PRIu64 ".%0*" PRIu64, scaled / power, digits, scaled % power);
    else
        snprintf(out, size, "%" PRIu64, scaled);
}

/* Print the field to *out; 0 where it holds what its key does not allow. */
static int print_field(const struct nd_recipe_key *key, const void *field, char *out, size_t size)
{
    struct nd_ratio ratio;
    unsigned integer = 0;
    double number;

    switch (key->type) {
    case ND_KEY_FIXED: return snprintf(out, size, "%s", key->values[0]) > 0;
    case ND_KEY_ENUM:
        memcpy(&integer, field, sizeof integer);
        return integer < key->n_values && snprintf(out, size, "%s", key->values[integer]) > 0;
    case ND_KEY_INT:
        memcpy(&integer, field, sizeof integer);
        return is_within(key, integer) && snprintf(out, size, "%u", integer) > 0;
    case ND_KEY_REAL:
        memcpy(&number, field, sizeof number);
        print_real(is_within(key, number) ? number : 0, out, size);
        return is_within(key, number);
    case ND_KEY_RATIO:
        memcpy(&ratio, field, sizeof ratio);
        number = ratio.q ? (double)ratio.p / (double)ratio.q : -1;
        return is_within(key, number) &&
               snprintf(out, size, "%" PRIu32 "/%" PRIu32, ratio.p, ratio.q) > 0;
    case ND_KEY_STRING: break;
    }
    return snprintf(out, size, "%.*s", (int)key->greatest, (const char *)field) > 0 &&
           !strpbrk(out, "\r\n");
}

enum nd_status nd_key_write(const struct nd_recipe_key *key, const void *values,
                            struct nd_buffer *out, struct nd_error *err)
{
    char text[512];

    if (!print_field(key, (const char *)values + key->offset, text, sizeof text))
        return nd_fail(err, ND_EINVAL, "%s: not a value that a recipe can have", key->name);
    if (!nd_buffer_append(out, text, strlen(text)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}
