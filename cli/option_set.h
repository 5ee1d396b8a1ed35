/* option_set.h - what each option does to the settings */
#ifndef CLI_OPTION_SET_H
#define CLI_OPTION_SET_H

#include "settings.h"

#define DECLARE(name)                                                                              \
    enum nd_status name(struct settings *s, const struct option *o, const char *value,             \
                        struct nd_error *err)
DECLARE(set_key);
DECLARE(set_in_run);
DECLARE(set_assignment);
DECLARE(set_recipe);
DECLARE(set_shown_df);
DECLARE(set_store_df);
DECLARE(set_df);
DECLARE(set_shingle);
DECLARE(set_characters);
DECLARE(set_flag);
DECLARE(set_any_text);
DECLARE(set_text);
DECLARE(add_text);
DECLARE(set_number);
DECLARE(set_word);
DECLARE(set_design);
DECLARE(set_ratio);
DECLARE(set_amount);
DECLARE(set_duration);
DECLARE(set_method);
DECLARE(set_bands);
DECLARE(set_null);
DECLARE(set_show);
DECLARE(set_limit);
DECLARE(set_pair_columns);
DECLARE(set_costs);
DECLARE(set_at);
DECLARE(set_json);
DECLARE(set_filter);
DECLARE(set_hamming_count);
DECLARE(set_spark);
DECLARE(set_index_memory);
DECLARE(set_df_memory);
DECLARE(set_hamming_memory);
DECLARE(set_df_drop);
DECLARE(set_size);
DECLARE(set_durability);
#undef DECLARE

#endif
