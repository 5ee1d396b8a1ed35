/* metadata.c - fields and link targets as features: docs/format/weights.md, "Metadata" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "feature/metadata.h"
#include "feature/metadata_list.h"
#include "feature/metadata_value.h"

#include <neardup/text.h>

struct nd_metadata {
    struct nd_feature_params params; /* the lists' names lie in it */
    struct nd_metadata_list fields, force;
    struct nd_tokeniser *tokeniser;
    struct nd_metadata_values values;
    struct nd_feature *at, *forced;
    size_t count, n_forced, capacity, forced_capacity;
    uint32_t *slot; /* numbers of features from 1, by hash */
    size_t n_slots, slots_capacity;
    struct nd_buffer text;
    bool explains;
};

/* Set apart the hashes of fields from those of tokens, and kinds of fields from one another. */
#define KIND_VALUE UINT64_C(0x6669656C64)    /* "field" */
#define KIND_SIDE UINT64_C(0x73696465)       /* "side" */
#define KIND_BUCKET UINT64_C(0x6275636B6574) /* "bucket" */
#define KIND_LINK UINT64_C(0x6C696E6B)       /* "link" */

struct nd_metadata *nd_metadata_new(const struct nd_feature_params *params, struct nd_error *err)
{
    struct nd_metadata *m = calloc(1, sizeof *m);
    enum nd_status status;

    if (!m) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    m->params = *params;
    status = nd_metadata_read_fields(&m->fields, m->params.fields, err);
    if (status == ND_OK)
        status = nd_metadata_read_force(&m->force, m->params.force, err);
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
    nd_metadata_values_release(&m->values);
    nd_buffer_release(&m->text);
    free(m->at);
    free(m->forced);
    free(m->slot);
    free(m);
}

/* What the value's tokens make of h; its bytes, where it has none.  False: out of memory. */
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

    while (m->slot[i] && m->at[m->slot[i] - 1].hash != hash)
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
    if (!nd_array_reserve((void **)&m->slot, &m->slots_capacity, n_slots, sizeof *m->slot))
        return false;
    m->n_slots = n_slots;
    memset(m->slot, 0, n_slots * sizeof *m->slot);
    for (size_t i = 0; i < m->count; i++)
        m->slot[find_slot(m, m->at[i].hash)] = (uint32_t)i + 1;
    return true;
}

/* Add a feature; one that is there already keeps its first weight.  False: out of memory. */
static bool add(struct nd_metadata *m, uint64_t hash, uint64_t weight, struct nd_view name,
                const char *sign, struct nd_view value)
{
    size_t slot;

    if (!reserve_slots(m) ||
        !nd_array_reserve((void **)&m->at, &m->capacity, m->count + 1, sizeof *m->at))
        return false;
    slot = find_slot(m, hash);
    if (m->slot[slot])
        return true;
    m->at[m->count++] = (struct nd_feature){hash, (int32_t)weight};
    m->slot[slot] = (uint32_t)m->count;
    return explain(m, name, sign, value);
}

/* Twice the distance from the middle, over the range: 0 to 1; its weight, to nearest. */
static uint64_t numeric_weight(const struct nd_metadata_field *f, nd_decimal value)
{
    nd_decimal range = f->high - f->low, twice = 2 * value - f->low - f->high;

    twice = twice < 0 ? -twice : twice;
    twice = twice > range ? range : twice;
    return (uint64_t)((twice * f->share + range / 2) / range);
}

/* Extremes weigh much and the middle little (000 s. 4.1); below and above it are two features. */
static bool add_number(struct nd_metadata *m, const struct nd_metadata_field *f,
                       struct nd_view value)
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

static bool add_forced(struct nd_metadata *m, const struct nd_metadata_field *f,
                       struct nd_view value)
{
    uint64_t h = hash_name(f->name, KIND_VALUE);

    if (!hash_value(m, value, &h) || !nd_array_reserve((void **)&m->forced, &m->forced_capacity,
                                                       m->n_forced + 1, sizeof *m->forced))
        return false;
    m->forced[m->n_forced++] = (struct nd_feature){h, (int32_t)f->share};
    return explain(m, f->name, "=", value);
}

/* A value of a field with a weight of its own. */
static bool add_weighted(struct nd_metadata *m, const struct nd_metadata_field *f,
                         struct nd_view value, uint64_t weight)
{
    uint64_t h = hash_name(f->name, KIND_VALUE);

    return hash_value(m, value, &h) && add(m, h, weight, f->name, "=", value);
}

/* The weight of pair k; 0: it has none above 0. */
static nd_decimal weight_of_pair(const struct nd_metadata *m, size_t k)
{
    struct nd_view number = nd_metadata_value(&m->values, k + 1);
    nd_decimal weight;

    return nd_decimal_parse(number.data, number.len, &weight) && weight > 0 ? weight : 0;
}

/* The heaviest has the share of the field, the others in proportion (002 s. 5.3d). */
static bool add_pairs(struct nd_metadata *m, const struct nd_metadata_field *f,
                      struct nd_view object)
{
    nd_decimal greatest = 0;

    if (!nd_metadata_pairs_read(&m->values, object))
        return false;
    for (size_t k = 0; k < m->values.count; k += 2)
        greatest = weight_of_pair(m, k) > greatest ? weight_of_pair(m, k) : greatest;
    for (size_t k = 0; k < m->values.count; k += 2) {
        nd_decimal weight = weight_of_pair(m, k);

        if (weight && !add_weighted(m, f, nd_metadata_value(&m->values, k),
                                    (uint64_t)((weight * f->share + greatest / 2) / greatest)))
            return false;
    }
    return true;
}

static bool add_value(struct nd_metadata *m, const struct nd_metadata_field *f,
                      struct nd_view value)
{
    return add_weighted(m, f, value, f->share);
}

/* All values that the document has of the fields of a list. */
static bool add_list(struct nd_metadata *m, const struct nd_metadata_list *list,
                     const struct nd_document *d)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct nd_metadata_field *f = &list->at[i];

        for (size_t j = 0; j < d->n_fields; j++) {
            struct nd_view name = d->fields[j].name;

            if (name.len != f->name.len || memcmp(name.data, f->name.data, name.len) != 0)
                continue;
            if (f->is_weighted) {
                if (!add_pairs(m, f, d->fields[j].value))
                    return false;
                continue;
            }
            if (!nd_metadata_values_read(&m->values, d->fields[j].value))
                return false;
            for (size_t k = 0; k < m->values.count; k++) {
                struct nd_view value = nd_metadata_value(&m->values, k);

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
        struct nd_view name = d->fields[i].name, value = d->fields[i].value;

        if (value.len && name.len == strlen(field) && memcmp(name.data, field, name.len) == 0)
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

/* Each target once (002 s. 5.3c: similar pages have links in common). */
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
        .at = m->at, .count = m->count, .forced = m->forced, .n_forced = m->n_forced};
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
