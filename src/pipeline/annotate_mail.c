/* annotate_mail.c - the header field X-Neardup: which prototype a message matches */
#include "pipeline/filtering.h"

#include <string.h>

/* Of the name of a prototype in one line: a header's lines have at most 998 bytes (RFC 5322). */
enum { PIECE_BYTES = 300 };

static void put(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

static void put_uint(struct nd_json *out, const char *name, uint64_t value)
{
    put(out, "; ");
    put(out, name);
    put(out, "=");
    out->after_value = false;
    nd_json_uint(out, value);
}

static bool is_quotable(struct nd_view name)
{
    if (name.len > PIECE_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < ' ' || name.data[i] > '~')
            return false;
    return true;
}

static void put_quoted(struct nd_json *out, struct nd_view name)
{
    put(out, "prototype=\"");
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\')
            put(out, "\\");
        nd_json_bytes(out, name.data + i, 1);
    }
    put(out, "\"");
}

/* Bytes that a parameter's extended value may hold as they are (RFC 2231, section 7). */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._+", c));
}

static void put_encoded(struct nd_json *out, struct nd_view name, const char *fold)
{
    static const char digit[] = "0123456789ABCDEF";
    bool in_pieces = name.len > PIECE_BYTES;

    put(out, in_pieces ? "prototype*0*=UTF-8''" : "prototype*=UTF-8''");
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.data[i];

        if (i && i % PIECE_BYTES == 0) {
            put(out, ";");
            put(out, fold);
            put(out, "prototype*");
            out->after_value = false;
            nd_json_uint(out, i / PIECE_BYTES);
            put(out, "*=");
        }
        if (is_plain(name.data[i]))
            nd_json_bytes(out, name.data + i, 1);
        else
            nd_json_bytes(out, (const char[]){'%', digit[byte >> 4], digit[byte & 15]}, 3);
    }
}

static void put_measures(struct nd_json *out, const struct nd_annotating *a,
                         const struct nd_nearest *nearest)
{
    const struct nd_method *method = &a->run->recipe.method;
    const struct nd_found_pair *pair = &nearest->pair;

    if (a->is_verified) {
        put(out, "; resemblance=");
        out->after_value = false;
        nd_json_double(out, nd_overlap_resemblance(&pair->overlap));
        put_uint(out, "shared", pair->overlap.shared);
        put_uint(out, "shingles", pair->overlap.a);
    }
    if (pair->distance <= ND_DISTANCE_MAX)
        put_uint(out, "hamming", pair->distance);
    if (a->run->recipe.dedup.candidates == ND_CANDIDATES_MATCH)
        for (unsigned i = 0; i < method->n_signatures; i++) {
            put(out, "; shared.");
            put(out, method->signature[i].name);
            put(out, "=");
            out->after_value = false;
            nd_json_uint(out, pair->agreement[i].shared);
        }
    put_uint(out, "prototypes", nearest->prototypes);
}

void nd_annotation_field(struct nd_json *out, const struct nd_annotating *a,
                         const struct nd_nearest *nearest, const char *reason, const char *line_end)
{
    const char *fold = strcmp(line_end, "\r\n") == 0 ? "\r\n\t" : "\n\t";

    put(out, "X-Neardup: ");
    if (!nearest) {
        put(out, "unread; reason=\"");
        put(out, reason);
        put(out, "\"");
    } else if (!nearest->prototypes) {
        put(out, "none");
    } else {
        put(out, "match");
        put_measures(out, a, nearest);
        put(out, ";");
        put(out, fold);
        if (is_quotable(nearest->name.text))
            put_quoted(out, nearest->name.text);
        else
            put_encoded(out, nearest->name.text, fold);
    }
    put(out, line_end);
    out->after_value = false;
}
