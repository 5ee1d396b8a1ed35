/* featurer_fixture.h - a featurer of the parameters in hand, and its features as explained */
#ifndef FEATURER_FIXTURE_H
#define FEATURER_FIXTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/feature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

#include "text_units.h"

static struct nd_feature_params params; /* of the test in hand */
static struct nd_features made;

static inline int begin(void **state)
{
    (void)state;
    params = nd_feature_params_default();
    return 0;
}

static inline struct nd_featurer *featurer(void)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_error err = {.message = ""};
    struct nd_featurer *f = nd_featurer_new(&params, &weights, NULL, &err);

    if (!f)
        fail_msg("%s", err.message);
    return f;
}

/* The features of a text with ", " between them, as explained; and what counting says. */
static inline char *explained(const char *text)
{
    struct nd_featurer *f = featurer();
    struct nd_document document = {.text = {text, strlen(text)}};
    char *lines, *all;
    size_t len, n = 0;

    assert_int_equal(nd_featurer_explain(f, &document, &lines, &len, &made), ND_OK);
    all = calloc(1, 2 * len + 1);
    assert_non_null(all);
    for (size_t i = 0; i < len; i++) {
        if (lines[i] == '\n')
            all[n++] = ',';
        all[n++] = lines[i] == '\n' ? ' ' : lines[i];
    }
    free(lines);
    nd_featurer_free(f);
    made.items = NULL; /* it was borrowed */
    return all;
}

#define assert_features(text, expected)                                                            \
    do {                                                                                           \
        char *found_ = explained(text);                                                            \
        assert_string_equal(found_, expected);                                                     \
        free(found_);                                                                              \
    } while (0)

static inline void assert_refused(const char *message)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_error err = {.message = ""};

    assert_null(nd_featurer_new(&params, &weights, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, message));
    assert_null(nd_featurer_new(&params, &weights, NULL, NULL));
}

#endif
