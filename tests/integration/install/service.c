/* service: a process under systemd, and the units that start it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fixture.h"

static struct fixture f;

/* In the place of systemd: gives what a process says about itself. */
static int listen_as_systemd(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval patience = {.tv_sec = 10};
  snprintf(address.sun_path, sizeof address.sun_path, "/tmp/rowrelay-notify-%d", getpid());
  unlink(address.sun_path);
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setenv("NOTIFY_SOCKET", address.sun_path, 1);
  return fd;
}

/* Waits for a message that begins with this; others are passed over. */
static void wait_for_message(int fd, const char *expected) {
  char message[1024];
  double until = seconds_now() + 10;
  do {
    ssize_t length = recv(fd, message, sizeof message - 1, 0);
    cr_assert(length >= 0 && seconds_now() < until, "\"%s\" was not said", expected);
    message[length] = '\0';
  } while (strncmp(message, expected, strlen(expected)) != 0);
}

Test(service, systemd_is_told_that_it_works_that_it_lives_and_that_it_leaves) {
  fixture_begin(&f, "service_notify");
  int fd = listen_as_systemd();
  setenv("WATCHDOG_USEC", "400000", 1);
  unsetenv("WATCHDOG_PID");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_for_message(fd, "STATUS=running, connected to ");
  wait_for_message(fd, "READY=1");
  for (int i = 0; i < 4; i++)
    wait_for_message(fd, "WATCHDOG=1");
  kill(process, SIGTERM);
  wait_for_message(fd, "STOPPING=1");
  wait_for_message(fd, "STATUS=finishing current batches");
  cr_assert_eq(wait_process(process, 10), 0);
  unlink(getenv("NOTIFY_SOCKET"));
  fixture_end(&f);
}

Test(service, a_process_whose_source_is_away_has_started_and_says_what_it_waits_for) {
  own_server("source", NULL);
  fixture_begin(&f, "service_away");
  int fd = listen_as_systemd();
  PQfinish(f.at_source);
  stop_server("source", "fast");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_for_message(fd, "READY=1");
  wait_for_message(fd, "STATUS=waiting for the source: ");
  start_server("source");
  wait_for_message(fd, "STATUS=running");
  f.at_source = connect_to(f.source, NULL);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  unlink(getenv("NOTIFY_SOCKET"));
  fixture_end(&f);
}

/* systemd starts it again until the right is there. */
Test(service, a_process_that_lacks_a_right_ends_with_status_1) {
  char script[1024];
  char message[1024];
  fixture_begin(&f, "service_rights");
  int fd = listen_as_systemd();
  sql(f.at_source, "drop role if exists service_rights; create role service_rights login");
  snprintf(script, sizeof script,
           "said=$(\"$ROWRELAY_BIN\" -d '%s user=service_rights' run 2>&1); [ $? = 1 ] && "
           "echo \"$said\" | grep -q 'permission denied for schema rowrelay'",
           f.source);
  cr_assert_eq(system(script), 0);
  for (ssize_t length; (length = recv(fd, message, sizeof message - 1, MSG_DONTWAIT)) > 0;) {
    message[length] = '\0';
    cr_assert_str_neq(message, "READY=1");
  }
  unlink(getenv("NOTIFY_SOCKET"));
  sql(f.at_source, "drop role service_rights");
  fixture_end(&f);
}

Test(service, what_is_wrong_for_good_is_an_error_in_the_journal_and_it_has_not_started) {
  fixture_begin(&f, "service_wrong");
  int fd = listen_as_systemd();
  char script[1024];
  char message[1024];
  snprintf(script, sizeof script,
           "file=$(mktemp) && { JOURNAL_STREAM=$(stat -c %%d:%%i $file) \"$ROWRELAY_BIN\" -d '%s' run --target nobody "
           "2>$file; "
           "[ $? = 2 ]; } && [ \"$(cat $file)\" = '<3>failed: target \"nobody\" does not exist; hint: run: rowrelay "
           "target list' ]; status=$?; cat $file; rm $file; exit $status",
           f.source);
  cr_assert_eq(system(script), 0);
  for (ssize_t length; (length = recv(fd, message, sizeof message - 1, MSG_DONTWAIT)) > 0;) {
    message[length] = '\0';
    cr_assert_str_neq(message, "READY=1");
  }
  cr_assert_str_eq(message, "STATUS=target \"nobody\" does not exist");
  unlink(getenv("NOTIFY_SOCKET"));
  fixture_end(&f);
}

Test(service, units_are_what_systemd_takes) {
  if (!has_programs("systemd-analyze"))
    cr_skip("there is no systemd-analyze here");
  /* systemd-analyze prints nothing if all is well, except that the program and its manual page are not installed here.
   */
  cr_assert_eq(system("dir=$(mktemp -d) && trap 'rm -rf $dir' EXIT && cp deploy/systemd/*.service $dir && "
                      "sed -i 's,/usr/bin/rowrelay,/bin/true,; /^Documentation=/d' $dir/*.service && "
                      "said=$(systemd-analyze verify $dir/rowrelay.service $dir/rowrelay@.service 2>&1); [ $? = 0 ] && "
                      /* what it says of the units of other packages is not ours */
                      "said=$(echo \"$said\" | grep -v '/systemd/system/'; true) && "
                      "{ [ -z \"$said\" ] || { echo \"$said\"; false; }; }"),
               0);
}
