/* color.c - colours on a terminal, and nowhere else */
#include "color.h"
#include "base/system/descriptor.h"

#include <stdlib.h>
#include <string.h>

static enum color chosen;

void color_choose(enum color color)
{
    chosen = color;
}

/* https://no-color.org: any value that is not empty. */
bool color_is_on(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    if (chosen != COLOR_AUTO)
        return chosen == COLOR_ALWAYS;
    return !(no && *no) && nd_descriptor_is_terminal(nd_stream_descriptor(stream)) &&
           !(term && strcmp(term, "dumb") == 0);
}

const char *color_code(FILE *stream, enum hue hue)
{
    static const char *const code[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m"};

    return color_is_on(stream) ? code[hue] : "";
}
