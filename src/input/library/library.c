/* library.c - other people's libraries: how one is opened when it is first needed, and each one */

/*
 * Optional libraries are opened when an input first needs them, so that neardup starts
 * without them and says which one is missing. The functions of a library are found by name and
 * stored in a struct of pointers, whose types the compiler checks against the library's own
 * headers.
 */
#include "input/library/library.h"

#include <neardup/input.h>

#include "base/system/process.h"
#include "base/thread/pool.h"
#include "input/library/codecs_load.h"
#include "input/library/libarchive_load.h"
#include "input/library/libxml_load.h"

#ifdef ND_WITH_GMIME
#include "input/library/mail_gmime_load.h"
#endif
#ifdef ND_WITH_BROTLI
#include "input/library/brotli_load.h"
#endif

#ifdef ND_CARRIED
#define ND_ZSTD_SONAME NULL
#define ND_ZLIB_SONAME NULL
#define CARRIED(function) ((void (*)(void))(function))
#else
#define CARRIED(function) NULL
#endif
#ifdef ND_OPENS_NONE
#define ND_LZMA_SONAME NULL
#define ND_BZ2_SONAME NULL
#define ND_LIBARCHIVE_SONAME NULL
#define ND_LIBXML_SONAME NULL
#define IF_OPENED(packages) NULL
#else
#define IF_OPENED(packages) (packages)
#endif
#ifdef ND_WITH_GMIME
#define IF_GMIME(packages) (packages)
#else
#define IF_GMIME(packages) NULL
#endif
#ifdef ND_WITH_BROTLI
#define IF_BROTLI(packages) (packages)
#else
#define IF_BROTLI(packages) NULL
#endif
#include <stdio.h>
#include <string.h>

/* ---- The libraries, and the packages that bring them ---- */

enum { LIBARCHIVE, LIBXML, GMIME, BROTLI, ZLIB, ZSTD, LZMA, BZ2, N_LIBRARIES };

#define PACKAGES(debian, fedora) "Debian: " debian ", Fedora: " fedora
static const struct nd_library_row rows[N_LIBRARIES] = {
    [LIBARCHIVE] = {"libarchive", IF_OPENED(PACKAGES("libarchive13", "libarchive")),
                    "tar and zip archives, .lz4"},
    [LIBXML] = {"libxml2", IF_OPENED(PACKAGES("libxml2", "libxml2")), "pages of HTML"},
    [GMIME] = {"GMime", IF_GMIME(PACKAGES("libgmime-3.0-0", "gmime30")), "mail"},
    [BROTLI] = {"libbrotlidec", IF_BROTLI(PACKAGES("libbrotli1", "libbrotli")),
                "bodies in web archives"},
    [ZLIB] = {"zlib", PACKAGES("zlib1g", "zlib"), "writing .gz"},
    [ZSTD] = {"libzstd", PACKAGES("libzstd1", "libzstd"), ".zst"},
    [LZMA] = {"liblzma", IF_OPENED(PACKAGES("liblzma5", "xz-libs")), ".xz"},
    [BZ2] = {"libbz2", IF_OPENED(PACKAGES("libbz2-1.0", "bzip2-libs")), ".bz2"},
};
#undef PACKAGES

/* ---- Somebody else's library, opened when it is first needed ---- */

/* False: the library, of which handle is NULL if it is a part of the program, lacks a function. */
static bool find_symbols(const struct nd_library *library, void *handle)
{
    for (size_t i = 0; i < library->n_symbols; i++) {
        const struct nd_symbol *symbol = &library->symbols[i];
        void *found;

        /*
         * POSIX guarantees that a function's address fits in a data pointer; ISO C has no
         * conversion.
         */
        memcpy(&found, &symbol->linked, sizeof found);
        if (!found && handle)
            found = nd_library_function(handle, symbol->name);
        if (!found)
            return false;
        memcpy(symbol->pointer, &found, sizeof found);
    }
    return true;
}

