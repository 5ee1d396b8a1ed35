/* recipe_match.c - the rule of a recipe in one spelling; what it means is nd_rule's */
#include <string.h>

#include "engine/recipe_keys.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Of a name, a word or a number. */
static bool is_inner(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
}

static size_t take(struct nd_view rest)
{
    size_t n = 0;

    while (n < rest.len && is_inner(rest.data[n]))
        n++;
    if (n)
        return n;
    if (rest.len > 1 && rest.data[1] == '=' && (*rest.data == '<' || *rest.data == '>'))
        return 2;
    return strchr("(),", *rest.data) && *rest.data ? 1 : 0;
}

/* Whether these two stand together: "agree(a)", "(a", "a,", but "of (", "and (". */
static bool is_joined(struct nd_view before, struct nd_view piece)
{
    if (!before.len || *before.data == '(' || *piece.data == ')' || *piece.data == ',')
        return true;
    return *piece.data == '(' && is_inner(*before.data) && !nd_view_is(before, "of") &&
           !nd_view_is(before, "and") && !nd_view_is(before, "or");
}

enum nd_status nd_match_tidy(struct nd_view value, char *out, size_t size, struct nd_error *err)
{
    struct nd_view rest = value, before = {NULL, 0}, piece;
    char text[ND_MATCH_MAX + 1];
    size_t used = 0;

    while (rest.len) {
        if (is_blank(*rest.data)) {
            rest.data++;
            rest.len--;
            continue;
        }
        piece = (struct nd_view){rest.data, take(rest)};
        if (!piece.len)
            return nd_fail(err, ND_EINVAL, "match: '%.*s' belongs to no rule", nd_view_shown(rest),
                           rest.data);
        if (used + piece.len + 1 >= size || used + piece.len + 1 >= sizeof text)
            return nd_fail(err, ND_EINVAL, "match: a rule of more than %d bytes", ND_MATCH_MAX);
        if (!is_joined(before, piece))
            text[used++] = ' ';
        memcpy(text + used, piece.data, piece.len);
        used += piece.len;
        before = piece;
        rest.data += piece.len;
        rest.len -= piece.len;
    }
    memcpy(out, text, used);
    out[used] = 0;
    return ND_OK;
}
