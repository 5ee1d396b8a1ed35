/* rule.c - the `match` rule of a recipe: read into a tree, asked of two documents, planned as look-ups
 *
 * A rule is all-of and any-of lists of tests.  Whether it holds of two documents is decided in
 * integers (test_holds).  To meet every match without comparing all pairs, documents are looked up
 * by some of the tests: of "all of" any one child suffices, so the cheapest is taken; of "any of"
 * every child is needed (plan_node).
 */
#include "match/rule.h"

#include "match/measure.h"

#include <string.h>

#include <neardup/ratio.h>

/* Form that a value needs, and its name. */
struct value_name {
    const char *name;
    enum nd_rule_value value;
    enum nd_signature_form form; /* not for length */
    bool is_share;               /* its bound is at most 1 */
};

static const struct value_name value_names[] = {
    {"distance", ND_RULE_DISTANCE, ND_FORM_BITS, false},
    {"agree", ND_RULE_AGREE, ND_FORM_BITS, false},
    {"same", ND_RULE_SAME, ND_FORM_BITS, true},
    {"equal", ND_RULE_EQUAL, ND_FORM_COORDINATES, false},
    {"shared", ND_RULE_SHARED, ND_FORM_VALUES, false},
    {"resemblance", ND_RULE_RESEMBLANCE, ND_FORM_VALUES, true},
    {"containment", ND_RULE_CONTAINMENT, ND_FORM_VALUES, true},
    {"overlap", ND_RULE_OVERLAP, ND_FORM_VALUES, true},
    {"cosine", ND_RULE_COSINE, ND_FORM_VALUES, true},
    {"length", ND_RULE_LENGTH, ND_FORM_VALUES, true},
};
enum { N_VALUES = sizeof value_names / sizeof *value_names, DEPTH = 16 };

struct parse {
    struct nd_rule *rule;
    const struct nd_method *method;
    const char *at;
    unsigned depth;
    struct nd_error *err;
};

static enum nd_status fail(const struct parse *p, const char *reason, const char *name, size_t len)
{
    return nd_fail(p->err, ND_EINVAL, "match: at character %zu: %s%.*s%s",
                   (size_t)(p->at - p->method->match) + 1, reason, (int)(len < 40 ? len : 40), name,
                   len ? "'" : "");
}