static void load(void *context)
{
    struct nd_library *library = context;
    const struct nd_library_row *row = library->row;
    void *handle = library->file ? nd_library_load(library->file) : NULL;
    bool is_whole = (handle || !library->file) && find_symbols(library, handle);

    if (!is_whole && library->file)
        (void)snprintf(library->missing, sizeof library->missing, "%swithout %s (%s): %s",
                       library->cannot, row->name, row->packages, nd_library_why());
    else if (!is_whole)
        (void)snprintf(library->missing, sizeof library->missing,
                       "%swithout %s, which this build of neardup has not", library->cannot,
                       row->name);
    else if (library->make_ready)
        library->make_ready();
}

const char *nd_library_open(struct nd_library *library)
{
    nd_once(&library->is_asked, load, library);
    return *library->missing ? library->missing : NULL;
}

/* ---- Opens libzstd, liblzma, libbz2 and zlib when they are first needed ---- */

struct nd_codecs nd_codecs;

const char *nd_zstd_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"ZSTD_createDStream", &nd_codecs.zstd_new, CARRIED(ZSTD_createDStream)},
        {"ZSTD_freeDStream", &nd_codecs.zstd_free, CARRIED(ZSTD_freeDStream)},
        {"ZSTD_initDStream", &nd_codecs.zstd_init, CARRIED(ZSTD_initDStream)},
        {"ZSTD_decompressStream", &nd_codecs.zstd_decode, CARRIED(ZSTD_decompressStream)},
        {"ZSTD_isError", &nd_codecs.zstd_is_error, CARRIED(ZSTD_isError)},
        {"ZSTD_getErrorName", &nd_codecs.zstd_error_name, CARRIED(ZSTD_getErrorName)},
        {"ZSTD_getFrameContentSize", &nd_codecs.zstd_content_size,
         CARRIED(ZSTD_getFrameContentSize)},
        {"ZSTD_findFrameCompressedSize", &nd_codecs.zstd_frame_size,
         CARRIED(ZSTD_findFrameCompressedSize)},
        {"ZSTD_createCCtx", &nd_codecs.zstd_writer_new, CARRIED(ZSTD_createCCtx)},
        {"ZSTD_freeCCtx", &nd_codecs.zstd_writer_free, CARRIED(ZSTD_freeCCtx)},
        {"ZSTD_CCtx_setParameter", &nd_codecs.zstd_set, CARRIED(ZSTD_CCtx_setParameter)},
        {"ZSTD_compressStream2", &nd_codecs.zstd_encode, CARRIED(ZSTD_compressStream2)},
    };
    static struct nd_library zstd = {.file = ND_ZSTD_SONAME,
                                     .row = &rows[ZSTD],
                                     .cannot = "",
                                     .symbols = symbols,
                                     .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&zstd);
}

const char *nd_lzma_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"lzma_stream_decoder", &nd_codecs.lzma_init, NULL},
        {"lzma_code", &nd_codecs.lzma_code, NULL},
        {"lzma_end", &nd_codecs.lzma_end, NULL},
        {"lzma_lzma_preset", &nd_codecs.lzma_preset, NULL},
        {"lzma_stream_encoder_mt", &nd_codecs.lzma_writer_init, NULL},
    };
    static struct nd_library lzma = {.file = ND_LZMA_SONAME,
                                     .row = &rows[LZMA],
                                     .cannot = "",
                                     .symbols = symbols,
                                     .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&lzma);
}

const char *nd_bz2_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"BZ2_bzDecompressInit", &nd_codecs.bz2_init, NULL},
        {"BZ2_bzDecompress", &nd_codecs.bz2_decode, NULL},
        {"BZ2_bzDecompressEnd", &nd_codecs.bz2_end, NULL},
        {"BZ2_bzBuffToBuffCompress", &nd_codecs.bz2_encode, NULL},
    };
    static struct nd_library bz2 = {.file = ND_BZ2_SONAME,
                                    .row = &rows[BZ2],
                                    .cannot = "",
                                    .symbols = symbols,
                                    .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&bz2);
}

