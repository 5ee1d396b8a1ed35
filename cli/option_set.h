/* option_set.h - what each option does to the settings */
#ifndef CLI_OPTION_SET_H
#define CLI_OPTION_SET_H

#include "settings.h"

#define DECLARE(name)                                                                              \
    enum nd_status name(struct settings *s, const struct option *o, const char *value,             \
                        struct nd_error *err)
DECLARE(set_key);
DECLARE(set_assignment);
DECLARE(set_recipe);
DECLARE(set_df);
DECLARE(set_shown_df);
DECLARE(add_assignment);
DECLARE(set_canonical);
DECLARE(set_shingle);
DECLARE(set_characters);
DECLARE(set_method);
DECLARE(set_bands);
DECLARE(set_within);
DECLARE(set_site);
DECLARE(set_prefer);
DECLARE(set_format);
DECLARE(set_text_field);
DECLARE(set_id_field);
DECLARE(set_text_format);
DECLARE(set_missing_text);
DECLARE(set_unit);
DECLARE(set_binary);
DECLARE(set_glob);
DECLARE(set_no_mail);
DECLARE(set_exclude);
DECLARE(set_null);
DECLARE(set_strict);
DECLARE(set_max_bad);
DECLARE(set_removed);
DECLARE(set_corpus);
DECLARE(set_output);
DECLARE(set_output_dir);
DECLARE(set_copy_to);
DECLARE(set_link_to);
DECLARE(set_manifest);
DECLARE(set_clusters);
DECLARE(set_summary);
DECLARE(set_dry_run);
DECLARE(set_quiet);
DECLARE(set_progress);
DECLARE(set_threads);
DECLARE(set_tmp);
DECLARE(set_help);
DECLARE(set_hamming_number);
DECLARE(set_hamming_size);
DECLARE(set_hamming_flag);
DECLARE(set_hamming_output);
DECLARE(set_use_number);
DECLARE(set_metric);
DECLARE(set_show);
DECLARE(set_limit);
DECLARE(set_costs);
DECLARE(set_color);
DECLARE(set_json);
DECLARE(set_prototypes);
DECLARE(set_filter);
DECLARE(set_use_text);
DECLARE(set_anchors_url);
DECLARE(set_use_ratio);
DECLARE(set_plan);
DECLARE(set_duration);
DECLARE(set_hamming_calibration);
DECLARE(set_hamming_codec);
DECLARE(set_df_features);
DECLARE(set_df_memory);
DECLARE(set_df_flag);
DECLARE(set_df_number);
DECLARE(set_df_drop);
#undef DECLARE

/* The place of a word in a list, or -1 and a message with the nearest. */
int option_word(const struct option *o, const char *value, const char *const *words, size_t n,
                struct nd_error *err);

#endif
