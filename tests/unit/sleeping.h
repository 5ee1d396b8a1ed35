/* sleeping.h - whether the other threads of this process sleep, before a fork */
#ifndef ND_TEST_SLEEPING_H
#define ND_TEST_SLEEPING_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Whether a thread of this process sleeps, or has ended.  The state stands after the name, in
 * parentheses. */
static inline bool thread_sleeps(const char *id)
{
    char path[300], line[300] = "";
    const char *name_end;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", id);
    file = fopen(path, "re");
    if (!file)
        return true;
    name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    (void)fclose(file);
    return !name_end || strchr("SZX", name_end[2]);
}

static inline bool other_threads_sleep(void)
{
    DIR *threads = opendir("/proc/self/task");
    struct dirent *e;
    bool sleep = true;

    while (threads && sleep && (e = readdir(threads)))
        sleep =
            e->d_name[0] == '.' || atol(e->d_name) == (long)gettid() || thread_sleeps(e->d_name);
    if (threads)
        (void)closedir(threads);
    return sleep;
}

/*
 * Wait until the other threads sleep.  gcc's address sanitizer has locks around its memory that a
 * fork leaves locked in the child, if another thread holds one: even a thread that just starts.
 */
static inline void await_sleeping_threads(void)
{
    const struct timespec moment = {0, 1000000};

    for (int looks = 0, asleep = 0; looks < 60000 && asleep < 3; looks++) {
        asleep = other_threads_sleep() ? asleep + 1 : 0;
        (void)nanosleep(&moment, NULL);
    }
}

#endif