const char *nd_zlib_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"deflateInit2_", &nd_codecs.deflate_init, CARRIED(deflateInit2_)},
        {"deflateReset", &nd_codecs.deflate_reset, CARRIED(deflateReset)},
        {"deflateSetDictionary", &nd_codecs.deflate_follow, CARRIED(deflateSetDictionary)},
        {"deflateBound", &nd_codecs.deflate_bound, CARRIED(deflateBound)},
        {"deflate", &nd_codecs.deflate, CARRIED(deflate)},
        {"deflateEnd", &nd_codecs.deflate_end, CARRIED(deflateEnd)},
    };
    static struct nd_library zlib = {.file = ND_ZLIB_SONAME,
                                     .row = &rows[ZLIB],
                                     .cannot = "",
                                     .symbols = symbols,
                                     .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&zlib);
}

/* ---- Opens libarchive when it is first needed, and finds its functions ---- */

struct nd_libarchive nd_libarchive;

const char *nd_libarchive_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {"archive_" #name, &nd_libarchive.name, NULL},
        {"archive_errno", &nd_libarchive.error_number, NULL}, ND_LIBARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library libarchive = {
        .file = ND_LIBARCHIVE_SONAME,
        .row = &rows[LIBARCHIVE],
        .cannot = "",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
    };

    return nd_library_open(&libarchive);
}

/* ---- Opens libxml2 for the first page or mail, and finds its functions ---- */

struct nd_libxml nd_libxml;

/*
 * Otherwise libxml2 would do this at the first page; two threads that do it at the same time may
 * deadlock.
 */
static void start_libxml(void)
{
    nd_libxml.xmlInitParser();
}

const char *nd_libxml_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {#name, &nd_libxml.name, NULL},
        ND_LIBXML_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library libxml = {
        .file = ND_LIBXML_SONAME,
        .row = &rows[LIBXML],
        .cannot = "HTML cannot be read ",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
        .make_ready = start_libxml,
    };

    return nd_library_open(&libxml);
}

/* ---- Opens GMime when the first mail is met, and finds its functions ---- */

#ifdef ND_WITH_GMIME

struct nd_gmime nd_gmime;

static void start_gmime(void)
{
    nd_gmime.mime_init();
}

const char *nd_gmime_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {"g_" #name, &nd_gmime.name, NULL},
        {"gmime_major_version", &nd_gmime.version[0], NULL},
        {"gmime_minor_version", &nd_gmime.version[1], NULL},
        {"gmime_micro_version", &nd_gmime.version[2], NULL},
        ND_GMIME_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library gmime = {
        .file = ND_GMIME_SONAME,
        .row = &rows[GMIME],
        .cannot = "mail cannot be read ",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
        .make_ready = start_gmime,
    };

    return nd_library_open(&gmime);
}
#else
static const char *nd_gmime_load(void)
{
    return "neardup was built without GMime";
}
#endif

/* ---- Opens libbrotlidec for the first body that is compressed by it ---- */

#ifdef ND_WITH_BROTLI

struct nd_brotli nd_brotli;

const char *nd_brotli_load(void)
{
    static const struct nd_symbol symbols[] = {
        {"BrotliDecoderCreateInstance", &nd_brotli.start, NULL},
        {"BrotliDecoderDecompressStream", &nd_brotli.decode, NULL},
        {"BrotliDecoderDestroyInstance", &nd_brotli.stop, NULL},
    };
    static struct nd_library brotli = {.file = ND_BROTLI_SONAME,
                                       .row = &rows[BROTLI],
                                       .cannot = "brotli cannot be read ",
                                       .symbols = symbols,
                                       .n_symbols = sizeof symbols / sizeof *symbols};

    return nd_library_open(&brotli);
}
#else
static const char *nd_brotli_load(void)
{
    return "neardup was built without brotli";
}
#endif

/* ---- All of them ---- */

int nd_input_library(size_t i, struct nd_input_library *row)
{
    static const char *(*const load[N_LIBRARIES])(void) = {
        [LIBARCHIVE] = nd_libarchive_load,
        [LIBXML] = nd_libxml_load,
        [GMIME] = nd_gmime_load,
        [BROTLI] = nd_brotli_load,
        [ZLIB] = nd_zlib_load,
        [ZSTD] = nd_zstd_load,
        [LZMA] = nd_lzma_load,
        [BZ2] = nd_bz2_load,
    };

    if (i >= N_LIBRARIES)
        return 0;
    *row = (struct nd_input_library){rows[i].name, rows[i].packages, rows[i].serves, load[i]()};
    return 1;
}
