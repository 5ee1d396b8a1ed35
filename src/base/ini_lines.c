/* ini_lines.c - texts of [sections] and keys, line by line: recipes, tag sets */
#include "base/ini_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/system/descriptor.h"
#include "base/view.h"

struct nd_ini nd_ini_begin(const char *text, size_t len)
{
    size_t mark = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    return (struct nd_ini){.at = text + mark, .end = text + len};
}

/* Check for bytes that would make a message or a canonical text something else than one line. */
static bool has_control(struct nd_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (((unsigned char)line.data[i] < 0x20 && line.data[i] != '\t') || line.data[i] == 0x7f)
            return true;
    return false;
}

static enum nd_ini_kind mistake(struct nd_ini *ini, const char *what)
{
    ini->mistake = what;
    return ND_INI_MISTAKE;
}

enum nd_ini_kind nd_ini_read_line(struct nd_view line, struct nd_ini *ini)
{
    const char *end = line.data + line.len;
    const char *equal = line.len ? memchr(line.data, '=', line.len) : NULL;

    if (has_control(line))
        return mistake(ini, "a control character");
    if (line.len && *line.data == '[') {
        if (end[-1] != ']')
            return mistake(ini, "a section needs its closing ']'");
        ini->name = nd_view_trim(line.data + 1, end - 1);
        return ND_INI_SECTION;
    }
    if (!equal)
        return mistake(ini, "neither a [section] nor a 'key = value'");
    ini->name = nd_view_trim(line.data, equal);
    ini->value = nd_view_trim(equal + 1, end);
    return ND_INI_KEY;
}

enum nd_ini_kind nd_ini_next(struct nd_ini *ini)
{
    while (ini->at < ini->end) {
        const char *newline = memchr(ini->at, '\n', (size_t)(ini->end - ini->at));
        struct nd_view line = nd_view_trim(ini->at, newline ? newline : ini->end);

        ini->line++;
        ini->at = newline ? newline + 1 : ini->end;
        if (line.len && *line.data != '#' && *line.data != ';')
            return nd_ini_read_line(line, ini);
    }
    return ND_INI_END;
}

/* ---- Files -------------------------------------------------------------------------------------- */

static enum nd_status read_file(FILE *file, const char *path, const char *what, size_t most,
                                struct nd_buffer *text, struct nd_error *err)
{
    enum { STEP = 1 << 14 };
    size_t got = 1;

    while (got && text->len <= most) {
        if (!nd_buffer_reserve(text, text->len + STEP))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        errno = 0;
        got = fread(text->data + text->len, 1, STEP, file);
        text->len += got;
    }
    if (ferror(file))
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (text->len > most)
        return nd_fail(err, ND_EINVAL, "%s: %s has at most %zu bytes", path, what, most);
    return ND_OK;
}

enum nd_status nd_ini_load(const char *path, const char *what, size_t most, struct nd_buffer *text,
                           struct nd_error *err)
{
    FILE *file = nd_stream_open(path, "r");
    enum nd_status status;

    if (!file)
        return errno == ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory")
                               : nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    status = read_file(file, path, what, most, text, err);
    fclose(file);
    return status;
}
