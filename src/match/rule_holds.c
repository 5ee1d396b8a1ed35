/* rule_holds.c - the `match` rule asked of two documents, exactly, in integers */
#include "match/rule.h"

typedef unsigned __int128 wide;

struct fraction {
    wide num, den;
};

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A value as a fraction; the cosine as its square, as is its bound then. */
static struct fraction value_of(const struct nd_rule_node *node, const struct nd_rule_evidence *e)
{
    const struct nd_agreement *x = &e->agreement[node->signature];
    uint64_t least = lesser(x->a, x->b), most = x->a + x->b - least;

    switch (node->value) {
    case ND_RULE_DISTANCE: return (struct fraction){least - x->shared, 1};
    case ND_RULE_AGREE:
    case ND_RULE_EQUAL:
    case ND_RULE_SHARED: return (struct fraction){x->shared, 1};
    case ND_RULE_RESEMBLANCE: return (struct fraction){x->shared, x->a + x->b - x->shared};
    case ND_RULE_CONTAINMENT: return (struct fraction){x->shared, least};
    case ND_RULE_OVERLAP: return (struct fraction){x->shared, most};
    case ND_RULE_COSINE: return (struct fraction){(wide)x->shared * x->shared, (wide)x->a * x->b};
    case ND_RULE_SAME: return (struct fraction){e->same[node->signature], 1};
    case ND_RULE_LENGTH: break;
    }
    least = lesser(e->length[0], e->length[1]);
    return (struct fraction){least, e->length[0] + e->length[1] - least};
}

static bool test_holds(const struct nd_rule_node *node, const struct nd_rule_evidence *e)
{
    struct fraction x = value_of(node, e);
    wide p = node->bound.p, q = node->bound.q;

    /* Rejected, or nothing on either side: similar to nothing. */
    if (node->value != ND_RULE_LENGTH &&
        (e->agreement[node->signature].a == 0 || e->agreement[node->signature].b == 0))
        return false;
    if (x.den == 0)
        return false;
    if (node->value == ND_RULE_COSINE) {
        p *= p;
        q *= q;
    }
    return node->at_most ? x.num * q <= p * x.den : x.num * q >= p * x.den;
}

static bool holds(const struct nd_rule *rule, unsigned at, const struct nd_rule_evidence *e)
{
    const struct nd_rule_node *node = &rule->node[at];

    if (node->kind == ND_RULE_TEST)
        return test_holds(node, e);
    for (unsigned child = node->first; child; child = rule->node[child].next)
        if (holds(rule, child, e) == (node->kind == ND_RULE_ANY))
            return node->kind == ND_RULE_ANY;
    return node->kind == ND_RULE_ALL;
}

bool nd_rule_holds(const struct nd_rule *rule, const struct nd_rule_evidence *e)
{
    return holds(rule, 0, e);
}

bool nd_rule_wants_more(const struct nd_rule *rule)
{
    for (unsigned i = 0; i < rule->n; i++) {
        const struct nd_rule_node *node = &rule->node[i];

        if (node->kind == ND_RULE_TEST && node->at_most && node->value >= ND_RULE_SHARED &&
            node->value <= ND_RULE_COSINE)
            return false;
    }
    return true;
}

unsigned nd_rule_score(const struct nd_method *method, const struct nd_rule_evidence *e)
{
    unsigned best = 0;

    for (unsigned i = 0; i < method->n_signatures; i++) {
        const struct nd_agreement *x = &e->agreement[i];
        uint64_t most = x->a > x->b ? x->a : x->b;
        unsigned score = most ? (unsigned)((wide)x->shared * 65535 / most) : 0;

        best = score > best ? score : best;
    }
    return best;
}
