/* program.c - where this program lies, and the Python package that was installed with it */
#include "program.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/system/process.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool program_folder(char path[PROGRAM_PATH])
{
    size_t len;

    if (!nd_process_path(path, PROGRAM_PATH))
        return false;
    len = (size_t)(nd_path_name(path) - path);
    if (len)
        path[len - 1] = '\0';
    return len > 0;
}

/* ---- Which inputs are tables ------------------------------------------------------------------ */

/* The kind of a file, by the end of its name. */
enum name_kind { OTHER, LINES, TABLE };

/* The endings are those that the package knows (python/src/neardup/_sources.py). */
static enum name_kind kind_of_name(const char *path)
{
    static const char *const tables[] = {".parquet", ".parq", ".arrow", ".feather", ".ipc"};
    static const char *const lines[] = {".jsonl", ".ndjson", ".csv", ".tsv"};
    const char *end = strrchr(path, '.');

    for (size_t i = 0; end && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(end, tables[i]) == 0)
            return TABLE;
    for (size_t i = 0; end && i < sizeof lines / sizeof *lines; i++)
        if (strcmp(end, lines[i]) == 0)
            return LINES;
    return OTHER;
}

static bool is_folder(const char *path)
{
    struct nd_file_about about;

    return nd_path_about(path, &about) && about.kind == ND_FILE_FOLDER;
}

/* Whether all files below a folder are tables, but for those that data sets leave out. */
static bool has_only_tables(const char *folder, unsigned depth, bool *has_any)
{
    struct nd_folder_list *open = depth ? nd_folder_list_open(folder) : NULL;
    const char *entry;
    bool so_far = open != NULL;

    while (so_far && (entry = nd_folder_list_next(open)) != NULL) {
        char path[PROGRAM_PATH];

        if (entry[0] == '.' || entry[0] == '_')
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry) >= (int)sizeof path)
            so_far = false;
        else if (is_folder(path))
            so_far = has_only_tables(path, depth - 1, has_any);
        else if (kind_of_name(path) == TABLE)
            *has_any = true;
        else
            so_far = false;
    }
    if (open)
        nd_folder_list_close(open);
    return so_far;
}

bool reads_tables(const struct settings *s)
{
    enum { DEPTH = 64 };
    bool has_any = false;

    for (size_t i = 0; i < s->paths.count; i++) {
        const char *path = s->paths.at[i];

        if (is_folder(path)) {
            if (!has_only_tables(path, DEPTH, &has_any))
                return false;
        } else if (kind_of_name(path) == OTHER) {
            return false;
        } else if (kind_of_name(path) == TABLE) {
            has_any = true;
        }
    }
    return has_any;
}

/* ---- The package ------------------------------------------------------------------------------ */

/* Find "python3.N" in a folder such as lib or lib64, if our package is installed for it. */
static bool find_version(const char *folder, char *name, size_t room)
{
    struct nd_folder_list *open = nd_folder_list_open(folder);
    const char *entry;
    bool found = false;

    while (open && !found && (entry = nd_folder_list_next(open)) != NULL) {
        static const char *const kinds[] = {"site-packages", "dist-packages"};

        for (size_t i = 0; !found && i < sizeof kinds / sizeof *kinds; i++) {
            char path[PROGRAM_PATH];
            int n =
                snprintf(path, sizeof path, "%s/%s/%s/neardup/_tables.py", folder, entry, kinds[i]);

            found = strncmp(entry, "python3", 7) == 0 && n > 0 && n < (int)sizeof path &&
                    nd_path_is_readable(path);
            if (found && snprintf(name, room, "%s", entry) >= (int)room)
                found = false;
        }
    }
    if (open)
        nd_folder_list_close(open);
    return found;
}

/* Fill in the interpreter whose package this command came with.  False: there is none. */
static bool find_python(char python[PROGRAM_PATH])
{
    const char *given = getenv("NEARDUP_PYTHON"); /* set by python -m neardup */
    char bin[PROGRAM_PATH - 64], path[PROGRAM_PATH], name[64];
    static const char *const libraries[] = {"lib", "lib64"};

    if (given && *given)
        return snprintf(python, PROGRAM_PATH, "%s", given) < PROGRAM_PATH;
    if (!program_folder(path) || snprintf(bin, sizeof bin, "%s", path) >= (int)sizeof bin)
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        (void)snprintf(path, sizeof path, "%s/../%s", bin, libraries[i]);
        if (!find_version(path, name, sizeof name))
            continue;
        if (snprintf(python, PROGRAM_PATH, "%s/%s", bin, name) < PROGRAM_PATH &&
            nd_path_is_program(python))
            return true;
        return snprintf(python, PROGRAM_PATH, "%s", name) < PROGRAM_PATH; /* one of PATH */
    }
    return false;
}

/* Add the given options in their long form, and the paths.  False: out of memory. */
static bool add_given(const struct settings *s, struct words *word)
{
    for (size_t i = 0; i < s->given.count; i++) {
        const char *value = s->given_values.at[i];
        char *text = NULL;

        if (nd_print_new(&text, "--%s%s%s", s->given.at[i], value ? "=" : "", value ? value : "") <
                0 ||
            !words_take(word, text))
            return false;
    }
    if (!words_add(word, "--"))
        return false;
    for (size_t i = 0; i < s->paths.count; i++)
        if (!words_add(word, s->paths.at[i]))
            return false;
    return words_add(word, NULL);
}

void run_in_python(const struct settings *s)
{
    static const char *const first[] = {NULL, "-P", "-m", "neardup._tables"};
    char python[PROGRAM_PATH];
    struct words word = {.at = NULL};
    bool is_ready = find_python(python);

    if (!is_ready)
        return;
    for (size_t i = 0; is_ready && i < sizeof first / sizeof *first; i++)
        is_ready = words_add(&word, i ? first[i] : python);
    is_ready = is_ready && add_given(s, &word);
    if (is_ready) {
        nd_process_become(python, (char **)(uintptr_t)word.at);
        say("%s: cannot be run: %s", python, strerror(errno));
    }
    /* The texts of options stay: the process ends soon. */
    free(word.at);
}
