/* against_given.h - what a run with old documents is given */
#ifndef ND_OLD_AGAINST_GIVEN_H
#define ND_OLD_AGAINST_GIVEN_H

#include <neardup/recipe.h>
#include <neardup/run.h>

#include "base/thread/pool.h"
#include "loads/budget.h"
#include "reading/comparable.h"
#include "reading/fields.h"
#include "reading/record_fields.h"

/* All of it is borrowed; the counts of old documents go into the summary. */
struct nd_against_parts {
    const struct nd_run_options *options;
    const struct nd_recipe *recipe;
    struct nd_pool *pool;
    const struct nd_budget *budget;
    const struct nd_record_fields *record; /* fields that records of new documents keep */
    const struct nd_field_set *fields;     /* those of the run */
    struct nd_comparable *comparable;
    struct nd_run_summary *summary;
};

#endif
