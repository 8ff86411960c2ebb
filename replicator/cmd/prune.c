/* rowrelay prune: drops changes that are older than their retention. */
#include <stdio.h>
#include <string.h>

#include "cli/call.h"
#include "cli/command.h"
#include "cmd/empty_days.h"
#include "common/clock.h"
#include "queries.h"

/* Between two attempts to get a lock. Milliseconds. */
#define RETRY_PAUSE 200

static bool outcome_is(const PGresult *days, int row, const char *outcome) {
  return strcmp(PQgetvalue(days, row, PRUNED_OUTCOME), outcome) == 0;
}

static int count_outcomes(const PGresult *days, const char *outcome) {
  int count = 0;
  for (int row = 0; row < PQntuples(days); row++)
    count += outcome_is(days, row, outcome);
  return count;
}

static void print_day(const PGresult *days, int row) {
  printf("%s: %s: %s\n", PQgetvalue(days, row, PRUNED_DAY), PQgetvalue(days, row, PRUNED_OUTCOME),
         PQgetvalue(days, row, PRUNED_NOTE));
}

static void print_done(const PGresult *days) {
  for (int row = 0; row < PQntuples(days); row++)
    if (outcome_is(days, row, "dropped") || outcome_is(days, row, "deleted"))
      print_day(days, row);
  fflush(stdout);
}

static void print_left(const PGresult *days) {
  for (int row = 0; row < PQntuples(days); row++)
    if (outcome_is(days, row, "kept") || outcome_is(days, row, "busy"))
      print_day(days, row);
  if (count_outcomes(days, "kept") > 0)
    fputs("undelivered changes are kept: wait for delivery, or run: rowrelay errors; --force discards them\n", stderr);
}

/* One day after the other, until nothing more can be dropped now. */
static bool prune(struct source *source, struct values values, int64_t until, struct error *error) {
  bool any = false;
  for (;;) {
    PGresult *days = NULL;
    if (!call_run(source, &QUERY_cmd_prune, values, &days, error))
      return false;
    print_done(days);
    any |= PQntuples(days) > 0;
    bool busy = count_outcomes(days, "busy") > 0 && clock_now() < until;
    bool again = count_outcomes(days, "more") > 0 || count_outcomes(days, "deleting") > 0;
    if (!busy && !again)
      print_left(days);
    PQclear(days);
    if (!busy && !again) {
      if (!any)
        fputs("nothing is old enough to be dropped\n", stderr);
      return true;
    }
    if (!again)
      clock_sleep(RETRY_PAUSE);
  }
}

static bool run(const struct options *given, struct error *error) {
  int64_t seconds;
  struct source *source;
  if (!option_integer(given, "lock-wait", (struct bounds){0, 86400}, &seconds, error) ||
      !call_open(&source, given, error))
    return false;
  int64_t until = clock_now() + seconds * 1000;
  struct values values = VALUES(option_text(given, "older-than"), option_given(given, "force") ? "true" : "false",
                                option_given(given, "restored") ? "true" : "false");
  bool ok = prune(source, values, until, error) && empty_days_drop(source, until, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "older-than",
     .value = "INTERVAL",
     .help = "age at which to drop tables without a setting of \"rowrelay keep\""},
    {.name = "force", .help = "also discard changes that are not delivered, or were refused"},
    {.name = "restored", .help = "also drop days that were restored from an archive"},
    {.name = "lock-wait", .value = "SECONDS", .initial = "10", .help = "try for this long to get locks"},
    OPTION_END,
};

const struct command COMMAND_prune = {
    .name = "prune",
    .summary = "drop changes that are old enough",
    .arguments = "",
    .options = OPTIONS,
    .notes = "Without --older-than it does what running processes do by themselves, as set with \"rowrelay keep\". A "
             "day is\n"
             "dropped as a whole once no transaction can write into it any more, one day after its end.\n",
    .examples = "rowrelay prune --older-than '90 days'\n",
    .run = run,
};
