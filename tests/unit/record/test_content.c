/* test_content.c - contents: packed and unpacked again; bytes that are none are refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "recipe/recipe_struct.h"
#include "record/content.h"
#include "sized.h"

static const char recipe_text[] =
    "[signature a]\nunit = terms\nfields = title:1 date:0.5\nlinks = yes\n"
    "markup = multiply\n[signature b]\nunit = paths\nkind = features\n"
    "[decide]\ncandidates = match\nmatch = distance(a) <= 3 or shared(b) >= 2\n"
    "verify = none\n";

static const struct nd_field fields[] = {{{"other", 5}, {"x", 1}}, {{"title", 5}, {"A title", 7}}};
static const struct nd_markup markup[] = {{0, 3}, {4, 300}};
static const struct nd_link links[] = {{2, 5, {"/a", 2}}, {200, 0, {"", 0}}};
static const struct nd_element elements[] = {
    {{"html", 4}, ND_ELEMENT_NONE}, {{"body", 4}, 0}, {{"p", 1}, 1}};

static struct nd_document whole(struct nd_view text)
{
    return (struct nd_document){.text = text,
                                .fields = fields,
                                .n_fields = 2,
                                .markup = markup,
                                .n_markup = 2,
                                .links = links,
                                .n_links = 2,
                                .base = {"http://example.org/", 19},
                                .elements = elements,
                                .n_elements = 3};
}

static void beside_of(struct nd_beside *beside, const char *text)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);

    assert_int_equal(nd_recipe_parse(recipe, "test", text, strlen(text), NULL), ND_OK);
    assert_int_equal(nd_beside_init(beside, &recipe->method, NULL), ND_OK);
    nd_recipe_free(recipe);
}

static struct nd_view view_of(const struct nd_buffer *buffer)
{
    return (struct nd_view){buffer->data, buffer->len};
}

static void what_is_packed_is_unpacked(void **state)
{
    char text[400];
    const struct nd_document document = whole((struct nd_view){text, sizeof text});
    struct nd_buffer packed = {0}, again = {0};
    struct nd_arena arena = {0};
    struct nd_document read;
    struct nd_beside beside;
    struct nd_view found;

    (void)state;
    memset(text, 'x', sizeof text);
    beside_of(&beside, recipe_text);
    assert_int_equal(nd_content_pack(&beside, &document, &packed, NULL), ND_OK);
    assert_true(nd_content_text(&beside, view_of(&packed), &found));
    assert_int_equal(found.len, sizeof text);
    assert_int_equal(nd_content_unpack(&beside, view_of(&packed), &arena, &read, NULL), ND_OK);
    assert_int_equal(nd_beside_hash(&beside, &read), nd_beside_hash(&beside, &document));
    assert_int_equal(read.n_fields, 2);
    assert_int_equal(read.fields[0].value.len, 7);
    assert_memory_equal(read.fields[0].value.data, "A title", 7);
    assert_null(read.fields[1].value.data);
    assert_int_equal(read.links[0].target.len, 2);
    assert_int_equal(read.elements[0].parent, ND_ELEMENT_NONE);
    assert_int_equal(nd_content_pack(&beside, &read, &again, NULL), ND_OK);
    assert_int_equal(again.len, packed.len);
    assert_memory_equal(again.data, packed.data, packed.len);
    nd_buffer_release(&packed);
    nd_buffer_release(&again);
    nd_arena_release(&arena);
    nd_beside_release(&beside);
}

static void a_recipe_of_texts_keeps_the_text(void **state)
{
    const struct nd_document document = whole((struct nd_view){"text", 4});
    struct nd_buffer packed = {0};
    struct nd_arena arena = {0};
    struct nd_document read;
    struct nd_beside beside;

    (void)state;
    beside_of(&beside, "[signature a]\n[decide]\ncandidates = match\nmatch = distance(a) <= 3\n");
    assert_int_equal(nd_content_pack(&beside, &document, &packed, NULL), ND_OK);
    assert_int_equal(packed.len, 4);
    assert_int_equal(nd_content_unpack(&beside, view_of(&packed), &arena, &read, NULL), ND_OK);
    assert_int_equal(read.text.len, 4);
    assert_int_equal(read.n_fields + read.n_links + read.n_markup, 0);
    nd_buffer_release(&packed);
    nd_arena_release(&arena);
    nd_beside_release(&beside);
}

/* Every prefix, and random changes: what is accepted can be hashed, its places are in the text. */
static void other_bytes_are_refused_or_read(void **state)
{
    const struct nd_document document =
        whole((struct nd_view){"a text of some words, as long as its marks: "
                               "three hundred and four bytes are there",
                               82});
    struct nd_buffer packed = {0};
    struct nd_arena arena = {0};
    struct nd_beside beside;
    size_t n_refused = 0;

    (void)state;
    beside_of(&beside, recipe_text);
    assert_int_equal(nd_content_pack(&beside, &document, &packed, NULL), ND_OK);
    srand(5);
    for (size_t turn = 0; turn < sized(200000, 20000); turn++) {
        size_t len = turn < packed.len ? turn : packed.len;
        char *copy = malloc(len + 1);
        struct nd_document read;
        struct nd_error err;

        assert_non_null(copy);
        memcpy(copy, packed.data, len);
        for (int i = rand() % 3; len && turn >= packed.len && i >= 0; i--)
            copy[(size_t)rand() % len] = (char)rand();
        nd_arena_reset(&arena);
        if (nd_content_unpack(&beside, (struct nd_view){copy, len}, &arena, &read, &err) != ND_OK) {
            assert_int_equal(err.status, ND_EINVAL);
            n_refused++;
        } else {
            (void)nd_beside_hash(&beside, &read);
            for (size_t i = 0; i < read.n_markup; i++)
                assert_true(read.markup[i].offset + read.markup[i].len <= read.text.len);
        }
        free(copy);
    }
    assert_true(n_refused > packed.len);
    nd_buffer_release(&packed);
    nd_arena_release(&arena);
    nd_beside_release(&beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_is_unpacked),
        cmocka_unit_test(a_recipe_of_texts_keeps_the_text),
        cmocka_unit_test(other_bytes_are_refused_or_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
