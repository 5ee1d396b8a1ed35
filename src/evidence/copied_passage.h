/* copied_passage.h - the passage of a text that was copied of a document of which shingles are left */
#ifndef ND_EVIDENCE_COPIED_PASSAGE_H
#define ND_EVIDENCE_COPIED_PASSAGE_H

#include <neardup/sketch_file.h>

#include "evidence/rows.h"

/*
 * Find the longest passage of a text whose shingles a record has, which may be the whole of a short
 * one.  *passage stays as it is where shingles are not of words, or none is there.  ND_EINVAL: the
 * text is not valid UTF-8; ND_ENOMEM.
 */
ND_API enum nd_status nd_copied_passage(const struct nd_recipe *recipe,
                                        const struct nd_sketch_row *row, struct nd_view text,
                                        struct nd_row_passage *passage, struct nd_error *err);

#endif
