/* fuzz_url.c - any bytes as an address: its canonical form is its own canonical form */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/canonical_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_url_room room = {.parameters = 0};
    struct nd_buffer once = {.len = 0}, twice = {.len = 0};
    char *exact = malloc(size ? size : 1);

    require(exact);
    if (size)
        memcpy(exact, data, size);
    require(nd_url_write_canonical(&room, (struct nd_view){exact, size}, &once));
    require(once.len <= 3 * size + 1);
    require(nd_url_write_canonical(&room, (struct nd_view){once.data, once.len}, &twice));
    require(once.len == twice.len && (!once.len || !memcmp(once.data, twice.data, once.len)));
    nd_url_room_release(&room);
    nd_buffer_release(&once);
    nd_buffer_release(&twice);
    free(exact);
    return 0;
}
