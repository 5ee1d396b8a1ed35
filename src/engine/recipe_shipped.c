/* recipe_shipped.c - recipes by name */
#include <string.h>

#include <neardup/recipe.h>

#include "engine/recipe_texts.h"

const char *nd_recipe_name(size_t i)
{
    return i < nd_n_recipe_texts ? nd_recipe_texts[i].name : NULL;
}

static const struct nd_recipe_text *find(const char *name)
{
    for (size_t i = 0; i < nd_n_recipe_texts; i++)
        if (strcmp(nd_recipe_texts[i].name, name) == 0)
            return &nd_recipe_texts[i];
    return NULL;
}

const char *nd_recipe_text(const char *name, size_t *len)
{
    const struct nd_recipe_text *text = find(name);

    if (text && len)
        *len = text->len;
    return text ? text->text : NULL;
}

/* The text begins with "# name.ini - what it is". */
struct nd_view nd_recipe_about(const char *name)
{
    const struct nd_recipe_text *text = find(name);
    const char *about = text ? strstr(text->text, " - ") : NULL;
    const char *end = about ? strchr(about, '\n') : NULL;

    return end ? (struct nd_view){about + 3, (size_t)(end - about - 3)} : (struct nd_view){"", 0};
}

/* The name that is near, or the first that begins with what was typed. */
const char *nd_recipe_nearest(const char *name)
{
    const char *names[64], *nearest;
    size_t n = 0, len = strlen(name);

    while (n < sizeof names / sizeof *names && (names[n] = nd_recipe_name(n)))
        n++;
    nearest = nd_name_nearest(name, len, names, n);
    for (size_t i = 0; !nearest && len && i < n; i++)
        if (strncmp(names[i], name, len) == 0)
            nearest = names[i];
    return nearest;
}

enum nd_status nd_recipe_by_name(struct nd_recipe *recipe, const char *name, struct nd_error *err)
{
    const struct nd_recipe_text *text = find(name);
    const char *nearest;

    if (text)
        return nd_recipe_parse(recipe, text->name, text->text, text->len, err);
    nearest = nd_recipe_nearest(name);
    return nd_fail(err, ND_EINVAL, "there is no recipe '%.40s'%s%s%s", name,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
