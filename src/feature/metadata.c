/* metadata.c - fields and link targets as features: docs/format/weights.md, "Metadata"
 *
 * The first half reads the lists of `fields` and `force` from the parameters, the second makes
 * features of a document's values by them.
 */
#include "feature/metadata.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/view.h"
#include "feature/field_values.h"
#include "feature/list.h"
#include "text/canonical_url.h"

#include <neardup/ratio.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

enum {
    FIELDS_MAX = 32 /* of a list */,
    SHARE_MAX = 1000,
    FORCE_MAX = 62,
    BUCKETS_MAX = 1 << 20,
    EXPONENT_MAX = 60
};

#define DECIMAL_ONE ((nd_decimal)1000000000)
#define DECIMAL_MAX (DECIMAL_ONE * 1000000000 * 1000000000)

/* An entry of `fields`, or of `force`. */
struct metadata_field {
    struct nd_view name;
    uint32_t share; /* in units of 1 / ND_WEIGHT_ONE; of `force`: n */
    bool is_numeric;
    bool is_weighted;     /* a JSON object of values and their weights */
    bool is_address;      /* compared in its canonical form (text/canonical_url.h) */
    unsigned buckets;     /* of a numeric field; 0: none */
    nd_decimal low, high; /* of a numeric field */
};

struct field_list {
    struct metadata_field items[FIELDS_MAX];
    size_t count;
};

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

static bool is_known(const struct field_list *list, struct nd_view name)
{
    for (size_t i = 0; i < list->count; i++)
        if (nd_view_equal(list->items[i].name, name))
            return true;
    return false;
}

/* The name of an entry to a new field of the list. */
static enum nd_status begin_entry(struct field_list *list, const char *key,
                                  const struct nd_view *entry, struct nd_view *rest,
                                  struct nd_error *err)
{
    struct nd_view name;

    *rest = *entry;
    if (list->count == FIELDS_MAX)
        return bad_entry(key, entry, "there are more than 32 fields", err);
    if (!nd_list_part(rest, &name) || name.len == 0)
        return bad_entry(key, entry, "it does not begin with the name of a field", err);
    if (is_known(list, name))
        return bad_entry(key, entry, "the field is listed twice", err);
    list->items[list->count] = (struct metadata_field){.name = name};
    return ND_OK;
}

static enum nd_status read_range(struct metadata_field *field, const struct nd_view *entry,
                                 struct nd_view *rest, struct nd_error *err)
{
    struct nd_view low, high, buckets;
    nd_decimal count;

    if (nd_view_is(*rest, "weights")) {
        field->is_weighted = true;
        return ND_OK;
    }
    if (nd_view_is(*rest, "address")) {
        field->is_address = true;
        return ND_OK;
    }
    field->is_numeric = true;
    if (!nd_list_part(rest, &low) || !nd_list_part(rest, &high) ||
        !nd_decimal_parse(low.data, low.len, &field->low) ||
        !nd_decimal_parse(high.data, high.len, &field->high))
        return bad_entry("fields", entry,
                         "a numeric field has the form NAME:SHARE:LOW:HIGH, a field with its own "
                         "weights NAME:SHARE:weights, one of addresses NAME:SHARE:address",
                         err);
    if (field->low >= field->high)
        return bad_entry("fields", entry, "LOW must be below HIGH", err);
    if (!rest->data)
        return ND_OK;
    if (!nd_list_part(rest, &buckets) || rest->data ||
        !nd_decimal_parse(buckets.data, buckets.len, &count) || count % DECIMAL_ONE ||
        count < 2 * DECIMAL_ONE || count > BUCKETS_MAX * DECIMAL_ONE)
        return bad_entry("fields", entry,
                         "expected NAME:SHARE:LOW:HIGH:BUCKETS, with 2 to 1048576 buckets", err);
    field->buckets = (unsigned)(count / DECIMAL_ONE);
    return ND_OK;
}

