/* cmd_doctor.c - neardup doctor: what this installation can do, and what it lacks */
#include "base/system/threads.h"
#include "settings.h"

#include <neardup/cpu.h>
#include <neardup/recipe.h>
#include <neardup/version.h>

#include <stdio.h>

/* Print a row: a subject, its state, and what that means. */
static void print_row(const char *subject, const char *state, const char *meaning)
{
    printf("%s\t%s\t%s\n", subject, state, meaning);
}

static void print_number(const char *subject, long number, const char *meaning)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%ld", number);
    print_row(subject, text, meaning);
}

/* Print whether the library is there.  False: a package would bring it. */
static bool print_library(const struct nd_input_library *library)
{
    char meaning[600];

    if (library->missing && !library->package) {
        (void)snprintf(meaning, sizeof meaning, "%s: this build of neardup does without",
                       library->serves);
        print_row(library->name, "left out", meaning);
        return true;
    }
    if (library->missing)
        (void)snprintf(meaning, sizeof meaning, "%s: %s", library->serves, library->missing);
    print_row(library->name, library->missing ? "missing" : "found",
              library->missing ? meaning : library->serves);
    return !library->missing;
}

/* The programs of ready-made filters: each is only for one kind of file, and missed by none else. */
static void print_filters(void)
{
    struct nd_input_filter filter;
    char meaning[300];

    for (size_t i = 0; nd_input_filter(i, &filter); i++) {
        (void)snprintf(meaning, sizeof meaning, "--filter %s, for %s: %s%s%s", filter.name,
                       filter.kind, filter.command,
                       filter.is_installed ? "" : "; Debian's package ",
                       filter.is_installed ? "" : filter.package);
        print_row(filter.program, filter.is_installed ? "found" : "absent", meaning);
    }
}

/* Print whether the commands of the service are there.  False: a package would bring them. */
static bool print_service(void)
{
    bool has_service = find_server();

#ifdef ND_WITHOUT_PROGRAMS
    if (!has_service) {
        print_row("service", "left out", "serve, store, client: not on " ND_WITHOUT_PROGRAMS);
        return true;
    }
#endif
    print_row("service", has_service ? "found" : "missing",
              has_service ? "serve, store, client"
                          : "serve, store, client: Debian's package neardup-server brings them");
    return has_service;
}

int cmd_doctor(struct settings *s)
{
    bool has_all = true;
    struct nd_input_library library;
    long recipes = 0;

    if (s->paths.count) {
        say("doctor takes no files; see neardup help doctor");
        return 2;
    }
    while (nd_recipe_name((size_t)recipes))
        recipes++;
    print_row("neardup", ND_VERSION, "the version");
    print_row("kernels", nd_cpu_name(), "the instructions used on this processor");
    print_number("processors", (long)nd_processors(), "as many threads are used by default");
    print_number("recipes", recipes, "shipped methods: neardup recipe list");
    has_all &= print_service();
    for (size_t i = 0; nd_input_library(i, &library); i++)
        has_all &= print_library(&library);
    print_filters();
    return has_all ? 0 : 1;
}
