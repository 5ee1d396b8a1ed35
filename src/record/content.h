/* content.h - a text, and what signatures read of its document beside it, as one string of bytes
 *
 * For those who keep texts and sign them again: equal strings are signed alike.  Where a recipe reads
 * nothing beside the text, the string is the text (docs/format/store.md).
 */
#ifndef ND_RECORD_CONTENT_H
#define ND_RECORD_CONTENT_H

#include "base/memory.h"
#include "record/beside.h"

/* Append the content of a document to a buffer.  ND_ENOMEM. */
enum nd_status nd_content_pack(const struct nd_beside *beside, const struct nd_document *document,
                               struct nd_buffer *out, struct nd_error *err);

/* Find the text of a content.  False: these bytes cannot be right. */
bool nd_content_text(const struct nd_beside *beside, struct nd_view content, struct nd_view *text);

/*
 * Unpack a content: the document's text and fields point into it, its lists into the arena, the names
 * of fields into `beside`.  ND_EINVAL: these bytes cannot be right; ND_ENOMEM.
 */
enum nd_status nd_content_unpack(const struct nd_beside *beside, struct nd_view content,
                                 struct nd_arena *arena, struct nd_document *out,
                                 struct nd_error *err);

#endif