static enum nd_status read_field(struct field_list *list, const struct nd_view *entry,
                                 struct nd_error *err)
{
    struct metadata_field *field = &list->items[list->count];
    struct nd_view rest, share;
    struct nd_ratio ratio = {1, 1};
    enum nd_status status = begin_entry(list, "fields", entry, &rest, err);

    if (status != ND_OK)
        return status;
    if (nd_list_part(&rest, &share) && nd_ratio_parse(share.data, share.len, &ratio, NULL) != ND_OK)
        return bad_entry("fields", entry, "expected NAME or NAME:SHARE, such as title:0.5", err);
    if (ratio.p == 0 || ratio.p > (uint64_t)ratio.q * SHARE_MAX)
        return bad_entry("fields", entry, "a share must be above 0 and at most 1000", err);
    field->share = (uint32_t)(((uint64_t)ratio.p * ND_WEIGHT_ONE + ratio.q / 2) / ratio.q);
    if (rest.data)
        status = read_range(field, entry, &rest, err);
    list->count += status == ND_OK;
    return status;
}

static enum nd_status read_forced(struct field_list *list, const struct nd_view *entry,
                                  struct nd_error *err)
{
    struct metadata_field *field = &list->items[list->count];
    struct nd_view rest, number;
    nd_decimal n = DECIMAL_ONE;
    enum nd_status status = begin_entry(list, "force", entry, &rest, err);

    if (status != ND_OK)
        return status;
    if ((nd_list_part(&rest, &number) && !nd_decimal_parse(number.data, number.len, &n)) ||
        rest.data || n % DECIMAL_ONE || n < DECIMAL_ONE || n > FORCE_MAX * DECIMAL_ONE)
        return bad_entry("force", entry,
                         "expected NAME or NAME:N, with N from 1 to 62: a change of the field "
                         "flips a bit except with probability 2^-N",
                         err);
    field->share = (uint32_t)(n / DECIMAL_ONE);
    list->count++;
    return ND_OK;
}

/* The entries of a list, each read by `read`. */
static enum nd_status read_list(struct field_list *list, const char *text,
                                enum nd_status (*read)(struct field_list *, const struct nd_view *,
                                                       struct nd_error *),
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view entry;

    list->count = 0;
    while (status == ND_OK && nd_list_next(&text, &entry))
        status = read(list, &entry, err);
    return status;
}

static enum nd_status read_lists(struct field_list *fields, struct field_list *force,
                                 const struct nd_feature_params *params, struct nd_error *err)
{
    enum nd_status status = read_list(fields, params->fields, read_field, err);

    return status == ND_OK ? read_list(force, params->force, read_forced, err) : status;
}

enum nd_status nd_feature_field_names(const struct nd_feature_params *features,
                                      char names[ND_FEATURE_NAMES_MAX], size_t *n,
                                      struct nd_error *err)
{
    struct field_list fields, force;
    struct nd_view name;
    enum nd_status status = read_lists(&fields, &force, features, err);
    size_t len = 0;

