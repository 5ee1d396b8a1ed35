/* fuzz_metadata.c - any lists of fields, any values: what is read becomes distinct features */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "feature/metadata.h"
#include "feature/weigh.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

/* The next line of the input, without zeros, cut to the room. */
static struct nd_view next_line(const char **p, const char *end)
{
    const char *from = *p, *stop = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;

    stop = stop ? stop : end;
    *p = stop < end ? stop + 1 : end;
    return (struct nd_view){from, (size_t)(stop - from)};
}

static void to_string(char *out, size_t room, struct nd_view line)
{
    size_t n = line.len < room - 1 ? line.len : room - 1;

    for (size_t i = 0; i < n; i++)
        out[i] = line.data[i] ? line.data[i] : ' ';
    out[n] = 0;
}

/* Lines: fields, force, position table, then name and value of one field, then targets. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data, *end = p + size;
    struct nd_feature_params params = nd_feature_params_default();
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_metadata_features out;
    struct nd_document document = {.n_fields = 1, .n_links = 1};
    struct nd_field field;
    struct nd_link link = {0};
    struct nd_weigher *weigher;
    struct nd_metadata *m;

    if (size > 5000)
        return 0;
    to_string(params.fields, sizeof params.fields, next_line(&p, end));
    to_string(params.force, sizeof params.force, next_line(&p, end));
    to_string(weights.position_table, sizeof weights.position_table, next_line(&p, end));
    field.name = next_line(&p, end);
    field.value = next_line(&p, end);
    link.target = next_line(&p, end);
    document.fields = &field;
    document.links = &link;
    params.links = 1;
    weights.position = ND_POSITION_TABLE;
    weigher = nd_weigher_new(&weights, NULL, true, NULL);
    if (weigher)
        for (uint64_t i = 1; i < 50; i++)
            nd_weigher_gain(weigher, i, 49, 0);
    nd_weigher_free(weigher);
    for (size_t i = 0; i < field.value.len; i++)
        if ((unsigned char)field.value.data[i] >= 0x80) /* text is valid UTF-8: ASCII will do */
            return 0;
    m = nd_metadata_new(&params, NULL);
    if (m) {
        require(nd_metadata_explain(m, &document, &out) == ND_OK);
        for (size_t i = 0; i < out.count; i++) {
            require(out.items[i].weight >= 0 && out.items[i].weight <= 1000 * ND_WEIGHT_ONE);
            for (size_t j = 0; j < i && i < 64; j++)
                require(out.items[i].hash != out.items[j].hash);
        }
        for (size_t i = 0; i < out.n_forced; i++)
            require(out.forced[i].weight >= 1 && out.forced[i].weight <= 62);
    }
    nd_metadata_free(m);
    return 0;
}
