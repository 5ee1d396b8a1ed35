/* hamming_file_folder.h - a folder for the index files of a test, and one of them opened */
#ifndef TESTS_HAMMING_FILE_FOLDER_H
#define TESTS_HAMMING_FILE_FOLDER_H

#include "hamming_file_fixture.h"

static char folder[] = "/tmp/test_hamming_file.XXXXXX";
static char path[64], other[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/index", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder);
}

static inline struct nd_hamming_file *open_index(void)
{
    struct nd_hamming_file *file;
    struct nd_error err;

    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        fail_msg("%s", err.message);
    return file;
}

#endif
