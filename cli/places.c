/* places.c - documents that are named by their places, as a manifest names them */
#include "base/system/naming.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 4096 };

/* The length of FILE in "FILE:LINE", "FILE!ENTRY" or "FILE!ENTRY:LINE"; 0: it is no such place. */
static size_t file_of(const char *place)
{
    const char *colon = strrchr(place, ':'), *mark = strchr(place, '!');

    if (mark)
        return (size_t)(mark - place);
    return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]
               ? (size_t)(colon - place)
               : 0;
}

void find_places(struct settings *s)
{
    static char file[2][NAME_BYTES]; /* the settings borrow it */

    if (s->corpus.count || s->paths.count < 1 || s->paths.count > 2)
        return;
    for (size_t i = 0; i < s->paths.count; i++) {
        const char *place = s->paths.at[i];
        size_t len = file_of(place);

        if (!len || len >= NAME_BYTES || nd_path_exists(place))
            return;
        (void)snprintf(file[i], NAME_BYTES, "%.*s", (int)len, place);
        if (!nd_path_exists(file[i]))
            return;
    }
    (void)words_add(&s->corpus, file[0]);
    if (s->paths.count == 2 && strcmp(file[0], file[1]) != 0)
        (void)words_add(&s->corpus, file[1]);
}
