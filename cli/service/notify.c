/* notify.c - telling systemd how a service is doing (sd_notify(3)), without its library */
#define _GNU_SOURCE
#include "service/notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = name ? strlen(name) : 0;
    int fd;

    if (len < 2 || len >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@'))
        return;
    memcpy(address.sun_path, name, len);
    if (name[0] == '@') /* a name that is not in the file system */
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
}

void notify_reloading(void)
{
    struct timespec now;
    char state[64];

    clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
                   (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
    notify(state);
}