    if (status != ND_OK)
        return status;
    *n = 0;
    for (size_t i = 0; i < fields.count + force.count; i++) {
        bool forced = i >= fields.count;

        name = forced ? force.items[i - fields.count].name : fields.items[i].name;
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

struct nd_metadata {
    struct nd_feature_params params; /* the lists' names lie in it */
    struct field_list fields, force;
    struct nd_tokeniser *tokeniser;
    struct nd_text_list values;
    struct nd_feature *items, *forced;
    size_t count, n_forced, capacity, forced_capacity;
    uint32_t *slot; /* numbers of features from 1, by hash */
    size_t n_slots, slots_capacity;
    struct nd_buffer text;
    bool explains;
    struct nd_url_room room;
    struct nd_buffer address;
};

/* Set apart the hashes of fields from those of tokens, and kinds of fields from one another. */
#define KIND_VALUE UINT64_C(0x6669656C64)    /* "field" */
#define KIND_SIDE UINT64_C(0x73696465)       /* "side" */
#define KIND_BUCKET UINT64_C(0x6275636B6574) /* "bucket" */
#define KIND_LINK UINT64_C(0x6C696E6B)       /* "link" */
#define KIND_ADDRESS UINT64_C(0x61646472)    /* "addr" */

struct nd_metadata *nd_metadata_new(const struct nd_feature_params *params, struct nd_error *err)
{
    struct nd_metadata *m = calloc(1, sizeof *m);
    enum nd_status status;

    if (!m) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    m->params = *params;
    status = read_lists(&m->fields, &m->force, &m->params, err);
    if (status == ND_OK && m->fields.count + m->force.count > 0) {
        m->tokeniser = nd_tokeniser_new();
        if (!m->tokeniser)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (status == ND_OK)
        return m;
    nd_metadata_free(m);
    return NULL;
}

void nd_metadata_free(struct nd_metadata *m)
{
    if (!m)
        return;
    nd_tokeniser_free(m->tokeniser);
    nd_text_list_release(&m->values);
    nd_buffer_release(&m->text);
    nd_url_room_release(&m->room);
    nd_buffer_release(&m->address);
    free(m->items);
    free(m->forced);
    free(m->slot);
    free(m);
}

/* Add the value's tokens to the hash h, or its bytes if it has no token.  False: out of memory. */
static bool hash_value(struct nd_metadata *m, struct nd_view value, uint64_t *h)
{
    const uint64_t *token;
    bool any = false;
    size_t n;
    int status;

    nd_tokeniser_start(m->tokeniser, value.data, value.len);
    while ((status = nd_tokeniser_next(m->tokeniser, &token, &n)) == 1)
        for (size_t i = 0; i < n; i++) {
            *h = nd_mix64(*h ^ token[i]);
            any = true;
        }
    if (status == 0 && !any)
        *h = nd_mix64(*h ^ nd_hash_bytes(value.data, value.len));
    return status == 0;
}

static uint64_t hash_name(struct nd_view name, uint64_t kind)
{
    return nd_mix64(nd_hash_bytes(name.data, name.len) ^ nd_mix64(kind));
}

/* A line of the text that explains: line ends and other control characters are spaces. */
static bool explain(struct nd_metadata *m, struct nd_view name, const char *sign,
                    struct nd_view value)
{
    size_t from = m->text.len;

    if (!m->explains)
        return true;
    if (!nd_buffer_append(&m->text, name.data, name.len) ||
        !nd_buffer_append(&m->text, sign, strlen(sign)) ||
        !nd_buffer_append(&m->text, value.data, value.len))
        return false;
    for (size_t i = from; i < m->text.len; i++)
        if ((unsigned char)m->text.data[i] < ' ')
            m->text.data[i] = ' ';
    return nd_buffer_append(&m->text, "\n", 1);
}

static size_t find_slot(const struct nd_metadata *m, uint64_t hash)
{
    size_t mask = m->n_slots - 1, i = (size_t)nd_mix64(hash) & mask;

    while (m->slot[i] && m->items[m->slot[i] - 1].hash != hash)
        i = (i + 1) & mask;
    return i;
}

/* Twice as many slots as features at least. */
static bool reserve_slots(struct nd_metadata *m)
{
    size_t n_slots = m->n_slots ? m->n_slots : 64;

    if (m->n_slots >= 2 * (m->count + 1))
        return true;
    while (n_slots < 2 * (m->count + 1))
        n_slots *= 2;
    if (!ND_RESERVE(m->slot, &m->slots_capacity, n_slots))
        return false;
    m->n_slots = n_slots;
    memset(m->slot, 0, n_slots * sizeof *m->slot);
    for (size_t i = 0; i < m->count; i++)
        m->slot[find_slot(m, m->items[i].hash)] = (uint32_t)i + 1;
    return true;
}

/* Add a feature; one that is there already keeps its first weight.  False: out of memory. */
static bool add(struct nd_metadata *m, uint64_t hash, uint64_t weight, struct nd_view name,
                const char *sign, struct nd_view value)
{
    size_t slot;

    if (!reserve_slots(m) || !ND_RESERVE(m->items, &m->capacity, m->count + 1))
        return false;
    slot = find_slot(m, hash);
    if (m->slot[slot])
        return true;
    m->items[m->count++] = (struct nd_feature){hash, (int32_t)weight};
    m->slot[slot] = (uint32_t)m->count;
    return explain(m, name, sign, value);
}

/* Twice the distance from the middle, over the range: 0 to 1; its weight, to nearest. */
static uint64_t numeric_weight(const struct metadata_field *f, nd_decimal value)
{
    nd_decimal range = f->high - f->low, twice = 2 * value - f->low - f->high;

    twice = twice < 0 ? -twice : twice;
    twice = twice > range ? range : twice;
    return (uint64_t)((twice * f->share + range / 2) / range);
}

/*
 * Extremes weigh much and the middle little (Seshasai 2009, §4.1); below and above it are two
 * features.
 */
static bool add_number(struct nd_metadata *m, const struct metadata_field *f, struct nd_view value)
{
    uint64_t h, bucket;
    nd_decimal number;

    if (!nd_decimal_parse(value.data, value.len, &number))
        return true; /* no number, no feature */
    if (f->buckets == 0) {
        bool above = 2 * number > f->low + f->high;

        h = nd_mix64(hash_name(f->name, KIND_SIDE) + above);
        return add(m, h, numeric_weight(f, number), f->name, above ? ">" : "<", value);
    }
    if (number < f->low)
        bucket = 0;
    else if (number >= f->high)
        bucket = f->buckets - 1;
    else
        bucket = (uint64_t)((number - f->low) * f->buckets / (f->high - f->low));
    h = nd_mix64(hash_name(f->name, KIND_BUCKET) + bucket);
    return add(m, h, f->share, f->name, "~", value);
}

static bool add_forced(struct nd_metadata *m, const struct metadata_field *f, struct nd_view value)
{
    uint64_t h = hash_name(f->name, KIND_VALUE);

    if (!hash_value(m, value, &h) || !ND_RESERVE(m->forced, &m->forced_capacity, m->n_forced + 1))
        return false;
    m->forced[m->n_forced++] = (struct nd_feature){h, (int32_t)f->share};
    return explain(m, f->name, "=", value);
}

/* A value of a field with a weight of its own. */
static bool add_weighted(struct nd_metadata *m, const struct metadata_field *f,
                         struct nd_view value, uint64_t weight)
{
    uint64_t h = hash_name(f->name, KIND_VALUE);

    return hash_value(m, value, &h) && add(m, h, weight, f->name, "=", value);
}

/* The weight of pair k; 0: it has none above 0. */
static nd_decimal weight_of_pair(const struct nd_metadata *m, size_t k)
{
    struct nd_view number = nd_text_list_at(&m->values, k + 1);
    nd_decimal weight;

    return nd_decimal_parse(number.data, number.len, &weight) && weight > 0 ? weight : 0;
}

/* The heaviest has the share of the field, the others in proportion (Manku 2007, §5.3d). */
static bool add_pairs(struct nd_metadata *m, const struct metadata_field *f, struct nd_view object)
{
    nd_decimal max = 0;

    if (!nd_field_values_read_pairs(&m->values, object))
        return false;
    for (size_t k = 0; k < m->values.count; k += 2)
        max = weight_of_pair(m, k) > max ? weight_of_pair(m, k) : max;
    for (size_t k = 0; k < m->values.count; k += 2) {
        nd_decimal weight = weight_of_pair(m, k);

        if (weight && !add_weighted(m, f, nd_text_list_at(&m->values, k),
                                    (uint64_t)((weight * f->share + max / 2) / max)))
            return false;
    }
    return true;
}

/* An address is compared by all bytes of its canonical form, since case and signs matter there. */
static bool add_address(struct nd_metadata *m, const struct metadata_field *f, struct nd_view value)
{
    uint64_t h = hash_name(f->name, KIND_ADDRESS);

    if (!nd_url_write_canonical(&m->room, value, &m->address))
        return false;
    value = (struct nd_view){m->address.data, m->address.len};
    h = nd_mix64(h ^ nd_hash_bytes(value.data, value.len));
    return !value.len || add(m, h, f->share, f->name, "=", value);
}

static bool add_value(struct nd_metadata *m, const struct metadata_field *f, struct nd_view value)
{
    return f->is_address ? add_address(m, f, value) : add_weighted(m, f, value, f->share);
}

/* All values that the document has of the fields of a list. */
static bool add_list(struct nd_metadata *m, const struct field_list *list,
                     const struct nd_document *d)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct metadata_field *f = &list->items[i];

        for (size_t j = 0; j < d->n_fields; j++) {
            if (!nd_view_equal(d->fields[j].name, f->name))
                continue;
            if (f->is_weighted) {
                if (!add_pairs(m, f, d->fields[j].value))
                    return false;
                continue;
            }
            if (!nd_field_values_read(&m->values, d->fields[j].value))
                return false;
            for (size_t k = 0; k < m->values.count; k++) {
                struct nd_view value = nd_text_list_at(&m->values, k);

                if (!(list == &m->force ? add_forced(m, f, value)
                      : f->is_numeric   ? add_number(m, f, value)
                                        : add_value(m, f, value)))
                    return false;
            }
        }
    }
    return true;
}

uint64_t nd_metadata_reserved(const struct nd_document *d, const char *field)
{
    for (size_t i = 0; i < d->n_fields; i++) {
        struct nd_view value = d->fields[i].value;

        if (value.len && nd_view_is(d->fields[i].name, field))
            return nd_mix64(nd_hash_bytes(value.data, value.len));
    }
    return 0;
}

/* A target as it is written, without the spaces around it and without its fragment. */
static struct nd_view plain_target(struct nd_view target)
{
    while (target.len && (unsigned char)target.data[0] <= ' ') {
        target.data++;
        target.len--;
    }
    for (size_t i = 0; i < target.len; i++)
        if (target.data[i] == '#')
            target.len = i;
    while (target.len && (unsigned char)target.data[target.len - 1] <= ' ')
        target.len--;
    return target;
}

/* Each target once (Manku 2007, §5.3c: similar pages have links in common). */
static bool add_links(struct nd_metadata *m, const struct nd_document *d)
{
    static const struct nd_view name = {"link", 4};

    for (size_t i = 0; i < d->n_links; i++) {
        struct nd_view target = plain_target(d->links[i].target);
        uint64_t h = nd_mix64(KIND_LINK);

        if (target.len == 0)
            continue;
        h = nd_mix64(nd_hash_bytes(target.data, target.len) ^ h);
        if (!add(m, h, ND_WEIGHT_ONE, name, "=", target))
            return false;
    }
    return true;
}

static enum nd_status run(struct nd_metadata *m, const struct nd_document *document,
                          struct nd_metadata_features *out)
{
    m->count = 0;
    m->n_forced = 0;
    m->text.len = 0;
    if (m->n_slots)
        memset(m->slot, 0, m->n_slots * sizeof *m->slot);
    if (!add_list(m, &m->fields, document) || (m->params.links && !add_links(m, document)) ||
        !add_list(m, &m->force, document))
        return ND_ENOMEM;
    *out = (struct nd_metadata_features){
        .items = m->items, .count = m->count, .forced = m->forced, .n_forced = m->n_forced};
    if (m->explains) {
        out->text = m->text.data;
        out->text_len = m->text.len;
    }
    return ND_OK;
}

enum nd_status nd_metadata_run(struct nd_metadata *m, const struct nd_document *document,
                               struct nd_metadata_features *out)
{
    m->explains = false;
    return run(m, document, out);
}

enum nd_status nd_metadata_explain(struct nd_metadata *m, const struct nd_document *document,
                                   struct nd_metadata_features *out)
{
    m->explains = true;
    return run(m, document, out);
}
