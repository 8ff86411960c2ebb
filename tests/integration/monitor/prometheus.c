/* prometheus: what Prometheus and its tools make of /metrics, and of the alerts and the dashboard in deploy/. */
#include <criterion/criterion.h>
#include <curl/curl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "served.h"
#include "visitor.h"

#define ALERTS "deploy/prometheus/alerts.yml"
#define GUIDE "deploy/README.md"
#define DASHBOARD "deploy/grafana/rowrelay.json"

/* Whatever could be mistaken for a part of the format. */
static const char *const NAMES[] = {"\"quoted\" \\ and \\n", "zwei Zeilen", "x\"} 1 # TYPE x counter",
                                    "größer 🙂 €", "{target=\"w\",le=\"+Inf\"}"};
#define NAME_COUNT (sizeof NAMES / sizeof NAMES[0])

static struct fixture f;

static pid_t run_and_listen(int *port) {
  pid_t process = fixture_run(&f, "--listen", "127.0.0.1:0", NULL);
  *port = visitor_port(process);
  visit_until(*port, "/readyz", 200, 10);
  return process;
}

static void needs_promtool(void) {
  if (!has_programs("promtool"))
    cr_skip("there is no promtool here");
}

static char *read_file(const char *path) {
  static char text[256 * 1024];
  FILE *file = fopen(path, "r");
  cr_assert(file != NULL, "%s is missing", path);
  size_t length = fread(text, 1, sizeof text - 1, file);
  cr_assert(length < sizeof text - 1, "%s is too long for this test", path);
  text[length] = '\0';
  fclose(file);
  return text;
}

/* ---- what is served -------------------------------------------------------------------------------------------- */

