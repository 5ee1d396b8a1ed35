/* signer_df.c - signers with the document frequencies of a df table */
#include "sketch/signer.h"

static uint32_t count(const void *context, uint64_t hash)
{
    return nd_df_count(context, hash);
}

struct nd_signer *nd_signer_new(const struct nd_signature_params *params, const struct nd_df *df,
                                struct nd_error *err)
{
    const struct nd_df_source source = {df ? nd_df_documents(df) : 0, count, df};

    return nd_signer_new_from(params, &source, err);
}
