/* marks.h - how far each word of a document is marked by tags and links (000 s. 5.4; 002 s. 5.3c)
 */
#ifndef ND_FEATURE_MARKS_H
#define ND_FEATURE_MARKS_H

#include <neardup/types.h>

#include <stddef.h>
#include <stdint.h>

/*
 * mark[i] for each token, given with its place in the document's text, in order: ND_MARK_FULL
 * inside markup and inside the anchors of links, falling in a straight line to 0 over the
 * `window` words on either side of an anchor; window 0: anchors count for nothing.  The greatest
 * where several apply: marked once, however deep (000 s. 5.4).
 */
void nd_marks_fill(const struct nd_document *document, unsigned window,
                   const struct nd_token *token, size_t n, uint16_t *mark);

#endif