static void skip_blanks(struct parse *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static size_t name_length(const struct parse *p)
{
    size_t n = 0;

    while (is_name(p->at[n]))
        n++;
    return n;
}

/* Pass over a symbol, or a word that ends there. */
static bool take(struct parse *p, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(p);
    if (strncmp(p->at, text, n) != 0 || (is_name(text[0]) && is_name(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static enum nd_status expect(struct parse *p, const char *text)
{
    return take(p, text) ? ND_OK : fail(p, "expected '", text, strlen(text));
}

static enum nd_status new_node(struct parse *p, struct nd_rule_node node, unsigned *at)
{
    if (p->rule->n == ND_RULE_NODES)
        return fail(p, "the rule is too long", "", 0);
    *at = p->rule->n++;
    p->rule->node[*at] = node;
    return ND_OK;
}

static enum nd_status read_signature(struct parse *p, const struct value_name *v,
                                     struct nd_rule_node *node)
{
    const char *names[ND_RECIPE_SIGNATURES], *nearest;
    size_t len;

    if (expect(p, "("))
        return ND_EINVAL;
    skip_blanks(p);
    len = name_length(p);
    for (unsigned i = 0; i < p->method->n_signatures; i++) {
        const char *name = names[i] = p->method->signature[i].name;

        if (strlen(name) != len || memcmp(name, p->at, len) != 0)
            continue;
        if (nd_signature_form(&p->method->signature[i].signature) != v->form)
            return fail(p, "this kind of signature has no such value: '", v->name, strlen(v->name));
        node->signature = i;
        p->at += len;
        return expect(p, ")");
    }
    nearest = nd_name_nearest(p->at, len, names, p->method->n_signatures);
    if (nearest)
        return fail(p, "no such signature; did you mean '", nearest, strlen(nearest));
    return fail(p, "no section [signature …] has the name '", p->at, len);
}

static enum nd_status read_bound(struct parse *p, const struct value_name *v,
                                 struct nd_rule_node *node)
{
    struct nd_error reason;
    size_t len = 0;

    if (take(p, "<="))
        node->at_most = true;
    else if (!take(p, ">="))
        return fail(p, "expected '>=' or '<='", "", 0);
    skip_blanks(p);
    while ((p->at[len] >= '0' && p->at[len] <= '9') || p->at[len] == '.' || p->at[len] == '/')
        len++;
    if (nd_ratio_parse(p->at, len, &node->bound, &reason))
        return fail(p, "expected a number", "", 0);
    if (v->is_share ? node->bound.p > node->bound.q : node->bound.q != 1)
        return fail(
            p, v->is_share ? "the bound must be at most 1" : "the bound must be a whole number", "",
            0);
    p->at += len;
    return ND_OK;
}

static enum nd_status read_test(struct parse *p, unsigned *at)
{
    const char *names[N_VALUES], *nearest;
    struct nd_rule_node node = {.kind = ND_RULE_TEST};
    size_t len;

    skip_blanks(p);
    len = name_length(p);
    for (unsigned i = 0; i < N_VALUES; i++) {
        const struct value_name *v = &value_names[i];

        names[i] = v->name;
        if (strlen(v->name) != len || memcmp(v->name, p->at, len) != 0)
            continue;
        p->at += len;
        node.value = v->value;
        if (v->value != ND_RULE_LENGTH && read_signature(p, v, &node))
            return ND_EINVAL;
        return read_bound(p, v, &node) ? ND_EINVAL : new_node(p, node, at);
    }
    nearest = nd_name_nearest(p->at, len, names, N_VALUES);
    if (len && nearest)
        return fail(p, "no such value; did you mean '", nearest, strlen(nearest));
    return fail(p, "expected a test such as distance(NAME) <= 3", "", 0);
}

static enum nd_status read_rule(struct parse *p, unsigned *at);

/* "(" rule { "," rule } ")", as a list of the kind. */
static enum nd_status read_list(struct parse *p, enum nd_rule_kind kind, unsigned *at)
{
    unsigned last = 0, child;

    if (expect(p, "(") || new_node(p, (struct nd_rule_node){.kind = kind}, at))
        return ND_EINVAL;
    do {
        if (read_rule(p, &child))
            return ND_EINVAL;
        *(last ? &p->rule->node[last].next : &p->rule->node[*at].first) = (unsigned char)child;
        last = child;
    } while (take(p, ","));
    return expect(p, ")");
}

static enum nd_status read_factor(struct parse *p, unsigned *at)
{
    if (take(p, "(")) {
        if (read_rule(p, at))
            return ND_EINVAL;
        return expect(p, ")");
    }
    if (take(p, "any"))
        return expect(p, "of") ? ND_EINVAL : read_list(p, ND_RULE_ANY, at);
    if (take(p, "all"))
        return expect(p, "of") ? ND_EINVAL : read_list(p, ND_RULE_ALL, at);
    return read_test(p, at);
}

/* x { WORD x }: a list of its own only where there are several. */
static enum nd_status read_chain(struct parse *p, const char *word, enum nd_rule_kind kind,
                                 enum nd_status (*read)(struct parse *, unsigned *), unsigned *at)
{
    unsigned first, child, last;

    if (read(p, &first))
        return ND_EINVAL;
    *at = last = first;
    while (take(p, word)) {
        if (*at == first &&
            new_node(p, (struct nd_rule_node){.kind = kind, .first = (unsigned char)first}, at))
            return ND_EINVAL;
        if (read(p, &child))
            return ND_EINVAL;
        p->rule->node[last].next = (unsigned char)child;
        last = child;
    }
    return ND_OK;
}

static enum nd_status read_all(struct parse *p, unsigned *at)
{
    return read_chain(p, "and", ND_RULE_ALL, read_factor, at);
}

static enum nd_status read_rule(struct parse *p, unsigned *at)
{
    enum nd_status status;

    if (++p->depth > DEPTH)
        return fail(p, "too many parentheses", "", 0);
    status = read_chain(p, "or", ND_RULE_ANY, read_all, at);
    p->depth--;
    return status;
}

enum nd_status nd_rule_parse(struct nd_rule *rule, const struct nd_method *method,
                             struct nd_error *err)
{
    struct parse p = {.rule = rule, .method = method, .at = method->match, .err = err};
    struct nd_rule_lookup lookup[ND_RULE_LOOKUPS];
    unsigned root, n;

    /* node[0] is kept free for the root, so that 0 can say "no child". */
    *rule = (struct nd_rule){.n = 1};
    if (read_rule(&p, &root))
        return ND_EINVAL;
    skip_blanks(&p);
    if (*p.at)
        return fail(&p, "expected 'and', 'or' or the end", "", 0);
    rule->node[0] = rule->node[root];
    rule->node[0].next = 0;
    return nd_rule_lookups(rule, method, lookup, &n, err);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A value as a fraction; the cosine as its square, as is its bound then. */
static struct nd_fraction value_of(const struct nd_rule_node *node,
                                   const struct nd_rule_evidence *e)
{
    const struct nd_agreement *x = &e->agreement[node->signature];
    uint64_t least = lesser(x->a, x->b), most = x->a + x->b - least;

    switch (node->value) {
    case ND_RULE_DISTANCE: return (struct nd_fraction){least - x->shared, 1};
    case ND_RULE_AGREE:
    case ND_RULE_EQUAL:
    case ND_RULE_SHARED: return (struct nd_fraction){x->shared, 1};
    case ND_RULE_RESEMBLANCE: return (struct nd_fraction){x->shared, x->a + x->b - x->shared};
    case ND_RULE_CONTAINMENT: return (struct nd_fraction){x->shared, least};
    case ND_RULE_OVERLAP: return (struct nd_fraction){x->shared, most};
    case ND_RULE_COSINE: return (struct nd_fraction){x->shared * x->shared, x->a * x->b};
    case ND_RULE_SAME: return (struct nd_fraction){e->same[node->signature], 1};
    case ND_RULE_LENGTH: break;
    }
    least = lesser(e->length[0], e->length[1]);
    return (struct nd_fraction){least, e->length[0] + e->length[1] - least};
}

static bool test_holds(const struct nd_rule_node *node, const struct nd_rule_evidence *e)
{
    struct nd_fraction x = value_of(node, e), bound = {node->bound.p, node->bound.q};

    /* Rejected, or nothing on either side: similar to nothing. */
    if (node->value != ND_RULE_LENGTH &&
        (e->agreement[node->signature].a == 0 || e->agreement[node->signature].b == 0))
        return false;
    if (x.den == 0)
        return false;
    if (node->value == ND_RULE_COSINE) {
        bound.num *= bound.num;
        bound.den *= bound.den;
    }
    return node->at_most ? nd_fraction_compare(x, bound) <= 0 : nd_fraction_compare(x, bound) >= 0;
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
        unsigned score = most ? (unsigned)(x->shared * 65535 / most) : 0;

        best = score > best ? score : best;
    }
    return best;
}

/* Blocks are at least so wide: a lookup within more bits would meet too many unrelated ones. */
enum { BLOCKS_MAX = 64, NEVER = 1 << 20 };

struct rule_plan {
    struct nd_rule_lookup lookup[ND_RULE_LOOKUPS];
    unsigned n;
    unsigned cost; /* of all; NEVER: it cannot be looked up */
    const char *why;
};

static struct rule_plan never(const char *why)
{
    return (struct rule_plan){.cost = NEVER, .why = why};
}

static struct rule_plan one(struct nd_rule_lookup lookup, unsigned cost)
{
    return (struct rule_plan){.lookup = {lookup}, .n = 1, .cost = cost};
}

static struct rule_plan plan_bits(const struct nd_rule_node *node,
                                  const struct nd_signature_params *s)
{
    unsigned bits = s->bits - s->reserved_bits;
    unsigned most = node->value == ND_RULE_DISTANCE ? node->bound.p : bits - node->bound.p;

    if (node->value == ND_RULE_AGREE && node->bound.p > bits)
        return never("more bits must agree than the signature has");
    if (node->at_most != (node->value == ND_RULE_DISTANCE))
        return never("documents cannot be looked up by how much they differ");
    if (most >= bits || most + 1 > BLOCKS_MAX)
        return never("so many bits may differ that the others are not enough for a look-up");
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

static struct rule_plan plan_test(const struct nd_rule_node *node, const struct nd_method *method)
{
    const struct nd_signature_params *s = &method->signature[node->signature].signature;
    struct nd_rule_lookup lookup = {.signature = node->signature, .value = node->value};

    switch (node->value) {
    case ND_RULE_DISTANCE:
    case ND_RULE_AGREE: return plan_bits(node, s);
    case ND_RULE_SAME:
    case ND_RULE_LENGTH:
        return never("documents cannot be looked up by length or reserved bits alone");
    case ND_RULE_EQUAL:
        if (node->bound.p > nd_signature_words(s))
            return never("more coordinates must be equal than the signature has");
        lookup.equal = node->bound.p;
        break;
    case ND_RULE_SHARED: lookup.least = whole_of(node->bound); break;
    default: lookup.share = share_of(node); lookup.of_lesser = node->value == ND_RULE_CONTAINMENT;
    }
    if (node->at_most || node->bound.p == 0)
        return never("documents that share nothing cannot be looked up");
    return one(lookup, node->value == ND_RULE_EQUAL ? (unsigned)nd_signature_words(s) : 200);
}

/*
 * Plan look-ups for an "all of": if a number of values of a signature must be shared, look-ups by
 * it need so many.
 */
static void need_shared(const struct nd_rule *rule, unsigned at, struct rule_plan *plan)
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

static struct rule_plan plan_node(const struct nd_rule *rule, const struct nd_method *method,
                                  unsigned at)
{
    const struct nd_rule_node *node = &rule->node[at];
    struct rule_plan best = never(""), child;

    if (node->kind == ND_RULE_TEST)
        return plan_test(node, method);
    if (node->kind == ND_RULE_ANY)
        best = (struct rule_plan){.why = ""};
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
    struct rule_plan plan = plan_node(rule, method, 0);

    if (plan.cost >= NEVER)
        return nd_fail(err, ND_EINVAL, "match: no candidates can be found by the rule: %s",
                       plan.why);
    for (unsigned i = 0; i < plan.n; i++)
        lookup[i] = plan.lookup[i];
    *n = plan.n;
    return ND_OK;
}
