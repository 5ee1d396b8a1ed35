/* names.c - what a document is called in the outputs */
#include "pipeline/names.h"

#include <neardup/terminal.h>

#include <string.h>

void nd_place_append(struct nd_json *out, const struct nd_source *source, uint64_t line)
{
    char number[1 + ND_UINT_TEXT] = ":";

    nd_json_bytes(out, source->path, strlen(source->path));
    if (source->entry) {
        nd_json_bytes(out, "!", 1);
        nd_json_bytes(out, source->entry, strlen(source->entry));
    }
    if (line)
        nd_json_bytes(out, number, 1 + nd_uint_text(line, number + 1));
}

struct nd_name nd_name_of(const struct nd_document *document, const struct nd_source *source,
                          uint64_t line, struct nd_json *room)
{
    if (document->id_kind != ND_ID_NONE)
        return (struct nd_name){document->id_kind, document->id};
    room->text.len = 0;
    nd_place_append(room, source, line);
    return (struct nd_name){ND_ID_STRING, {room->text.data, room->text.len}};
}

void nd_name_show(const struct nd_view name, char *out, size_t room)
{
    size_t len = name.len < room - 1 ? name.len : room - 1;

    for (size_t i = 0, n; i < len; i += n) {
        int is_control;

        n = nd_terminal_character(name.data + i, len - i, &is_control);
        if (is_control)
            memset(out + i, '?', n);
        else
            memcpy(out + i, name.data + i, n);
    }
    out[len] = '\0';
}

void nd_name_json(struct nd_json *out, const struct nd_name *name)
{
    if (name->kind == ND_ID_RAW)
        nd_json_raw(out, name->text);
    else
        nd_json_string(out, name->text);
}

void nd_name_tsv(struct nd_json *out, const struct nd_name *name)
{
    nd_tsv_field(out, name->text);
}
