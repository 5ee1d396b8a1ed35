/* signature_compare.c - what two signatures of one kind have in common */
#include <neardup/signature.h>

static struct nd_agreement compare_bits(const struct nd_signature_params *p,
                                        const struct nd_signature *a, const struct nd_signature *b)
{
    uint64_t mask[8] = {0}, bits = p->bits - p->reserved_bits, different = 0;

    nd_signature_mask(p, mask);
    for (size_t i = 0; i < nd_signature_words(p); i++)
        different += (uint64_t)__builtin_popcountll((a->word[i] ^ b->word[i]) & mask[i]);
    return (struct nd_agreement){bits, bits, bits - different};
}

static struct nd_agreement compare_coordinates(const struct nd_signature *a,
                                               const struct nd_signature *b)
{
    struct nd_agreement found = {0, 0, 0};

    for (size_t i = 0; i < a->count; i++) {
        uint64_t x = a->word[i], y = b->word[i];

        found.a += x != ND_COORDINATE_NONE;
        found.b += y != ND_COORDINATE_NONE;
        found.shared += x != ND_COORDINATE_NONE && x == y;
    }
    return found;
}

/* Count how many of the `most` least values of the union each has, and both. */
static struct nd_agreement compare_values(const struct nd_signature *a,
                                          const struct nd_signature *b, uint64_t most)
{
    size_t i = 0, j = 0, shared = 0;

    while (i < a->count && j < b->count && i + j - shared < most) {
        uint64_t x = a->word[i], y = b->word[j];

        i += x <= y;
        j += y <= x;
        shared += x == y;
    }
    /* One of them is at its end, or there are enough. */
    while (i < a->count && i + j - shared < most)
        i++;
    while (j < b->count && i + j - shared < most)
        j++;
    return (struct nd_agreement){i, j, shared};
}

struct nd_agreement nd_signature_compare(const struct nd_signature_params *params,
                                         const struct nd_signature *a, const struct nd_signature *b)
{
    struct nd_agreement found;

    switch (nd_signature_form(params)) {
    case ND_FORM_BITS: found = compare_bits(params, a, b); break;
    case ND_FORM_COORDINATES: found = compare_coordinates(a, b); break;
    default:
        found = compare_values(a, b,
                               params->kind == ND_SIGNATURE_BOTTOM_K ? params->minima : UINT64_MAX);
    }
    if (a->is_rejected || b->is_rejected)
        found.shared = 0;
    return found;
}
