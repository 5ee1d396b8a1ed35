/* fuzz_objects.c - a row of an export, and an answer of the service: its members, and arrays of objects */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/text.h>

#include "service/objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"id", "versions", "visits.visits"};
static const char *const element_names[] = {"version", "simhash"};
static const char *const text[] = {"text"}, *const labels[] = {"labels.*"},
                         *const no_text[] = {"none"};
enum { NAMES = 3, ELEMENT_NAMES = 2 };

static void require(int holds)
{
    if (!holds)
        abort();
}

/* Check that numbers have the value that their digits say. */
static void check_numbers(const struct nd_view *value)
{
    uint64_t number;

    if (object_uint(value[0], &number))
        require(value[0].len > 0 && value[0].data[0] >= '0' && value[0].data[0] <= '9');
    require(!object_hex(value[1], &number) || value[1].len == 16);
}

/* The elements lie in the array, one behind the other, and each is an object or is refused. */
static void check_elements(struct object_reader *reader, struct nd_view array)
{
    struct nd_view at = array, element, value[ELEMENT_NAMES], none;
    const char *before = array.data;

    while (object_element(&at, &element)) {
        require(element.data >= before && element.len > 0);
        before = element.data + element.len;
        require(before <= array.data + array.len && before + at.len == array.data + array.len);
        if (object_read(reader, element, value, &none, NULL) == ND_OK)
            check_numbers(value);
    }
}

static void check_row(struct nd_view json)
{
    struct object_reader *rows = object_reader_new(names, NAMES, text, NULL);
    struct object_reader *lines = object_reader_new(names, 1, labels, NULL);
    struct object_reader *elements = object_reader_new(element_names, ELEMENT_NAMES, no_text, NULL);
    struct nd_view value[NAMES], one[1], body;

    require(rows && lines && elements);
    if (object_read(rows, json, value, &body, NULL) == ND_OK) {
        require(nd_utf8_valid(body.data, body.len));
        require(nd_utf8_valid(value[0].data, value[0].len));
        if (value[1].data)
            check_elements(elements, value[1]);
        require(object_read(lines, json, one, &body, NULL) == ND_OK);
        require(nd_utf8_valid(body.data, body.len));
    }
    object_reader_free(rows);
    object_reader_free(lines);
    object_reader_free(elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = calloc(1, size + 64);

    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    check_row((struct nd_view){copy, size});
    free(copy);
    return 0;
}
