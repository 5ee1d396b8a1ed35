/* recipe_reads.c - what a signature asks of its layers */
#include <string.h>

#include "engine/recipe_keys.h"

bool nd_df_is_read(const struct nd_named_signature *s)
{
    return s->weight.idf != ND_IDF_NONE || s->signature.kind == ND_SIGNATURE_IMATCH ||
           s->feature.select == ND_SELECT_RAREST || s->feature.select == ND_SELECT_UNCOMMON ||
           s->feature.phrases > 0 || strncmp(s->feature.stop_words, "df:", 3) == 0;
}
