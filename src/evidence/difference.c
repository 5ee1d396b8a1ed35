/* difference.c - the words that only one of two texts has, as JSON */
#include "evidence/difference.h"

void nd_difference_json(struct nd_json *out, const struct nd_difference *d, const char *a,
                        const char *b)
{
    const char *const side[2] = {a, b};

    nd_json_key(out, "differs");
    nd_json_open(out, '{');
    nd_json_put_text(out, "in", nd_differs_name(d->by));
    for (unsigned k = 0; k < 2; k++) {
        nd_json_key(out, side[k]);
        nd_json_open(out, '[');
        for (size_t i = 0; i < d->only[k] && i < ND_DIFFERENCE_WORDS_MAX; i++)
            nd_json_string(out, d->word[k][i]);
        nd_json_close(out, ']');
    }
    if (d->only[0] > ND_DIFFERENCE_WORDS_MAX || d->only[1] > ND_DIFFERENCE_WORDS_MAX) {
        nd_json_key(out, "words");
        nd_json_open(out, '[');
        nd_json_uint(out, d->only[0]);
        nd_json_uint(out, d->only[1]);
        nd_json_close(out, ']');
    }
    nd_json_close(out, '}');
}
