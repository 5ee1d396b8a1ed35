/* color.h - colours on a terminal, and nowhere else */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <stdbool.h>
#include <stdio.h>

/* As --color says it. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum hue { HUE_PLAIN, HUE_BOLD, HUE_RED, HUE_GREEN, HUE_YELLOW };

/* From now on do as --color says; before, and by COLOR_AUTO, streams are coloured that are terminals,
 * unless the environment has NO_COLOR or a terminal that knows none. */
void color_choose(enum color color);

bool color_is_on(FILE *stream);

/* Return the code that begins a hue on the stream, HUE_PLAIN to end it; "" if it has no colours. */
const char *color_code(FILE *stream, enum hue hue);

#endif
