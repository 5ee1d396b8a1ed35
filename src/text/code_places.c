/* code_places.c - where the code points of the normalised text stand in the original */
#include "text/code_places.h"

#include "base/memory.h"
#include "text/normal.h"

#include <stdlib.h>

enum nd_status nd_text_code_places(const char *text, size_t len, struct nd_code_place **place,
                                   size_t *n_places)
{
    struct nd_codes piece = {0};
    struct nd_normal normal = {0};
    struct nd_code_place *made = NULL;
    void *array = NULL;
    size_t count = 0, capacity = 0, n;
    bool good = nd_array_reserve(&array, &capacity, 1, sizeof *made);

    for (size_t at = 0; good && at < len; at += n) {
        good = nd_normal_piece(&piece, text + at, len - at, &n) &&
               nd_normal_run(&normal, piece.code, piece.count) &&
               nd_array_reserve(&array, &capacity, count + normal.out.count, sizeof *made);
        made = array;
        for (size_t i = 0; good && i < normal.out.count; i++)
            made[count++] = (struct nd_code_place){at, at + n};
    }
    nd_codes_release(&piece);
    nd_normal_release(&normal);
    if (!good) {
        free(array);
        return ND_ENOMEM;
    }
    *place = array;
    *n_places = count;
    return ND_OK;
}
