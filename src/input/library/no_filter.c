/* no_filter.c - in place of run_filter.c where no filter can be run: on Windows */
#include "input/library/text_filter.h"

#include <stdio.h>

int nd_filter_run(const char *command, struct nd_view document,
                  const struct nd_filter_limits *limits, struct nd_buffer *text, char *reason,
                  size_t reason_bytes)
{
    (void)document;
    (void)limits;
    (void)text;
    (void)snprintf(reason, reason_bytes, "%s: filters are not run on this system", command);
    return 0;
}

void nd_filter_abandon(void)
{
}
