/* web_files.c - find a file of the page */
#include "server/wire/web_files.h"

#include <string.h>

/* No script, style, image or connection but this service's own; nothing inline; no frame around it. */
const char nd_web_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
                             "connect-src 'self'; img-src 'self'; base-uri 'none'; "
                             "form-action 'none'; frame-ancestors 'none'";

const struct nd_web_file *nd_web_file_find(struct nd_view path)
{
    for (size_t i = 0; i < nd_web_table_count; i++) {
        const struct nd_web_file *file = &nd_web_table[i];

        if (strlen(file->path) == path.len && memcmp(file->path, path.data, path.len) == 0)
            return file;
    }
    return NULL;
}
