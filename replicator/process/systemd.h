/*
 * systemd: tells systemd how the process is doing (sd_notify(3), Type=notify). Without systemd it does nothing. The
 * protocol is a datagram for each message, which is documented to be stable.
 */
#ifndef ROWRELAY_PROCESS_SYSTEMD_H
#define ROWRELAY_PROCESS_SYSTEMD_H

/* It has begun to work; what status is shown, of one thread only; it finishes what it has in hand and leaves. */
void systemd_ready(void);
void systemd_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
void systemd_stopping(void);

/* It is alive: to be called often. Says so when half of what the watchdog allows is over. One thread only. */
void systemd_alive(void);

#endif
