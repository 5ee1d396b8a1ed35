/* text_units.h - the units of features that are made of the text, for tests that try all of them */
#ifndef TEXT_UNITS_H
#define TEXT_UNITS_H

#include <stdbool.h>

#include "feature/feature_params.h"

/* Whether unit i is one of them; i is below ND_FEATURE_UNITS. */
static inline bool is_text_unit(unsigned i)
{
    return !nd_unit_ignores_text((enum nd_feature_unit)i);
}

/* The stop words that the unit needs. */
static inline const char *stop_words_of(enum nd_feature_unit unit)
{
    return nd_unit_has_antecedents(unit) ? "english" : "none";
}

#endif
