#include "common/portable.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__

#include <mach-o/dyld.h>
#include <mach/mach.h>

static bool close_in_programs(int fd) {
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

bool portable_pipe(int ends[2]) {
  return pipe(ends) == 0 && close_in_programs(ends[0]) && close_in_programs(ends[1]);
}

int portable_socket(int family, int type) {
  int fd = socket(family, type, 0);
  if (fd >= 0)
    close_in_programs(fd);
  return fd;
}

void portable_set_user_timeout(int socket, unsigned int milliseconds) {
  int seconds = (int)(milliseconds / 1000);
  (void)setsockopt(socket, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &seconds, sizeof seconds);
}

/* fsync() there leaves it to the disk when to write. */
bool portable_sync(int fd) {
  return fcntl(fd, F_FULLFSYNC) == 0 || fsync(fd) == 0;
}

void portable_init_condition(pthread_cond_t *condition) {
  pthread_cond_init(condition, NULL);
}

void portable_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t rest = until - ((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
  if (rest < 0)
    rest = 0;
  const struct timespec pause = {.tv_sec = (time_t)(rest / 1000), .tv_nsec = (long)(rest % 1000) * 1000000};
  pthread_cond_timedwait_relative_np(condition, lock, &pause);
}

void portable_join(pthread_t thread, int seconds) {
  (void)seconds;
  pthread_detach(thread);
}

const char *portable_program(char *path, size_t size) {
  uint32_t room = (uint32_t)size;
  return _NSGetExecutablePath(path, &room) == 0 ? path : NULL;
}

int64_t portable_resident_bytes(void) {
  struct mach_task_basic_info known;
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&known, &count) != KERN_SUCCESS)
    return 0;
  return (int64_t)known.resident_size;
}

#else

bool portable_pipe(int ends[2]) {
  return pipe2(ends, O_CLOEXEC) == 0;
}

int portable_socket(int family, int type) {
  return socket(family, type | SOCK_CLOEXEC, 0);
}

void portable_set_user_timeout(int socket, unsigned int milliseconds) {
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

bool portable_sync(int fd) {
  return fdatasync(fd) == 0;
}

void portable_init_condition(pthread_cond_t *condition) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

void portable_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
  const struct timespec end = {.tv_sec = (time_t)(until / 1000), .tv_nsec = (long)(until % 1000) * 1000000};
  pthread_cond_timedwait(condition, lock, &end);
}

void portable_join(pthread_t thread, int seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0)
    pthread_detach(thread);
}

const char *portable_program(char *path, size_t size) {
  snprintf(path, size, "/proc/self/exe");
  return path;
}

/* The second number of that file, in pages. */
int64_t portable_resident_bytes(void) {
  char line[256] = "";
  FILE *statm = fopen("/proc/self/statm", "re");
  if (statm == NULL)
    return 0;
  const char *second = fgets(line, sizeof line, statm) != NULL ? strchr(line, ' ') : NULL;
  fclose(statm);
  return second != NULL ? strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

#endif
