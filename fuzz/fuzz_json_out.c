/* fuzz_json_out.c - any bytes come out as one JSON string, and as one field of TSV */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <neardup/text.h>

#include "base/json_out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A slow reader of what RFC 8259 allows between quotes; returns how many characters it stands for.
 */
static size_t read_string(const char *at, const char *end)
{
    size_t characters = 0;

    assert(end - at >= 2 && *at++ == '"' && *--end == '"');
    for (; at < end; characters++) {
        unsigned char c = (unsigned char)*at++;

        assert(c >= 0x20 && c != '"');
        if (c != '\\')
            continue;
        assert(at < end && strchr("\"\\bfnrtu", *at));
        if (*at++ != 'u')
            continue;
        assert(end - at >= 4 && strspn(at, "0123456789abcdef") >= 4);
        at += 4;
    }
    return characters;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct nd_view value = {(const char *)data, len};
    struct nd_json json = {0}, tsv = {0};
    bool valid = nd_utf8_valid(value.data, len);
    size_t characters;

    nd_json_string(&json, value);
    nd_tsv_field(&tsv, value);
    assert(!json.failed && !tsv.failed);
    characters = read_string(json.text.data, json.text.data + json.text.len);
    assert(valid ? characters == len : characters > len); /* \xNN is four for one */
    assert(nd_utf8_valid(json.text.data, json.text.len));
    if (tsv.text.len) {
        assert(nd_utf8_valid(tsv.text.data, tsv.text.len));
        assert(!memchr(tsv.text.data, '\t', tsv.text.len));
        assert(!memchr(tsv.text.data, '\n', tsv.text.len));
        assert(!memchr(tsv.text.data, '\r', tsv.text.len));
    }
    nd_json_release(&json);
    nd_json_release(&tsv);
    return 0;
}
