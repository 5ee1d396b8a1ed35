/* rule_lookups.c - what a `match` rule is looked up by */
#include "match/rule.h"

/* Blocks are at least so wide: a lookup within more bits would meet too many unrelated ones. */
enum { BLOCKS_MAX = 64, NEVER = 1 << 20 };

struct plan {
    struct nd_rule_lookup lookup[ND_RULE_LOOKUPS];
    unsigned n;
    unsigned cost; /* of all; NEVER: it cannot be looked up */
    const char *why;
};

static struct plan never(const char *why)
{
    return (struct plan){.cost = NEVER, .why = why};
}

static struct plan one(struct nd_rule_lookup lookup, unsigned cost)
{
    return (struct plan){.lookup = {lookup}, .n = 1, .cost = cost};
}

static struct plan plan_bits(const struct nd_rule_node *node, const struct nd_signature_params *s)
{
    unsigned bits = s->bits - s->reserved_bits;
    unsigned most = node->value == ND_RULE_DISTANCE ? node->bound.p : bits - node->bound.p;

    if (node->value == ND_RULE_AGREE && node->bound.p > bits)
        return never("more bits than the signature has must agree");
    if (node->at_most != (node->value == ND_RULE_DISTANCE))
        return never("documents that differ are not looked up");
    if (most >= bits || most + 1 > BLOCKS_MAX)
        return never("that many bits may differ that nothing can be looked up by the others");
    /* Short blocks meet many. */
    return one((struct nd_rule_lookup){.signature = node->signature,
                                       .value = ND_RULE_DISTANCE,
                                       .most = most},
               (most + 1) * (bits / (most + 1) >= 16 ? 1 : 50));
}

/* The least share of either set's values, or of the lesser's, that is shared where the test holds.
 */
static struct nd_ratio share_of(const struct nd_rule_node *node)
{
    uint64_t p = node->bound.p, q = node->bound.q;

    if (node->value == ND_RULE_RESEMBLANCE || node->value == ND_RULE_OVERLAP ||
        node->value == ND_RULE_CONTAINMENT)
        return node->bound;
    if (node->value == ND_RULE_COSINE && p * p <= UINT32_MAX && q * q <= UINT32_MAX)
        return (struct nd_ratio){(uint32_t)(p * p), (uint32_t)(q * q)};
    return (struct nd_ratio){0, 1};
}

/* The least whole number that is not below a bound. */
static unsigned whole_of(struct nd_ratio bound)
{
    return (unsigned)(((uint64_t)bound.p + bound.q - 1) / bound.q);
}

static struct plan plan_test(const struct nd_rule_node *node, const struct nd_method *method)
{
    const struct nd_signature_params *s = &method->signature[node->signature].signature;
    struct nd_rule_lookup lookup = {.signature = node->signature, .value = node->value};

    switch (node->value) {
    case ND_RULE_DISTANCE:
    case ND_RULE_AGREE: return plan_bits(node, s);
    case ND_RULE_SAME:
    case ND_RULE_LENGTH: return never("length and reserved bits alone are not looked up");
    case ND_RULE_EQUAL:
        if (node->bound.p > nd_signature_words(s))
            return never("more coordinates than the signature has must be equal");
        lookup.equal = node->bound.p;
        break;
    case ND_RULE_SHARED: lookup.least = whole_of(node->bound); break;
    default: lookup.share = share_of(node); lookup.of_lesser = node->value == ND_RULE_CONTAINMENT;
    }
    if (node->at_most || node->bound.p == 0)
        return never("documents that share nothing are not looked up");
    return one(lookup, node->value == ND_RULE_EQUAL ? (unsigned)nd_signature_words(s) : 200);
}

/* Of an "all of": where a number of values of a signature must be shared, look-ups by it need so
 * many. */
static void need_shared(const struct nd_rule *rule, unsigned at, struct plan *plan)
{
    for (unsigned i = rule->node[at].first; i; i = rule->node[i].next) {
        const struct nd_rule_node *test = &rule->node[i];

        if (test->kind != ND_RULE_TEST || test->value != ND_RULE_SHARED || test->at_most)
            continue;
        for (unsigned j = 0; j < plan->n; j++)
            if (plan->lookup[j].signature == test->signature &&
                plan->lookup[j].least < whole_of(test->bound))
                plan->lookup[j].least = whole_of(test->bound);
    }
}

static struct plan plan_node(const struct nd_rule *rule, const struct nd_method *method,
                             unsigned at)
{
    const struct nd_rule_node *node = &rule->node[at];
    struct plan best = never(""), child;

    if (node->kind == ND_RULE_TEST)
        return plan_test(node, method);
    if (node->kind == ND_RULE_ANY)
        best = (struct plan){.why = ""};
    for (unsigned i = node->first; i; i = rule->node[i].next) {
        child = plan_node(rule, method, i);
        if (node->kind == ND_RULE_ALL) {
            best = child.cost < best.cost || (best.cost >= NEVER && !*best.why) ? child : best;
            continue;
        }
        if (child.cost >= NEVER || best.n + child.n > ND_RULE_LOOKUPS)
            return child.cost >= NEVER ? child : never("the rule has too many alternatives");
        for (unsigned j = 0; j < child.n; j++)
            best.lookup[best.n++] = child.lookup[j];
        best.cost += child.cost;
    }
    if (node->kind == ND_RULE_ALL)
        need_shared(rule, at, &best);
    return best;
}

enum nd_status nd_rule_lookups(const struct nd_rule *rule, const struct nd_method *method,
                               struct nd_rule_lookup *lookup, unsigned *n, struct nd_error *err)
{
    struct plan plan = plan_node(rule, method, 0);

    if (plan.cost >= NEVER)
        return nd_fail(err, ND_EINVAL, "match: nothing to look documents up by: %s", plan.why);
    for (unsigned i = 0; i < plan.n; i++)
        lookup[i] = plan.lookup[i];
    *n = plan.n;
    return ND_OK;
}
