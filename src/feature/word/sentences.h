/* sentences.h - where sentences end (docs/format/features.md, "Sentences") */
#ifndef ND_FEATURE_WORD_SENTENCES_H
#define ND_FEATURE_WORD_SENTENCES_H

#include <neardup/error.h>

#include <stddef.h>

/*
 * The end of the sentence that begins at `from` < len, with the white space after it.  A text may
 * be normalised and tokenised sentence by sentence: no code point that a sentence ends with
 * composes with what follows.
 */
ND_API size_t nd_sentence_end(const char *text, size_t len, size_t from);

#endif
