/* shipped_labs.h - the reproductions that the command has with it */
#ifndef CLI_SHIPPED_LABS_H
#define CLI_SHIPPED_LABS_H

#include <stddef.h>

struct shipped_lab {
    const char *name, *text;
};
extern const struct shipped_lab shipped_labs[];
extern const size_t n_shipped_labs;

#endif
