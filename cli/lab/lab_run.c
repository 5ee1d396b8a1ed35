/* lab_run.c - the steps of a reproduction, each a process of its own, and the numbers they give */

/*
 * A step is this program with other arguments. Its standard output goes to a file with its name, in a
 * folder that is removed at the end. While a step runs, a signal that would end this process is
 * passed on to the step, and obeyed when the folder has gone.
 */
#define _GNU_SOURCE
#include "lab/lab_run.h"
#include "lab/lab_table.h"
#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 128 };

struct stepping {
    struct lab_run *run;
    const struct lab_places *places;
    char *folder;
};

static void conclude(struct lab_outcome *o, enum lab_state state, const char *reason,
                     const char *what)
{
    o->state = state;
    if (asprintf(&o->reason, "%s%s", reason, what) < 0)
        o->reason = NULL;
}

/* ---- The words of a command ------------------------------------------------------------------ */

/* The next word, in which '…' may have spaces. NULL: there is none, or out of memory. */
static char *take_word(const char **at)
{
    const char *c = *at + strspn(*at, " \t");
    char *word = *c ? malloc(strlen(c) + 1) : NULL;
    size_t len = 0;
    bool quoted = false;

    for (; word && *c && (quoted || (*c != ' ' && *c != '\t')); c++) {
        if (*c == '\'')
            quoted = !quoted;
        else
            word[len++] = *c;
    }
    if (word)
        word[len] = '\0';
    *at = c;
    return word;
}

static size_t find_part(const struct lab *lab, const char *name, size_t len)
{
    size_t i = 0;

    while (i < lab->n_parts &&
           (strlen(lab->part[i].name) != len || strncmp(lab->part[i].name, name, len) != 0))
        i++;
    return i;
}

/* Return an allocated copy of the value of {NAME}, or NULL. *part: the step or file; n_parts: none. */
static char *value_of(const struct stepping *s, const char *name, size_t len, size_t *part)
{
    const struct lab *lab = s->run->lab;
    char *value = NULL;

    *part = find_part(lab, name, len);
    if (len == 7 && strncmp(name, "corpora", len) == 0)
        return strdup(s->places->corpora ? s->places->corpora : "CORPORA");
    if (len == 8 && strncmp(name, "packages", len) == 0)
        return strdup(s->places->packages ? s->places->packages : "");
    if (len == 3 && strncmp(name, "out", len) == 0)
        return strdup(s->folder);
    if (*part == lab->n_parts || asprintf(&value, "%s/%s", s->folder, lab->part[*part].name) < 0)
        return NULL;
    return value;
}

/* The first step that names this file of {out} and was not run, or a later one; n_parts: none. */
static size_t find_maker(const struct lab_run *run, const char *file)
{
    size_t i = 0;

    while (i < run->lab->n_parts && (!run->lab->part[i].run || run->part[i].state == LAB_DONE ||
                                     !strstr(run->lab->part[i].run, file)))
        i++;
    return i;
}

/* Replace each {NAME}. False: the step cannot run, as *o says. */
static bool expand(const struct stepping *s, char **word, struct lab_outcome *o)
{
    const bool is_corpus = strncmp(*word, "{corpora}/", 10) == 0,
               is_input = is_corpus || strncmp(*word, "{packages}/", 11) == 0;
    const size_t maker =
        strncmp(*word, "{out}/", 6) == 0 ? find_maker(s->run, *word) : s->run->lab->n_parts;

    if (maker < s->run->lab->n_parts) {
        conclude(o, LAB_SKIPPED, "needs what was not run: ", s->run->lab->part[maker].name);
        return false;
    }
    for (char *open = *word; (open = strchr(open, '{'));) {
        const size_t len = strcspn(open + 1, "}");
        size_t part, before = (size_t)(open - *word);
        char *value = open[1 + len] ? value_of(s, open + 1, len, &part) : NULL, *joined = NULL;

        if (!value) {
            open++;
            continue;
        }
        if (part < s->run->lab->n_parts && s->run->part[part].state != LAB_DONE) {
            conclude(o, LAB_SKIPPED, "needs what was not run: ", s->run->lab->part[part].name);
            free(value);
            return false;
        }
        if (asprintf(&joined, "%.*s%s%s", (int)before, *word, value, open + len + 2) < 0)
            joined = NULL;
        open = joined ? joined + before + strlen(value) : NULL;
        free(value);
        free(*word);
        *word = joined;
        if (!joined) {
            conclude(o, LAB_FAILED, "out of memory", "");
            return false;
        }
    }
    if (!is_input || access(*word, R_OK) == 0)
        return true;
    if (is_corpus && !s->places->corpora)
        conclude(o, LAB_SKIPPED, "needs --corpora DIR with ", *word + strlen("CORPORA/"));
    else
        conclude(o, LAB_SKIPPED, "is not there: ", *word);
    return false;
}

static bool split_command(const struct stepping *s, const char *text, char *word[WORDS],
                          struct lab_outcome *o)
{
    size_t n = 1;

