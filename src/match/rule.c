/* rule.c - the `match` rule of a recipe, read into a tree */
#include "match/rule.h"

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
    const char *names[ND_METHOD_SIGNATURES], *nearest;
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
        return fail(p, v->is_share ? "the bound is at most 1" : "the bound is a whole number", "",
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
