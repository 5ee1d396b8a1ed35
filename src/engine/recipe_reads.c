/* recipe_reads.c - what a signature asks of a df table, and the table that it gets */
#include <inttypes.h>
#include <string.h>

#include "engine/params.h"
#include "engine/recipe_keys.h"
#include "feature/featurer.h"

/* What asks it, for messages; NULL: nothing. */
static const char *asker(const struct nd_named_signature *s)
{
    return s->signature.kind == ND_SIGNATURE_IMATCH        ? "kind = imatch"
           : s->weight.idf != ND_IDF_NONE                  ? "idf"
           : s->feature.select == ND_SELECT_RAREST         ? "select = rarest"
           : s->feature.select == ND_SELECT_UNCOMMON       ? "select = uncommon"
           : s->feature.phrases > 0                        ? "phrases"
           : strncmp(s->feature.stop_words, "df:", 3) == 0 ? "stop_words"
                                                           : NULL;
}

int nd_signature_asks_df(const struct nd_named_signature *signature)
{
    return asker(signature) != NULL;
}

int nd_signature_asks_template(const struct nd_named_signature *signature)
{
    return signature->feature.template_count > 0;
}

/* `wanted`: what the recipe states, 0: nothing. */
static enum nd_status check_version(const struct nd_named_signature *s, const char *path,
                                    const struct nd_df *table, uint64_t wanted,
                                    struct nd_error *err)
{
    uint64_t version = nd_df_fingerprint(table);

    if (wanted && wanted != version)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: the df table %s has the version 0x%" PRIx64
                       ", the recipe wants 0x%" PRIx64
                       ": sketches that were made with that one are stale",
                       s->name, path, version, wanted);
    return ND_OK;
}

static enum nd_status check_table(const struct nd_named_signature *s, const struct nd_df *table,
                                  struct nd_error *err)
{
    struct nd_error reason;

    if (!table)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: %s asks a df table: neardup df build makes one of documents, "
                       "--df FILE names it",
                       s->name, asker(s));
    if (check_version(s, s->df, table, s->df_version, err) != ND_OK)
        return err->status;
    if (nd_df_check(table, &s->feature, &reason) != ND_OK)
        return nd_fail(err, reason.status, "signature %s: %s: %s", s->name, s->df, reason.message);
    return ND_OK;
}

enum nd_status nd_signature_use_table(struct nd_named_signature *signature,
                                      const struct nd_df *table, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (nd_signature_asks_df(signature))
        status = check_table(signature, table, err);
    if (status != ND_OK)
        return status;
    signature->table = table;
    signature->df_version = table ? nd_df_fingerprint(table) : 0;
    return ND_OK;
}

enum nd_status nd_signature_use_template(struct nd_named_signature *signature,
                                         const struct nd_df *table, struct nd_error *err)
{
    struct nd_feature_params with = signature->feature;
    struct nd_error reason;
    unsigned width;

    with.template_table = table;
    if (nd_signature_asks_template(signature)) {
        if (!table)
            return nd_fail(err, ND_EINVAL,
                           "signature %s: template_count asks a df table of shingles: neardup df "
                           "build --features sketch makes one of documents, template_df names it",
                           signature->name);
        if (check_version(signature, signature->template_df, table, signature->template_df_version,
                          err) != ND_OK)
            return err->status;
        if (nd_template_check(&with, &width, &reason) != ND_OK)
            return nd_fail(err, reason.status, "signature %s: %s: %s", signature->name,
                           signature->template_df, reason.message);
    }
    signature->feature.template_table = table;
    signature->template_df_version = table ? nd_df_fingerprint(table) : 0;
    return ND_OK;
}

enum nd_status nd_recipe_set_df(struct nd_recipe *recipe, const char *path, struct nd_error *err)
{
    size_t len = strlen(path), n = 0;
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    if (status != ND_OK)
        return status;
    if (len > ND_FEATURE_PATH_MAX)
        return nd_fail(err, ND_EINVAL, "a path of more than %d bytes", ND_FEATURE_PATH_MAX);
    for (unsigned i = 0; i < recipe->method.n_signatures; i++)
        if (nd_signature_asks_df(&recipe->method.signature[i])) {
            memcpy(recipe->method.signature[i].df, path, len + 1);
            n++;
        }
    return n ? ND_OK : nd_fail(err, ND_EINVAL, "nothing in the recipe asks a df table");
}