    while (n + 1 < WORDS && (word[n] = take_word(&text)))
        if (!expand(s, &word[n++], o))
            return false;
    if (n + 1 < WORDS)
        return true;
    conclude(o, LAB_FAILED, "the command has too many words", "");
    return false;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by; /* a signal; 0: none */
static volatile pid_t child;

static void pass_on(int number)
{
    stopped_by = number;
    if (child > 0)
        (void)kill(child, number);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void listen_to(struct sigaction old[SIGNALS])
{
    struct sigaction action = {.sa_handler = pass_on};

    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

static void listen_no_more(const struct sigaction old[SIGNALS])
{
    for (unsigned i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &old[i], NULL);
}

/* Start it with its output in files; false: errno says why not. */
static bool start(char *const *word, const char *out, const char *errors)
{
    posix_spawn_file_actions_t files;
    pid_t started;
    int failed;

    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!failed)
        failed = posix_spawn(&started, "/proc/self/exe", &files, NULL, word, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    if (!failed)
        child = started;
    errno = failed;
    return !failed;
}

/* The status of the child when it ends; -1: a signal ended it. */
static int await(void)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Say what the step said last. */
static void tell_failure(struct lab_outcome *o, const char *errors)
{
    FILE *file = fopen(errors, "r");
    char line[400] = "", last[400] = "it failed without a word";

    while (file && fgets(line, sizeof line, file))
        if (!strstr(line, "nothing was published"))
            memcpy(last, line, sizeof last);
    if (file)
        fclose(file);
    last[strcspn(last, "\n")] = '\0';
    conclude(o, LAB_FAILED, "", last);
}

static void run_step(const struct stepping *s, char **word, const char *out, struct lab_outcome *o)
{
    char *errors = NULL;
    int status;

    word[0] = (char *)(uintptr_t) "neardup";
    if (asprintf(&errors, "%s/errors", s->folder) < 0) {
        conclude(o, LAB_FAILED, "out of memory", "");
        return;
    }
    if (!start(word, out, errors)) {
        conclude(o, LAB_FAILED, "cannot be started: ", strerror(errno));
    } else {
        status = await();
        if (stopped_by)
            conclude(o, LAB_FAILED, "it was stopped", "");
        else if (status != 0 && status != 1) /* 1: nothing was found */
            tell_failure(o, errors);
    }
    (void)unlink(errors);
    free(errors);
}

static void write_part(const struct lab_part *part, const char *path, struct lab_outcome *o)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(part->text, file) >= 0 && fputc('\n', file) != EOF;

    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        conclude(o, LAB_FAILED, "cannot be written: ", path);
}

static void run_part(const struct stepping *s, size_t i)
{
    const struct lab_part *part = &s->run->lab->part[i];
    struct lab_outcome *o = &s->run->part[i];
    char *word[WORDS] = {NULL}, *path = NULL;

    if (asprintf(&path, "%s/%s", s->folder, part->name) < 0) {
        conclude(o, LAB_FAILED, "out of memory", "");
        return;
    }
    if (!part->run)
        write_part(part, path, o);
    else if (split_command(s, part->run, word, o))
        run_step(s, word, path, o);
    for (size_t k = 1; k < WORDS; k++)
        free(word[k]);
    free(path);
}

/* ---- A series -------------------------------------------------------------------------------- */

static bool is_chosen(const struct lab_series *series, const struct lab_table *t, size_t row)
{
    for (size_t i = 0; i < series->n_where; i++)
        if (!lab_table_has(t, row, series->where[i]))
            return false;
    return true;
}

/* Whether the series names columns, and not only their places: then tables have a header. */
static bool has_names(const struct lab_series *series)
{
    bool names = false;

    for (size_t i = 0; i < series->n_where; i++)
        names = names || *series->where[i] != '$';
    for (const char *at = series->value; *at && !names; at++) {
        const size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz_");

        if (len) {
            names = (len != 4 || strncmp(at, "rows", len) != 0) &&
                    (len != 3 || strncmp(at, "sum", len) != 0);
            at += len - 1;
        }
    }
    return names;
}

/* Read the tables, and find the rows of the series in them. */
static enum nd_status read_tables(const struct stepping *s, const struct lab_series *series,
                                  struct lab_table table[], const struct lab_table **of,
                                  size_t *row, size_t most, size_t *n, struct nd_error *err)
{
    const char *at = series->tables;
    enum nd_status status = ND_OK;

    for (size_t len; status == ND_OK && *(at += strspn(at, " ")); at += len, table++) {
        char *path = NULL;

        len = strcspn(at, " ");
        if (asprintf(&path, "%s/%.*s", s->folder, (int)len, at) < 0)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        status = lab_table_read(table, path, has_names(series), err);
        free(path);
        for (size_t i = 0; status == ND_OK && i < table->n; i++)
            if (is_chosen(series, table, i)) {
                if (*n < most) {
                    of[*n] = table;
                    row[*n] = i;
                }
                ++*n;
            }
    }
    return status == ND_OK && *n > most ? nd_fail(err, ND_EINPUT, "there are too many rows")
                                        : status;
}

static enum nd_status compute_all(const struct lab_series *series,
                                  const struct lab_table *const *of, const size_t *row, size_t n,
                                  double *value, struct nd_error *err)
{
    bool is_whole = false;
    enum nd_status status = lab_compute(series->value, of, row, n, 0, &value[0], &is_whole, err);

    if (status == ND_OK && (is_whole ? 1 : n) != series->n_labels)
        return nd_fail(err, ND_EINPUT, "there are %zu values and %zu labels", is_whole ? 1 : n,
                       series->n_labels);
    for (size_t i = 1; status == ND_OK && i < series->n_labels; i++)
        status = lab_compute(series->value, of, row, n, i, &value[i], &is_whole, err);
    return status;
}

/* Skip the series if one of its tables was not made. */
static bool has_tables(const struct stepping *s, const struct lab_series *series,
                       struct lab_outcome *o)
{
    const char *at = series->tables;

    for (size_t len; *(at += strspn(at, " ")); at += len) {
        len = strcspn(at, " ");
        const struct lab_outcome *part = &s->run->part[find_part(s->run->lab, at, len)];

        if (part->state == LAB_DONE)
            continue;
        conclude(o, part->state, part->reason ? part->reason : "", "");
        return false;
    }
    return true;
}

static void compute_series(const struct stepping *s, size_t i)
{
    enum { TABLES = 16, ROWS = 1 << 20 };
    const struct lab_series *series = &s->run->lab->series[i];
    struct lab_outcome *o = &s->run->series[i];
    struct lab_table table[TABLES] = {{.n = 0}};
    const struct lab_table **of = malloc(ROWS * sizeof *of);
    size_t *row = malloc(ROWS * sizeof *row), n = 0;
    struct nd_error err = {.message = "out of memory"};
    enum nd_status status = of && row ? ND_OK : ND_ENOMEM;

    for (size_t k = 0; k < LAB_NUMBERS; k++)
        s->run->value[i][k] = NAN;
    if (has_tables(s, series, o)) {
        if (status == ND_OK)
            status = read_tables(s, series, table, of, row, ROWS, &n, &err);
        if (status == ND_OK)
            status = compute_all(series, of, row, n, s->run->value[i], &err);
        if (status != ND_OK)
            conclude(o, LAB_FAILED, "", err.message);
    }
    for (size_t k = 0; k < TABLES; k++)
        lab_table_release(&table[k]);
    free((void *)of);
    free(row);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status make_folder(struct stepping *s, const char *output, struct nd_error *err)
{
    const char *tmp = getenv("TMPDIR");
    int len = output
                  ? asprintf(&s->folder, "%s/%s", output, s->run->lab->name)
                  : asprintf(&s->folder, "%s/neardup-reproduce-XXXXXX", tmp && *tmp ? tmp : "/tmp");

    if (len < 0) {
        s->folder = NULL;
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (output && mkdir(output, 0777) != 0 && errno != EEXIST)
        return nd_fail(err, ND_EIO, "%s: cannot be made: %s", output, strerror(errno));
    if (output ? mkdir(s->folder, 0777) == 0 || errno == EEXIST : mkdtemp(s->folder) != NULL)
        return ND_OK;
    nd_fail(err, ND_EIO, "%s: cannot be made: %s", s->folder, strerror(errno));
    free(s->folder);
    s->folder = NULL;
    return err->status;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    (void)rmdir(folder);
}

enum nd_status lab_run_all(struct lab_run *run, const struct lab *lab,
                           const struct lab_places *places, const char *output,
                           struct nd_error *err)
{
    struct stepping s = {.run = run, .places = places};
    struct sigaction old[SIGNALS];
    enum nd_status status;

    *run = (struct lab_run){.lab = lab};
    status = make_folder(&s, output, err);
    if (status != ND_OK)
        return status;
    listen_to(old);
    for (size_t i = 0; i < lab->n_parts && !stopped_by; i++)
        run_part(&s, i);
    for (size_t i = 0; i < lab->n_series && !stopped_by; i++)
        compute_series(&s, i);
    if (!output && s.folder)
        remove_folder(s.folder);
    free(s.folder);
    listen_no_more(old);
    if (stopped_by)
        raise(stopped_by);
    return ND_OK;
}

void lab_run_release(struct lab_run *run)
{
    for (size_t i = 0; i < LAB_PARTS; i++) {
        free(run->part[i].reason);
        free(run->series[i].reason);
    }
}

char *lab_missing(const struct lab *lab, const struct lab_places *places)
{
    static char nowhere[] = "";
    struct lab_run run = {.lab = lab};
    const struct stepping s = {.run = &run, .places = places, .folder = nowhere};
    char *missing = NULL;

    for (size_t i = 0; i < lab->n_parts && !missing; i++) {
        char *word[WORDS] = {NULL};
        struct lab_outcome o = {.state = LAB_DONE};

        if (lab->part[i].run && !split_command(&s, lab->part[i].run, word, &o))
            missing = o.reason;
        for (size_t k = 1; k < WORDS; k++)
            free(word[k]);
    }
    return missing;
}
