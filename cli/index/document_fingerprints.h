/* document_fingerprints.h - fingerprints that index makes of documents, by a recipe */
#ifndef CLI_DOCUMENT_FINGERPRINTS_H
#define CLI_DOCUMENT_FINGERPRINTS_H

#include "index/fingerprints.h"
#include "report.h"

/* The recipe by which documents were read. Starts from zeroes. */
struct document_source {
    char *text;
    struct nd_hamming_recipe recipe; /* len 0: no documents were read */
    /* NULL: all fingerprints are kept. Otherwise called each time that FINGERPRINTS_AT_ONCE have
     * come; those are then forgotten, and fewer are left at the end. False: an error was reported. */
    bool (*full)(void *context, const struct fingerprints *block);
    void *context;
};
void document_source_release(struct document_source *source);

/* Whether --recipe or an option that changes the recipe was given. */
bool recipe_is_given(const struct settings *s);

/*
 * Whether the files hold documents: a recipe was given or the index has one (`known`, len 0: none),
 * and the files are neither indexes nor, by --fingerprints, fingerprints.
 */
bool reads_documents(const struct settings *s, const struct nd_hamming_recipe *known,
                     const char *const *path, size_t n);

/*
 * Check the recipes of those files that are indexes: each must be that of `known`, whose name is
 * `name`; if `known` has none, all must have the same, which *known becomes. False: an error was
 * reported.
 */
bool check_recipes(struct nd_hamming_recipe *known, const char *name, const char *const *path,
                   size_t n);

/*
 * Check for options that apply to documents, where fingerprints are read. False: there is one,
 * which was reported.
 */
bool check_no_documents(const struct settings *s, bool uses_threads);

/*
 * Set the run's recipe to that of the index (len 0: there is none), unless --recipe was given, with
 * the table of --df. False: an error was reported.
 */
bool documents_recipe(struct settings *s, const struct nd_hamming_recipe *known, const char *name);

/*
 * Read documents and append their fingerprints with their ids. *h gets bits and distance from the
 * recipe unless they are determined otherwise. `index` (NULL: none yet) is the index that the
 * fingerprints are for, whose bits *h has; if `known` has a len, the recipe must be the same.
 * Returns 0; 2 after reporting an error; 3 if something was left out.
 */
int documents_read(struct fingerprints *out, const struct settings *s, struct hamming_settings *h,
                   const struct nd_hamming_recipe *known, const char *index,
                   const char *const *path, size_t n, struct document_source *source);

/* Read files whole for a command without an index: documents where a recipe is given, else as
 * fingerprints_read_files.  Returns as documents_read. */
int read_inputs(struct fingerprints *out, struct settings *s, struct hamming_settings *h,
                const char *const *path, size_t n, size_t *start);

#endif
