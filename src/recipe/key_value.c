/* key_value.c - one value of a recipe: read, checked against its key, written canonically */
#include "recipe/keys.h"

#include <neardup/ratio.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    char list[512] = "";
    const char *nearest;

    for (unsigned i = 0; i < key->n_values; i++)
        if (nd_view_is(value, key->values[i])) {
            if (key->type == ND_KEY_ENUM)
                memcpy(field, &i, sizeof i);
            else if (key->type == ND_KEY_NAME)
                memcpy(field, key->values[i], value.len + 1);
            return ND_OK;
        }
    for (size_t i = 0, used = 0; i < key->n_values && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 key->values[i]);
    nearest = key->n_values > 1 ? nd_name_nearest(value.data, value.len, key->values, key->n_values)
                                : NULL;
    return nd_fail(err, ND_EINVAL, "%s = %.*s: %s %s%s%s%s", key->name, nd_view_shown(value),
                   value.data, key->n_values == 1 ? "can only be" : "not one of", list,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static enum nd_status read_string(const struct nd_recipe_key *key, struct nd_view value,
                                  char *field, struct nd_error *err)
{
    if ((double)value.len < key->least || (double)value.len > key->greatest ||
        (value.len && memchr(value.data, 0, value.len)))
        return nd_fail(err, ND_EINVAL, "%s: wants %.0f to %.0f bytes", key->name, key->least,
                       key->greatest);
    if (key->tidy)
        return key->tidy(value, field, (size_t)key->greatest + 1, err);
    if (value.len)
        memcpy(field, value.data, value.len);
    field[value.len] = 0;
    return ND_OK;
}

static enum nd_status read_path(const struct nd_recipe_key *key, struct nd_view value,
                                struct nd_view folder, char *field, struct nd_error *err)
{
    if (!value.len || *value.data == '/' || (key->is_word && key->is_word(value)))
        folder.len = 0;
    if (folder.len && (double)(folder.len + value.len) > key->greatest)
        return nd_fail(err, ND_EINVAL, "%s: a path of more than %.0f bytes", key->name,
                       key->greatest);
    if (read_string(key, value, field, err) != ND_OK)
        return ND_EINVAL;
    if (folder.len) {
        memmove(field + folder.len, field, value.len + 1);
        memcpy(field, folder.data, folder.len);
    }
    return ND_OK;
}

static enum nd_status read_yes(const struct nd_recipe_key *key, struct nd_view value,
                               unsigned char *field, struct nd_error *err)
{
    if (!nd_view_is(value, "yes") && !nd_view_is(value, "no"))
        return nd_fail(err, ND_EINVAL, "%s = %.*s: neither yes nor no", key->name,
                       nd_view_shown(value), value.data);
    *field = nd_view_is(value, "yes");
    return ND_OK;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* 64 bits: decimal digits, or 0x and hexadecimal ones. */
static enum nd_status read_whole(const struct nd_recipe_key *key, struct nd_view value, void *field,
                                 struct nd_error *err)
{
    bool is_hex = value.len > 2 && value.data[0] == '0' && value.data[1] == 'x';
    unsigned base = is_hex ? 16 : 10;
    uint64_t number = 0;
    bool is_number = value.len > 0;

    for (size_t i = is_hex ? 2 : 0; is_number && i < value.len; i++) {
        unsigned digit = (unsigned)digit_of(value.data[i]);

        is_number = digit < base && number <= (UINT64_MAX - digit) / base;
        number = number * base + digit;
    }
    if (!is_number)
        return nd_fail(err, ND_EINVAL, "%s = %.*s: not a whole number of at most 64 bits",
                       key->name, nd_view_shown(value), value.data);
    memcpy(field, &number, sizeof number);
    return ND_OK;
}

enum nd_status nd_key_read(const struct nd_recipe_key *key, struct nd_view value,
                           struct nd_view folder, void *values, struct nd_error *err)
{
    void *field = (char *)values + key->offset;

    switch (key->type) {
    case ND_KEY_FIXED:
    case ND_KEY_NAME:
    case ND_KEY_ENUM: return read_word(key, value, field, err);
    case ND_KEY_YES: return read_yes(key, value, field, err);
    case ND_KEY_WHOLE:
    case ND_KEY_HEX: return read_whole(key, value, field, err);
    case ND_KEY_STRING: return read_string(key, value, field, err);
    case ND_KEY_PATH: return read_path(key, value, folder, field, err);
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

static bool print_number(const struct nd_recipe_key *key, const void *field, char *out, size_t size)
{
    struct nd_ratio ratio;
    unsigned integer = 0;
    double number;

    switch (key->type) {
    case ND_KEY_INT:
        memcpy(&integer, field, sizeof integer);
        return is_within(key, integer) && snprintf(out, size, "%u", integer) > 0;
    case ND_KEY_REAL:
        memcpy(&number, field, sizeof number);
        print_real(is_within(key, number) ? number : 0, out, size);
        return is_within(key, number);
    default:
        memcpy(&ratio, field, sizeof ratio);
        number = ratio.q ? (double)ratio.p / (double)ratio.q : -1;
        return is_within(key, number) &&
               snprintf(out, size, "%" PRIu32 "/%" PRIu32, ratio.p, ratio.q) > 0;
    }
}

/* A string ends within its field, and in one line that reads back as it is. */
static bool print_string(const struct nd_recipe_key *key, const char *field, char *out, size_t size)
{
    const char *zero = memchr(field, 0, (size_t)key->greatest + 1);
    size_t len = zero ? (size_t)(zero - field) : SIZE_MAX;
    bool is_known = key->type != ND_KEY_NAME;

    if (len >= size || (double)len < key->least || nd_view_trim(field, field + len).len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)field[i] < 0x20 || field[i] == 0x7f)
            return false;
    for (size_t i = 0; !is_known && i < key->n_values; i++)
        is_known = strcmp(field, key->values[i]) == 0;
    memcpy(out, field, len + 1);
    return is_known;
}

/* Print the field to *out; false where it holds what its key does not allow. */
static bool print_field(const struct nd_recipe_key *key, const void *field, char *out, size_t size)
{
    unsigned integer = 0;
    uint64_t whole;

    switch (key->type) {
    case ND_KEY_FIXED: return snprintf(out, size, "%s", key->values[0]) > 0;
    case ND_KEY_ENUM:
        memcpy(&integer, field, sizeof integer);
        return integer < key->n_values && snprintf(out, size, "%s", key->values[integer]) > 0;
    case ND_KEY_YES:
        return *(const unsigned char *)field <= 1 &&
               snprintf(out, size, "%s", *(const unsigned char *)field ? "yes" : "no") > 0;
    case ND_KEY_WHOLE:
        memcpy(&whole, field, sizeof whole);
        return snprintf(out, size, "%" PRIu64, whole) > 0;
    case ND_KEY_HEX:
        memcpy(&whole, field, sizeof whole);
        return snprintf(out, size, "0x%" PRIx64, whole) > 0;
    case ND_KEY_STRING:
    case ND_KEY_PATH:
    case ND_KEY_NAME: return print_string(key, field, out, size);
    case ND_KEY_INT:
    case ND_KEY_REAL:
    case ND_KEY_RATIO: break;
    }
    return print_number(key, field, out, size);
}

enum nd_status nd_key_write(const struct nd_recipe_key *key, const void *values,
                            struct nd_buffer *out, struct nd_error *err)
{
    char text[1100]; /* a path, at most */

    if (!print_field(key, (const char *)values + key->offset, text, sizeof text))
        return nd_fail(err, ND_EINVAL, "%s: not a value that a recipe can have", key->name);
    if (!nd_buffer_append(out, text, strlen(text)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}
