/* differing_key.c - the first key in which two recipes differ, for messages that name it */
#include <stdlib.h>
#include <string.h>

#include <neardup/recipe.h>

#include "base/memory.h"
#include "base/view.h"

/* A place in a canonical text: sections, and the keys in them, are sorted. */
struct key_place {
    const char *rest;
    struct nd_view section, key, line;
};

static struct nd_view signature_of(struct nd_view section)
{
    static const char word[] = "[signature ";
    size_t len = sizeof word - 1;

    if (section.len <= len || memcmp(section.data, word, len) != 0)
        return (struct nd_view){0};
    return (struct nd_view){section.data + len, section.len - len - 1};
}

/* Paths of df tables belong to neither half: their versions are keys of their own. */
static bool is_compared(const struct key_place *at, bool sketch_half)
{
    if (nd_view_is(at->key, "df") || nd_view_is(at->key, "template_df"))
        return false;
    return !sketch_half || !nd_view_is(at->section, "[decide]");
}

/* Go to the next key that is compared; false: there is none. */
static bool go_on(struct key_place *at, bool sketch_half)
{
    while (*at->rest) {
        at->line = (struct nd_view){at->rest, strcspn(at->rest, "\n")};
        at->rest += at->line.len + 1;
        if (*at->line.data == '[') {
            at->section = at->line;
            continue;
        }
        at->key = (struct nd_view){at->line.data, strcspn(at->line.data, " =\n")};
        if (is_compared(at, sketch_half))
            return true;
    }
    at->line = at->section = at->key = (struct nd_view){0};
    return false;
}

static char *name_of(const struct key_place *at)
{
    struct nd_view signature = signature_of(at->section);
    char *name = malloc(signature.len + at->key.len + 2);
    size_t n = 0;

    if (!name)
        return NULL;
    if (signature.len) {
        memcpy(name, signature.data, signature.len);
        name[signature.len] = '.';
        n = signature.len + 1;
    }
    memcpy(name + n, at->key.data, at->key.len);
    name[n + at->key.len] = 0;
    return name;
}

static int order_of(struct nd_view a, struct nd_view b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    int first = least ? memcmp(a.data, b.data, least) : 0;

    return first ? first : a.len < b.len ? -1 : a.len > b.len;
}

/* Which of two places comes first in a canonical text. */
static const struct key_place *earlier(const struct key_place *a, const struct key_place *b)
{
    int order = order_of(a->section, b->section);

    return (order ? order : order_of(a->key, b->key)) <= 0 ? a : b;
}

static bool is_same(const struct key_place *a, const struct key_place *b)
{
    return nd_view_equal(a->section, b->section) && nd_view_equal(a->line, b->line);
}

static enum nd_status compare(const char *a, const char *b, bool sketch_half, char **key,
                              struct nd_error *err)
{
    struct key_place at[2] = {{.rest = a}, {.rest = b}};
    bool more[2];

    *key = NULL;
    do {
        more[0] = go_on(&at[0], sketch_half);
        more[1] = go_on(&at[1], sketch_half);
        if (!more[0] && !more[1])
            return ND_OK;
    } while (is_same(&at[0], &at[1]));
    *key = name_of(!more[0] ? &at[1] : !more[1] ? &at[0] : earlier(&at[0], &at[1]));
    return *key ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

enum nd_status nd_recipe_difference(const struct nd_recipe *a, const struct nd_recipe *b,
                                    int sketch_half, char **key, struct nd_error *err)
{
    char *text[2] = {0};
    enum nd_status status = nd_recipe_canonical(a, &text[0], &(size_t){0}, NULL, err);

    if (status == ND_OK)
        status = nd_recipe_canonical(b, &text[1], &(size_t){0}, NULL, err);
    if (status == ND_OK)
        status = compare(text[0], text[1], sketch_half, key, err);
    free(text[0]);
    free(text[1]);
    return status;
}
