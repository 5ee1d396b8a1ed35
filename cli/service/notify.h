/* notify.h - telling systemd how a service is doing (sd_notify(3)), without its library */
#ifndef CLI_SERVICE_NOTIFY_H
#define CLI_SERVICE_NOTIFY_H

/*
 * Send lines such as "READY=1" to the socket that the service manager has named.  Nothing happens
 * where there is none.  A message that cannot be sent is lost, as with sd_notify.
 */
void notify(const char *state);
/* "RELOADING=1" with the time, as Type=notify-reload needs it. */
void notify_reloading(void);

#endif
