/*
 * value.c - the value of one key: read by the key's type, checked against its limits, written
 *
 * A value has one spelling, which print_field writes: numbers in the fewest digits, ratios in lowest
 * terms.  What it writes, nd_key_read reads as the same value.
 */
#include <neardup/ratio.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/number/number.h"
#include "base/view.h"
#include "recipe/recipe_keys.h"

static bool is_within(const struct nd_recipe_key *key, double number)
{
    return number >= key->min && number <= key->max && (key->type != ND_KEY_RATIO || number > 0);
}

/* "99.5%" is the number nearest to 995/1000, as "0.995" is. */
static bool read_percent(struct nd_view value, double *number)
{
    struct nd_ratio ratio;

    if (!value.len || value.data[value.len - 1] != '%' ||
        nd_ratio_parse(value.data, value.len, &ratio, NULL) != ND_OK)
        return false;
    *number = (double)ratio.p / (double)ratio.q;
    return true;
}

/* Up to 10 digits, then perhaps a point and up to 9. */
static bool read_decimal(struct nd_view value, double *number)
{
    char text[sizeof "0123456789.012345678"], *end;
    const char *point = memchr(value.data, '.', value.len);
    size_t before = point ? (size_t)(point - value.data) : value.len;
    size_t behind = point ? value.len - before - 1 : 0;

    if (before > 10 || behind > 9 || before + behind == 0)
        return false;
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    if (strspn(text, "0123456789.") != value.len || (point && strchr(text + before + 1, '.')))
        return false;
    *number = nd_number_read(text, &end);
    return true;
}

static enum nd_status not_a(const char *what, const struct nd_recipe_key *key, struct nd_view value,
                            struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s = %.*s: not a%s", key->name, nd_view_shown(value),
                   value.data, what);
}

static enum nd_status read_number(const struct nd_recipe_key *key, struct nd_view value,
                                  void *field, struct nd_error *err)
{
    struct nd_ratio ratio = {0, 1};
    unsigned whole;
    double number = 0;

    if (key->type != ND_KEY_RATIO && !read_decimal(value, &number) &&
        (key->type != ND_KEY_REAL || !read_percent(value, &number)))
        return not_a(key->type == ND_KEY_INT ? " whole number" : " number such as 0.995", key,
                     value, err);
    if (key->type == ND_KEY_INT && number != (double)(uint64_t)number)
        return not_a(" whole number", key, value, err);
    if (key->type == ND_KEY_RATIO) {
        if (nd_ratio_parse(value.data, value.len, &ratio, NULL) != ND_OK)
            return not_a(
                " ratio such as 0.8, 4/5 or 80%, of numbers up to 4294967295 in lowest terms", key,
                value, err);
        number = (double)ratio.p / (double)ratio.q; /* both below 2^53: rounded once, correctly */
    }
    if (!is_within(key, number))
        return nd_fail(err, ND_EINVAL, "%s = %.*s: not %s %.10g and at most %.10g", key->name,
                       nd_view_shown(value), value.data,
                       key->type == ND_KEY_RATIO ? "above" : "at least", key->min, key->max);
    whole = (unsigned)number; /* the greatest of any key is below 2^32 */
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
    const char *word[ND_WORDS_MAX], *nearest;
    char list[512] = "";
    unsigned n = 0;

    for (; n < ND_WORDS_MAX && (word[n] = nd_key_word(key, n)); n++)
        if (nd_view_is(value, word[n])) {
            if (key->type == ND_KEY_ENUM)
                memcpy(field, &n, sizeof n);
            else if (key->type == ND_KEY_NAME)
                memcpy(field, word[n], value.len + 1);
            return ND_OK;
        }
    for (size_t i = 0, used = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", word[i]);
    nearest = n > 1 ? nd_name_nearest(value.data, value.len, word, n) : NULL;
    return nd_fail(err, ND_EINVAL, "%s = %.*s: %s %s%s%s%s", key->name, nd_view_shown(value),
                   value.data, n == 1 ? "can only be" : "not one of", list,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static enum nd_status read_string(const struct nd_recipe_key *key, struct nd_view value,
                                  char *field, struct nd_error *err)
{
    if ((double)value.len < key->min || (double)value.len > key->max ||
        (value.len && memchr(value.data, 0, value.len)))
        return nd_fail(err, ND_EINVAL, "%s: needs %.0f to %.0f bytes", key->name, key->min,
                       key->max);
    if (key->tidy)
        return key->tidy(value, field, (size_t)key->max + 1, err);
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
    if (folder.len && (double)(folder.len + value.len) > key->max)
        return nd_fail(err, ND_EINVAL, "%s: the path is longer than %.0f bytes", key->name,
                       key->max);
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
    double number = 0;

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
    const char *zero = memchr(field, 0, (size_t)key->max + 1);
    size_t len = zero ? (size_t)(zero - field) : SIZE_MAX;
    bool is_known = key->type != ND_KEY_NAME;
    const char *word;

    if (len >= size || (double)len < key->min || nd_view_trim(field, field + len).len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)field[i] < 0x20 || field[i] == 0x7f)
            return false;
    for (size_t i = 0; !is_known && (word = nd_key_word(key, i)); i++)
        is_known = strcmp(field, word) == 0;
    memcpy(out, field, len + 1);
    return is_known;
}

/* Print the field to *out; false where it holds what its key does not allow. */
static bool print_field(const struct nd_recipe_key *key, const void *field, char *out, size_t size)
{
    unsigned integer = 0;
    const char *word;
    uint64_t whole;

    switch (key->type) {
    case ND_KEY_FIXED:
    case ND_KEY_ENUM:
        if (key->type == ND_KEY_ENUM)
            memcpy(&integer, field, sizeof integer);
        word = nd_key_word(key, integer);
        return word && snprintf(out, size, "%s", word) > 0;
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
