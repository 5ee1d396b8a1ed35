/* stemmer.c - the stem of a token: the one place that knows libstemmer */
#include "feature/word/stemmer.h"

#ifdef ND_WITH_STEMMER
#include <libstemmer.h>

#include <string.h>

struct nd_stemmer *nd_stemmer_new(const char *language, struct nd_error *err)
{
    const char **names = sb_stemmer_list();
    struct sb_stemmer *stemmer;
    size_t n = 0;

    for (; names[n]; n++)
        if (strcmp(names[n], language) == 0)
            break;
    if (!names[n]) {
        const char *near =
            nd_name_nearest(language, strlen(language), (const char *const *)names, n);

        nd_fail(err, ND_EINVAL, "stem = %s: Snowball has no such language%s%s%s", language,
                near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
        return NULL;
    }
    stemmer = sb_stemmer_new(language, "UTF_8");
    if (!stemmer)
        nd_fail(err, ND_ENOMEM, "out of memory");
    return (struct nd_stemmer *)stemmer;
}

void nd_stemmer_free(struct nd_stemmer *s)
{
    sb_stemmer_delete((struct sb_stemmer *)s);
}

/* A stem that would be empty, and a token that is too long for a word, is the token. */
struct nd_view nd_stemmer_run(struct nd_stemmer *s, struct nd_view form)
{
    struct sb_stemmer *stemmer = (struct sb_stemmer *)s;
    const sb_symbol *stem;
    int len;

    if (form.len > ND_STEM_MAX)
        return form;
    stem = sb_stemmer_stem(stemmer, (const sb_symbol *)form.data, (int)form.len);
    if (!stem)
        return (struct nd_view){NULL, 0};
    len = sb_stemmer_length(stemmer);
    return len > 0 ? (struct nd_view){(const char *)stem, (size_t)len} : form;
}

#else

struct nd_stemmer *nd_stemmer_new(const char *language, struct nd_error *err)
{
    nd_fail(err, ND_EUNSUPPORTED,
            "stem = %s: neardup was built without stemmers (NEARDUP_STEMMER=OFF)", language);
    return NULL;
}

void nd_stemmer_free(struct nd_stemmer *s)
{
    (void)s;
}

struct nd_view nd_stemmer_run(struct nd_stemmer *s, struct nd_view form)
{
    (void)s;
    return form;
}

#endif
