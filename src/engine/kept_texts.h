/* kept_texts.h - the texts of kept documents in the engine's own memory, where no source gives them */
#ifndef ND_ENGINE_KEPT_TEXTS_H
#define ND_ENGINE_KEPT_TEXTS_H

#include <neardup/dedup.h>

struct nd_texts;
struct nd_texts *nd_texts_new(void);
void nd_texts_free(struct nd_texts *texts);
struct nd_text_source nd_texts_source(struct nd_texts *texts);
/* The batch whose documents `keep` will be called for. */
void nd_texts_begin(struct nd_texts *texts, const struct nd_dedup_item *items);

#endif
