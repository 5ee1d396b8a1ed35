/* params_default.c - what a [signature NAME] section starts from: plain distinct terms, counted */
#include <neardup/feature.h>

#include <string.h>

struct nd_feature_params nd_feature_params_default(void)
{
    struct nd_feature_params params;

    memset(&params, 0, sizeof params); /* padding too, so that equal parameters are equal bytes */
    params.unit = ND_FEATURE_TERMS;
    params.width = 3;
    params.distance = 1;
    params.count = ND_FEATURE_DISTINCT;
    params.select = ND_SELECT_ALL;
    params.select_count = 1;
    params.strip = ND_STRIP_NONE;
    params.most_digits = 32;
    memcpy(params.stop_words, "none", sizeof "none");
    memcpy(params.stem, "none", sizeof "none");
    return params;
}

struct nd_weight_params nd_weight_params_default(void)
{
    struct nd_weight_params params;

    memset(&params, 0, sizeof params);
    params.tf = ND_TF_COUNT;
    params.idf = ND_IDF_NONE;
    params.markup = ND_MARKUP_IGNORE;
    params.markup_boost = 1.5; /* 000 s. 5.4 */
    params.position = ND_POSITION_NONE;
    return params;
}
