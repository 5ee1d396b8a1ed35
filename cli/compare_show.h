/* compare_show.h - the parts of a comparison that show text */
#ifndef CLI_COMPARE_SHOW_H
#define CLI_COMPARE_SHOW_H

#include "settings.h"

void show_terms(const struct nd_comparison *c);
void show_weights(const struct nd_comparison *c);
void show_passages(const struct nd_comparison *c, enum color color);
void show_edits(const struct nd_comparison *c, enum color color);

#endif
