/* fuzz_detect.c - what bytes are taken for: not text, a table, cut data; and what is refused of
 * mail and pages before their parsers see it */
#include "fuzz_input.h"

#include "input/formats/detect.h"
#include "input/formats/mail.h"
#include "input/formats/page_guard.h"

/* A header that a table is known by has at least two columns in each of its rows. */
static void check_table(const char *bytes, size_t size)
{
    enum nd_format whole = nd_detect_any_table(bytes, size, true);

    require(whole == ND_FORMAT_AUTO || whole == ND_FORMAT_CSV || whole == ND_FORMAT_TSV);
    require(whole == ND_FORMAT_AUTO ||
            memchr(bytes, whole == ND_FORMAT_CSV ? ',' : '\t', size) != NULL);
    require(whole == ND_FORMAT_AUTO || memchr(bytes, '\n', size) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = calloc(1, size ? size : 1); /* of its very size: reading beyond it is seen */
    const char *bytes = copy;
    const struct nd_binary_kind *kind;
    const char *reason = NULL;
    int status;

    require(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    kind = nd_detect_binary(bytes, size);
    require(!kind || (kind->what[0] && size >= 2));
    kind = nd_detect_office_zip(bytes, size);
    require(!kind || size > 30);
    require(!nd_detect_cut_compression(bytes, size) || size < 10);
    require(!nd_detect_cut_compression(bytes, size) || !nd_detect_compression(bytes, size));
    check_table(bytes, size);
    status = nd_mail_check((struct nd_view){bytes, size}, &reason);
    require(status >= 0 && (status == 1) == (reason == NULL));
    (void)nd_page_has_crowded_element((struct nd_view){bytes, size});
    free(copy);
    return 0;
}
