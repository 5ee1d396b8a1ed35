/* test_recipe_refusals.c - what a recipe with signatures is refused for, and where */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

static enum nd_status parse(struct nd_recipe *recipe, const char *text, struct nd_error *err)
{
    return nd_recipe_parse(recipe, "dir/my.ini", text, strlen(text), err);
}

static struct nd_recipe parsed(const char *text)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_error err;

    if (parse(&recipe, text, &err) != ND_OK)
        fail_msg("%s", err.message);
    return recipe;
}

static void an_error_names_place_key_and_nearest(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[signature s]\nbitz = 64", "dir/my.ini:2: no key 'bitz'; did you mean 'bits'?"},
        {"[signature s]\nkind = simhsh",
         "dir/my.ini:2: kind = simhsh: not one of simhash, minhash, bottom-k, mod-p, winnowing, "
         "supershingles, sorted-shingles, megashingles, imatch, checksums, profile, features; did "
         "you mean 'simhash'?"},
        {"[signature s]\nshingle = 3", "dir/my.ini:2: 'shingle' belongs in the section [sketch]"},
        {"[decide]\nbits = 3", "dir/my.ini:2: 'bits' belongs in a section [signature NAME]"},
        {"[signature s]\nbits = 3\nbits = 3",
         "dir/my.ini:3: 'bits' is given twice, first on line 2"},
        {"[signature s]\n[signature t]\n[signature s]",
         "dir/my.ini:3: the section [signature s] is given twice, first on line 1"},
        {"[signature a b]", "dir/my.ini:1: 'a b' is no name of a signature: 1 to 15 letters, "
                            "digits, - and _"},
        {"[signature ]", "dir/my.ini:1: no such section: there are [sketch], [decide] and "
                         "[signature NAME]"},
        {"[signature abcdefghijklmnop]",
         "dir/my.ini:1: 'abcdefghijklmnop' is no name of a signature: 1 to 15 letters, digits, - "
         "and _"},
        {"[signature a]\n[signature b]\n[signature c]\n[signature d]\n[signature e]",
         "dir/my.ini:5: a recipe has at most 4 signatures"},
        {"[signature s]\nminima = 84\n\nkind = winnowing",
         "dir/my.ini:2: 'minima' is read only where kind is minhash, bottom-k, supershingles, "
         "sorted-shingles or megashingles"},
        {"[signature s]\n\nbits = 65", "dir/my.ini:3: bits is out of its range: a simhash has 32, "
                                       "64, 128, 256, 384 or 512"},
        {"#\n[signature s]\nkind = supershingles\nminima = 84\ngroups = 9\n[decide]",
         "dir/my.ini:5: groups is out of its range: a divisor of the number of minima"},
        {"[signature s]\nkind = imatch\nlexicon_low = 0.9",
         "dir/my.ini:3: lexicon_low is out of its range: 0 to 1, and at most lexicon_high"},
        {"[signature s]\nkind = winnowing",
         "dir/my.ini:1: count = distinct, but kind = winnowing wants occurrences"},
        {"[signature s]\nunit = spots",
         "dir/my.ini:2: unit = spots needs stop_words: spots begin with them"},
        {"[signature s]\nposition = table\nposition_table = 1:1 0:1\n[signature t]",
         "dir/my.ini:3: position_table: \"0:1\": shares must rise"},
        {"[signature s]\nband_high = 0.2\nband_low = 0.3",
         "dir/my.ini:3: band_low: 0.3 is above band_high, 0.2"},
        {"[signature s]\nfields = title:x",
         "dir/my.ini:2: fields: \"title:x\": a field is NAME or NAME:SHARE, such as title:0.5"},
        {"[signature s]\nhash = rabin\nrabin_polynomial = 3",
         "dir/my.ini:3: rabin_polynomial: t^64 + 0x0000000000000003 is not irreducible"},
        {"[decide]\ncandidates = match",
         "dir/my.ini:2: candidates = match, but no key 'match' says by what rule"},
        {"[decide]\ncandidates = match\nmatch = distance(s) <= 3",
         "dir/my.ini:3: match: at character 10: no section [signature …] has the name 's'"},
        {"[decide]\nmatch = distence(s) <= 3\ncandidates = match\n[signature s]",
         "dir/my.ini:2: match: at character 1: no such value; did you mean 'distance'"},
        {"[signature s]\n[decide]\nmatch = equal(s) >= 3\ncandidates = match",
         "dir/my.ini:3: match: at character 7: this kind of signature has no such value: 'equal'"},
        {"[signature s]\nposition_table = 0:1\n[decide]",
         "dir/my.ini:2: 'position_table' is read only where position is table"},
        {"[decide]\nmatch = distance(s) <= 3",
         "dir/my.ini:2: 'match' is read only where candidates is match"},
        {"[decide]\nmatch = distance(s) = 3", "dir/my.ini:2: match: '= 3' belongs to no rule"},
        {"[signature s]\nstem = englsh",
         "dir/my.ini:2: stem = englsh: not one of none, arabic, armenian, basque, catalan, danish, "
         "dutch, english, finnish, french, german, greek, hindi, hungarian, indonesian, irish, "
         "italian, lithuanian, nepali, norwegian, porter, portuguese, romanian, russian, serbian, "
         "spanish, swedish, tamil, turkish, yiddish; did you mean 'english'?"},
        {"[signature s]\nlinks = true", "dir/my.ini:2: links = true: neither yes nor no"},
        {"[signature s]\nkind = minhash\nseed = 18446744073709551616",
         "dir/my.ini:3: seed = 18446744073709551616: not a whole number of at most 64 bits"},
        {"[signature s]\nkind = minhash\nseed = 0x",
         "dir/my.ini:3: seed = 0x: not a whole number of at most 64 bits"},
        {"[signature s]\nstop_words =", "dir/my.ini:2: stop_words: wants 1 to 1023 bytes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_recipe recipe = nd_recipe_default(), before = recipe;
        struct nd_error err = {0};

        assert_int_equal(parse(&recipe, cases[i].text, &err), ND_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_memory_equal(&recipe, &before, sizeof recipe);
    }
}

static void an_assignment_names_its_signature(void **state)
{
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"simhsh.bits=32", "recipe: the recipe has no signature 'simhsh'; did you mean 'simhash'?"},
        {"other.bits=32", "recipe: the recipe has no signature 'other'"},
        {"simhash.bitz=32", "recipe: no key 'bitz'; did you mean 'bits'?"},
        {"bits=32", "recipe: 'bits' belongs in a section [signature NAME]; say NAME.bits"},
        {"simhash.threshold=1", "recipe: 'threshold' belongs in the section [decide]"},
    };
    struct nd_recipe recipe = parsed("[signature simhash]\n"), before = recipe;
    struct nd_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(nd_recipe_set(&recipe, cases[i].assignment, &err), ND_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_memory_equal(&recipe, &before, sizeof recipe);
    }
}

/* An assignment may come before the one that makes something read it; what is left is refused. */
static void what_nothing_reads_is_refused(void **state)
{
    struct nd_recipe recipe = parsed("[signature s]\n");
    struct nd_error err = {0};
    char *text = NULL;
    size_t len;

    (void)state;
    assert_int_equal(nd_recipe_set(&recipe, "s.minima=77", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_EINVAL);
    assert_string_equal(err.message,
                        "signature s: minima = 77 is read only where kind is minhash, bottom-k, "
                        "supershingles, sorted-shingles or megashingles (its default: 84)");
    assert_int_equal(nd_recipe_canonical(&recipe, &text, &len, NULL, NULL), ND_EINVAL);
    assert_int_equal(nd_recipe_set(&recipe, "s.kind=minhash", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_OK);
    assert_int_equal(nd_recipe_set(&recipe, "match=equal(s) >= 2", &err), ND_OK);
    assert_int_equal(nd_recipe_check(&recipe, &err), ND_EINVAL);
    assert_string_equal(err.message, "match = equal(s) >= 2 is read only where candidates is match "
                                     "(its default: )");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_names_place_key_and_nearest),
        cmocka_unit_test(an_assignment_names_its_signature),
        cmocka_unit_test(what_nothing_reads_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
