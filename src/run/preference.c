/* preference.c - which documents are preferred, before the keep policy counts */
#include "run/run_parts.h"

#include <string.h>

uint32_t nd_preference(const struct nd_run *run, const struct nd_document *document)
{
    const struct nd_run_options *options = run->options;
    struct nd_view value;
    bool is_known;
    uint32_t i = 0;

    if (!options->prefer_field)
        return 0;
    value = nd_document_field(document, run->prefer_index);
    is_known = value.data && !nd_document_field_replaced(document, run->prefer_index);
    for (; i < options->n_prefer; i++)
        if (is_known && strlen(options->prefer[i]) == value.len &&
            memcmp(options->prefer[i], value.data, value.len) == 0)
            break;
    return i;
}
