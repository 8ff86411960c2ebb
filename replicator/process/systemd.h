/*
 * systemd: reports the state of the process to systemd (sd_notify(3), Type=notify). Without systemd it does nothing.
 * The protocol is a datagram for each message, which is documented to be stable.
 */
#ifndef ROWRELAY_PROCESS_SYSTEMD_H
#define ROWRELAY_PROCESS_SYSTEMD_H

/* The process is ready; its status (one thread only); it is stopping. */
void systemd_ready(void);
void systemd_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
void systemd_stopping(void);

/* To be called often: feeds the watchdog when half of its time is over. One thread only. */
void systemd_alive(void);

#endif
