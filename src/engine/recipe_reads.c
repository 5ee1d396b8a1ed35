/* recipe_reads.c - what a signature asks of its layers */
#include <string.h>

#include "engine/recipe_keys.h"

int nd_signature_asks_df(const struct nd_named_signature *s)
{
    return s->weight.idf != ND_IDF_NONE || s->signature.kind == ND_SIGNATURE_IMATCH ||
           s->feature.select == ND_SELECT_RAREST || s->feature.select == ND_SELECT_UNCOMMON ||
           s->feature.phrases > 0 || strncmp(s->feature.stop_words, "df:", 3) == 0;
}

enum nd_status nd_recipe_set_df(struct nd_recipe *recipe, const char *path, struct nd_error *err)
{
    size_t len = strlen(path), n = 0;

    if (len > ND_FEATURE_PATH_MAX)
        return nd_fail(err, ND_EINVAL, "a path of more than %d bytes", ND_FEATURE_PATH_MAX);
    for (unsigned i = 0; i < recipe->method.n_signatures; i++)
        if (nd_signature_asks_df(&recipe->method.signature[i])) {
            memcpy(recipe->method.signature[i].df, path, len + 1);
            n++;
        }
    return n ? ND_OK : nd_fail(err, ND_EINVAL, "nothing in the recipe asks a df table");
}
