/* test_binary.c - what is not text is told from what is, and is not read */
#include "input_fixture.h"

#include "input/formats/detect.h"

#define KNOWN(bytes, what) check_known(bytes, sizeof bytes - 1, what)

static void check_known(const char *bytes, size_t len, const char *what)
{
    const struct nd_binary_kind *kind = nd_detect_binary(bytes, len);

    assert_non_null(kind);
    assert_string_equal(kind->what, what);
}

static void kinds_are_known_by_their_first_bytes(void **state)
{
    (void)state;
    KNOWN("PAR1\x15\x04\x15\x10", "is a Parquet file");
    KNOWN("PAR1 and so on PAR1", "is a Parquet file");
    KNOWN("%PDF-1.4\n%\xE2\xE3\xCF\xD3\n", "is a PDF file");
    KNOWN("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "is an Office file");
    KNOWN("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", "is a PNG image");
    KNOWN("\xFF\xD8\xFF\xE0\0\x10JFIF", "is a JPEG image");
    KNOWN("GIF89a\x01\0\x01\0", "is a GIF image");
    KNOWN("RIFF\x24\0\0\0WEBPVP8 ", "is a WebP image");
    KNOWN("RIFF\x24\0\0\0WAVEfmt ", "is a sound file (WAV)");
    KNOWN("\0\0\0\x18"
          "ftypmp42",
          "is a film or an image (ISO media)");
    KNOWN("\0\1\0\0\0\x0C", "is a font (TrueType)");
    KNOWN("wOFFOTTO", "is a font (WOFF)");
    KNOWN("\177ELF\2\1\1", "is an executable (ELF)");
    KNOWN("MZ\x90\0\x03\0", "is an executable (Windows)");
    KNOWN("SQLite format 3\0\x10", "is an SQLite database");
    KNOWN("7z\xBC\xAF\x27\x1C\0", "is a 7z archive");
}

/* Each begins like a file of some other kind. */
static void texts_are_not_taken_for_them(void **state)
{
    static const char *const texts[] = {
        "",
        "PAR1 is the first paragraph.\n",
        "WARC/1.0 is the version that crawlers write.\n",
        "GIF89a is a format of images\n",
        "MZ stands for Mark Zbikowski\n",
        "BM 10000 was signed today\n",
        "RIFF, which stands for WEBP and WAVE\n",
        "The %PDF- mark\n",
        "ID3 tags\n",
        "dex\n035\n",
        "Rar! said the lion\n",
        "{\"text\":\"PAR1\"}\n",
        "\xEF\xBB\xBFtext\n",
        "\xFF\xFEt\0e\0",
        "\xFE\xFF\0t\0e",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t len = i >= 13 ? 6 : strlen(texts[i]);

        assert_null(nd_detect_binary(texts[i], len));
    }
}

static void office_files_are_told_from_other_zips(void **state)
{
    static const char header[30] = "PK\3\4";
    char bytes[120] = {0};

    (void)state;
    memcpy(bytes, header, sizeof header);
    strcpy(bytes + 30, "[Content_Types].xml");
    assert_string_equal(nd_detect_office_zip(bytes, sizeof bytes)->what, "is an Office file");
    strcpy(bytes + 30, "mimetypeapplication/vnd.oasis.opendocument.text");
    assert_string_equal(nd_detect_office_zip(bytes, sizeof bytes)->what, "is an OpenDocument file");
    strcpy(bytes + 30, "mimetypeapplication/epub+zip");
    assert_string_equal(nd_detect_office_zip(bytes, sizeof bytes)->what, "is an EPUB book");
    strcpy(bytes + 30, "words.txt");
    assert_null(nd_detect_office_zip(bytes, sizeof bytes));
    assert_null(nd_detect_office_zip(bytes, 20));
}

static void a_nul_counts_within_the_first_8_kib(void **state)
{
    static char bytes[10000];

    (void)state;
    memset(bytes, 'a', sizeof bytes);
    assert_null(nd_detect_early_nul(bytes, sizeof bytes));
    bytes[8192] = 0;
    assert_null(nd_detect_early_nul(bytes, sizeof bytes));
    bytes[8191] = 0;
    assert_non_null(nd_detect_early_nul(bytes, sizeof bytes));
    assert_null(nd_detect_early_nul(bytes, 8191));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_known_by_their_first_bytes),
        cmocka_unit_test(texts_are_not_taken_for_them),
        cmocka_unit_test(office_files_are_told_from_other_zips),
        cmocka_unit_test(a_nul_counts_within_the_first_8_kib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
