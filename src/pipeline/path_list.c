/* path_list.c - a list of paths: a line each, or each ended by a NUL */
#include "pipeline/path_list.h"

#include <string.h>

/* Nothing that is written may go before it is returned: so these are no copies. */
static enum nd_status add_escaped(struct nd_output *out, const char *path, struct nd_error *err)
{
    static const char special[] = "\n\r\t\\", *const escape[] = {"\\n", "\\r", "\\t", "\\\\"};
    enum nd_status status = ND_OK;

    while (status == ND_OK && *path) {
        size_t plain = strcspn(path, special);

        status = nd_output_write(out, path, plain, err);
        path += plain;
        if (status == ND_OK && *path)
            status = nd_output_write(out, escape[strchr(special, *path) - special], 2, err);
        path += *path != 0;
    }
    return status;
}

enum nd_status nd_path_list_add(struct nd_output *out, const char *path, bool has_nuls,
                                struct nd_error *err)
{
    enum nd_status status = has_nuls || !strpbrk(path, "\r\n")
                                ? nd_output_write(out, path, strlen(path), err)
                                : add_escaped(out, path, err);

    return status == ND_OK ? nd_output_write(out, has_nuls ? "" : "\n", 1, err) : status;
}