Test(prometheus, metrics_are_what_promtool_takes_whatever_targets_are_called) {
  needs_promtool();
  fixture_begin(&f, "prometheus_check");
  for (size_t i = 0; i < NAME_COUNT; i++)
    rowrelay_ok(&f, "target", "add", NAMES[i], f.target_url, NULL);
  int port;
  pid_t process = run_and_listen(&port);
  wait_until_says(process, NAMES[NAME_COUNT - 1], 10);
  FILE *promtool = popen("promtool check metrics 2>&1", "w");
  cr_assert(promtool != NULL);
  struct visit answer = visit(port, "GET", "/metrics", NULL, NULL);
  cr_assert(strstr(answer.headers, "text/plain; version=0.0.4") != NULL, "%s", answer.headers);
  fputs(answer.body, promtool);
  cr_assert_eq(pclose(promtool), 0, "promtool has said above what it does not like");
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* ---- what is asked for ----------------------------------------------------------------------------------------- */

Test(prometheus, alerts_fire_when_they_should) {
  needs_promtool();
  cr_assert_eq(system("promtool check rules " ALERTS), 0);
  cr_assert_eq(system("promtool test rules deploy/prometheus/alerts_test.yml"), 0);
}

/* Characters that a metric's name is made of. */
static size_t name_length(const char *text) {
  return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789");
}

/* How many names of metrics are in a file, each of which must be in the answer of a process. */
static int check_names(const char *path, const char *answer) {
  int count = 0;
  for (char *at = read_file(path); *at != '\0';) {
    size_t length = name_length(at);
    /* rowrelay:… are made by rules of the file itself. */
    if ((strncmp(at, "rowrelay_", 9) == 0 || strncmp(at, "process_", 8) == 0) && length > 9) {
      char sample[128];
      char labelled[128];
      char described[128];
      snprintf(sample, sizeof sample, "\n%.*s ", (int)length, at);
      snprintf(labelled, sizeof labelled, "\n%.*s{", (int)length, at);
      snprintf(described, sizeof described, "\n# TYPE %.*s ", (int)length, at); /* a histogram as a whole */
      cr_expect(strstr(answer, sample) != NULL || strstr(answer, labelled) != NULL || strstr(answer, described) != NULL,
                "%s: no such metric: %.*s", path, (int)length, at);
      count++;
    }
    at += length > 0 ? length : 1;
  }
  return count;
}

Test(prometheus, alerts_and_dashboard_ask_for_metrics_that_are_served_and_the_dashboard_for_all_of_them) {
  fixture_begin(&f, "prometheus_names");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  int port;
  pid_t process = run_and_listen(&port);
  wait_until_says(process, "target w: ", 10);
  struct visit answer = visit(port, "GET", "/metrics", NULL, NULL);
  cr_expect(check_names(ALERTS, answer.body) >= 10);
  cr_expect(check_names(DASHBOARD, answer.body) >= 20);
  const char *dashboard = read_file(DASHBOARD);
  for (const char *type = answer.body; (type = strstr(type, "\n# TYPE ")) != NULL;) {
    char name[128];
    type += strlen("\n# TYPE ");
    snprintf(name, sizeof name, "%.*s", (int)name_length(type), type);
    cr_expect(strstr(dashboard, name) != NULL, "%s is served, and not on the dashboard", name);
  }
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* The guide's table has a row for each, and none for what there is not. */
Test(prometheus, the_guide_lists_what_is_served_and_nothing_else) {
  if (access(GUIDE, R_OK) != 0)
    cr_skip("there is no guide");
  fixture_begin(&f, "prometheus_guide");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  int port;
  pid_t process = run_and_listen(&port);
  wait_until_says(process, "target w: ", 10);
  struct visit answer = visit(port, "GET", "/metrics", NULL, NULL);
  char *table = strstr(read_file(GUIDE), "\n## Metrics\n");
  cr_assert_not_null(table);
  char *end = strstr(table, "\n# Alerts\n");
  cr_assert_not_null(end);
  *end = '\0';
  int served = 0;
  for (const char *type = answer.body; (type = strstr(type, "\n# TYPE ")) != NULL; served++) {
    char name[128];
    type += strlen("\n# TYPE ");
    snprintf(name, sizeof name, "`%.*s`", (int)name_length(type), type);
    cr_expect_not_null(strstr(table, name), "%s is served, and not in the guide", name);
  }
  int listed = 0;
  for (const char *word = table; (word = strchr(word, '`')) != NULL; word += name_length(word + 1) + 1) {
    char name[128];
    if (strncmp(word, "`rowrelay_", 10) != 0 && strncmp(word, "`process_", 9) != 0)
      continue;
    snprintf(name, sizeof name, "\n# TYPE %.*s ", (int)name_length(word + 1), word + 1);
    cr_expect_not_null(strstr(answer.body, name), "%s is in the guide, and not served", name);
    listed++;
  }
  cr_expect_eq(served, listed);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* The anchor of "## Alert: RowrelayAbsent" is #alert-rowrelayabsent. */
Test(prometheus, each_alert_points_to_what_to_do) {
  char *alert = read_file(ALERTS);
  if (access("deploy/README.md", R_OK) != 0)
    cr_skip("there is no guide");
  int count = 0;
  while ((alert = strstr(alert, "- alert: ")) != NULL) {
    char command[512];
    char name[64];
    alert += strlen("- alert: ");
    snprintf(name, sizeof name, "%.*s", (int)name_length(alert), alert);
    snprintf(command, sizeof command,
             "grep -qx '## Alert: %s' deploy/README.md && grep -qix ' *runbook: deploy/README.md#alert-%s' " ALERTS,
             name, name);
    cr_expect_eq(system(command), 0, "alert %s: no heading in deploy/README.md, or no pointer to it", name);
    count++;
  }
  cr_assert(count > 0);
}

/* ---- a real server --------------------------------------------------------------------------------------------- */

static struct served prometheus;

/* Asks the server; its answer's `data`, which the caller drops. */
static json_t *ask_prometheus(const char *query) {
  char body[4096];
  char *escaped = curl_easy_escape(NULL, query, 0);
  snprintf(body, sizeof body, "query=%s", escaped);
  curl_free(escaped);
  struct visit answer = visit(atoi(strchr(prometheus.address, ':') + 1), "POST", "/api/v1/query", NULL, body);
  json_t *json = json_loads(answer.body, 0, NULL);
  const char *status = json_string_value(json_object_get(json, "status"));
  cr_assert(status != NULL && strcmp(status, "success") == 0, "%s: %s", query, answer.body);
  json_t *data = json_incref(json_object_get(json, "data"));
  json_decref(json);
  return data;
}

/* Waits until it has an answer; gives the first sample's value, valid until the next call. */
static const char *wait_for_sample(const char *query) {
  static char value[64];
  double until = seconds_now() + 30;
  for (;;) {
    json_t *data = ask_prometheus(query);
    json_t *first = json_array_get(json_object_get(data, "result"), 0);
    const char *text = json_string_value(json_array_get(json_object_get(first, "value"), 1));
    snprintf(value, sizeof value, "%s", text != NULL ? text : "");
    json_decref(data);
    if (value[0] != '\0')
      return value;
    cr_assert(seconds_now() < until, "no answer: %s", query);
    sleep_seconds(0.2);
  }
}

static void let_scrape(int port) {
  char path[256];
  char other[256];
  snprintf(path, sizeof path, "%s/targets.json", prometheus.directory);
  snprintf(other, sizeof other, "%s/targets.new", prometheus.directory);
  FILE *file = fopen(other, "w");
  cr_assert(file != NULL);
  fprintf(file, "[{\"targets\": [\"127.0.0.1:%d\"]}]", port);
  fclose(file);
  cr_assert_eq(rename(other, path), 0);
}

static void replace(char *text, size_t size, const char *what, const char *with) {
  char result[4096];
  for (char *at = text; (at = strstr(at, what)) != NULL; at += strlen(with)) {
    snprintf(result, sizeof result, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
    snprintf(text, size, "%s", result);
  }
}

/* Each question of the dashboard's panels has an answer. */
static void check_dashboard(void) {
  json_t *dashboard = json_load_file(DASHBOARD, 0, NULL);
  cr_assert(dashboard != NULL);
  size_t i;
  size_t j;
  json_t *panel;
  json_t *target;
  int count = 0;
  json_array_foreach(json_object_get(dashboard, "panels"), i, panel) {
    json_array_foreach(json_object_get(panel, "targets"), j, target) {
      char query[4096];
      snprintf(query, sizeof query, "%s", json_string_value(json_object_get(target, "expr")));
      replace(query, sizeof query, "$source", ".*");
      replace(query, sizeof query, "$target", ".*");
      replace(query, sizeof query, "$__rate_interval", "10s");
      cr_assert(strchr(query, '$') == NULL, "%s", query);
      wait_for_sample(query);
      count++;
    }
  }
  json_decref(dashboard);
  cr_assert(count > 20);
}

Test(prometheus, a_server_scrapes_a_process_answers_the_dashboard_and_misses_the_process) {
  served_begin(&prometheus, "prometheus.sh", false);
  fixture_begin(&f, "prometheus_server");
  sql(f.at_source, "create table item (id int primary key)");
  rowrelay_ok(&f, "target", "add", NAMES[0], f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", NAMES[0], "--create", NULL);
  int port;
  pid_t process = run_and_listen(&port);
  let_scrape(port);
  sql(f.at_source, "insert into item select generate_series(1, 7)");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(wait_for_sample("rowrelay_changes_delivered_total{job=\"rowrelay\", "
                                   "target=\"\\\"quoted\\\" \\\\ and \\\\n\"} == 7"),
                   "7");
  check_dashboard();
  wait_for_sample("rowrelay:backlog_running_changes:max == 0");
  json_t *data = ask_prometheus("ALERTS");
  cr_assert_eq(json_array_size(json_object_get(data, "result")), 0, "an alert without trouble");
  json_decref(data);
  stop_process(process, SIGTERM);
  wait_for_sample("ALERTS{alertname=\"RowrelayAbsent\", alertstate=\"pending\"}");
  fixture_end(&f);
}
