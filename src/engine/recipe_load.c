/* recipe_load.c - a recipe from its file */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <neardup/recipe.h>

#include "base/memory.h"

enum { RECIPE_BYTES_MAX = 1 << 20, STEP = 1 << 14 };

static enum nd_status read_file(FILE *file, const char *path, struct nd_buffer *text,
                                struct nd_error *err)
{
    size_t got = 1;

    while (got && text->len <= RECIPE_BYTES_MAX) {
        if (!nd_buffer_reserve(text, text->len + STEP))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        errno = 0;
        got = fread(text->data + text->len, 1, STEP, file);
        text->len += got;
    }
    if (ferror(file))
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (text->len > RECIPE_BYTES_MAX)
        return nd_fail(err, ND_EINVAL, "%s: a recipe has at most %d bytes", path, RECIPE_BYTES_MAX);
    return ND_OK;
}

enum nd_status nd_recipe_load(struct nd_recipe *recipe, const char *path, struct nd_error *err)
{
    struct nd_buffer text = {0};
    FILE *file = fopen(path, "re");
    enum nd_status status;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    status = read_file(file, path, &text, err);
    fclose(file);
    if (status == ND_OK)
        status = nd_recipe_parse(recipe, path, text.len ? text.data : "", text.len, err);
    nd_buffer_release(&text);
    return status;
}
