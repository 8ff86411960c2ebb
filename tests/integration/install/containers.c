/* containers: what deploy/ has for containers: the image's recipe, the compose file, Kubernetes manifests. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define COMPOSE "deploy/compose"
#define KUBERNETES "deploy/kubernetes"
#define PACKAGES "build/python"

/* Only what the recipe copies is in the directory, and make finds all that it would need. */
Test(containers, the_image_is_built_of_what_is_copied_into_it) {
  cr_assert_eq(system("dir=$(mktemp -d) && trap 'rm -rf $dir' EXIT && "
                      "cp -r $(sed -n 's/^COPY \\([^-].*\\) [^ ]*$/\\1/p' deploy/container/Containerfile) $dir && "
                      "env -u MAKEFLAGS -u SANITIZE -u COVERAGE make -n -s -C $dir build/rowrelay >/dev/null"),
               0);
}

/* Libraries are found when a program begins, or when it needs them; names and certificates are files, too. */
Test(containers, the_image_has_all_that_the_program_needs_to_deliver) {
  struct fixture f;
  char line[2048];
  if (geteuid() != 0 || system("unshare --mount true 2>/dev/null") != 0 || !has_programs("strip") ||
      getenv("ASAN_OPTIONS") != NULL)
    cr_skip_test("this is for root, who may mount, with strip and without sanitizers");
  fixture_begin(&f, "containers_image");
  sql(f.at_source, "create table item (id int primary key, at timestamptz)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item values (1, now())");
  snprintf(line, sizeof line, "tests/support/image.sh '%s' '%s:%s' -d '%s' run --until-empty", getenv("ROWRELAY_BIN"),
           PQhost(f.at_source), PQhost(f.at_target), f.source);
  cr_assert_eq(system(line), 0, "%s", line);
  same_rows(&f, "item", "item", "id");
  fixture_end(&f);
}

/* As SPDX 2.3 has it, with the package of each library; made twice it is the same. */
Test(containers, what_the_image_consists_of_is_listed) {
  if (!has_programs("dpkg-query python3 ldd") || getenv("ASAN_OPTIONS") != NULL)
    cr_skip_test("this is for a Debian with python3, and without sanitizers");
  const char *script =
      "set -e; dir=$(mktemp -d); trap 'rm -rf $dir' EXIT; "
      "for n in 1 2; do { ldd \"$ROWRELAY_BIN\" | grep -o '/[^ ]*' | sort -u; } | SOURCE_DATE_EPOCH=1 "
      "sh deploy/container/sbom.sh 1.2.3 >$dir/$n; done; cmp $dir/1 $dir/2; "
      "python3 - $dir/1 <<'END'\n"
      "import json, sys\n"
      "sbom = json.load(open(sys.argv[1]))\n"
      "assert sbom['spdxVersion'] == 'SPDX-2.3' and sbom['creationInfo']['created'] == '1970-01-01T00:00:01Z'\n"
      "ids = [p['SPDXID'] for p in sbom['packages']]\n"
      "assert len(set(ids)) == len(ids) and 'SPDXRef-deb-libpq5' in ids and 'SPDXRef-deb-libc6' in ids, ids\n"
      "assert all(p['downloadLocation'] and p['versionInfo'] for p in sbom['packages'])\n"
      "assert all(r['spdxElementId'] in ids + ['SPDXRef-DOCUMENT'] and r['relatedSpdxElement'] in ids\n"
      "           for r in sbom['relationships'])\n"
      "assert len(sbom['relationships']) == len(ids)\n"
      "END";
  cr_assert_eq(system(script), 0);
}

Test(containers, manifests_are_what_kubernetes_publishes_schemas_of) {
  if (!has_programs("python3") ||
      system("mkdir -p " PACKAGES " && flock " PACKAGES " sh -c '"
             "[ -e " PACKAGES "/kubernetes_validate ] || timeout 120 python3 -m pip install --quiet "
             "--target " PACKAGES " kubernetes-validate' > " PACKAGES ".log 2>&1") != 0)
    cr_skip_test("pip, or the package kubernetes-validate, cannot be had: see " PACKAGES ".log");
  for (int minor = 28; minor <= 34; minor += 3) {
    char line[512];
    snprintf(line, sizeof line,
             "cd " KUBERNETES " && PYTHONPATH=../../" PACKAGES " python3 -m kubernetes_validate --strict --quiet "
             "-k 1.%d.0 deployment.yaml service.yaml disruption.yaml autoscaler.yaml network.yaml secret.example.yaml",
             minor);
    cr_expect_eq(system(line), 0, "Kubernetes 1.%d", minor);
  }
}

Test(containers, manifests_are_put_together) {
  if (!has_programs("kubectl"))
    cr_skip("there is no kubectl here");
  cr_assert_eq(system("test $(kubectl kustomize " KUBERNETES " | grep -c '^kind: ') = 5"), 0);
}

/* What each kind of target listens at where nobody has said anything else, PostgreSQL, and a collector. */
Test(containers, the_network_policy_lets_through_what_targets_listen_at) {
  static const char *const PORTS[] = {"5432", "443",  "9200", "8443", "9092", "9093",
                                      "6379", "4222", "5672", "5671", "4318"};
  for (size_t i = 0; i < sizeof PORTS / sizeof *PORTS; i++) {
    char line[128];
    snprintf(line, sizeof line, "grep -q '^ *- {port: %s, protocol: TCP}' " KUBERNETES "/network.yaml", PORTS[i]);
    cr_expect_eq(system(line), 0, "port %s", PORTS[i]);
  }
}

/* An example that people copy is as the guide says: across a network, the server is verified. */
Test(containers, examples_verify_servers_across_a_network) {
  cr_assert_eq(system("! \"$ROWRELAY_BIN\" help target add | grep 'rowrelay target .*postgresql://[a-z0-9]*/' | "
                      "grep -v sslmode=verify-full"),
               0);
  cr_assert_eq(system("! grep -rnE '(host=|HOST[=:] ?)db1' deploy replicator/README.md | "
                      "grep -vE 'verify-full|pool_mode|PGHOST: '"),
               0);
  cr_assert_eq(system("grep -q 'PGSSLMODE.*verify-full' deploy/systemd/rowrelay.env && "
                      "grep -q 'PGSSLMODE: verify-full' " KUBERNETES "/secret.example.yaml"),
               0);
}

Test(containers, compose_takes_its_file) {
  if (system("docker compose version >/dev/null 2>&1") == 0)
    cr_assert_eq(system("docker compose -f " COMPOSE "/compose.yaml config --quiet"), 0);
  else if (has_programs("docker-compose")) /* Debian's, which has the same schema but for the name */
    cr_assert_eq(system("sed '/^name:/d' " COMPOSE "/compose.yaml | "
                        "docker-compose --project-directory " COMPOSE " -f - config --quiet"),
                 0);
  else
    cr_skip("there is no docker compose here");
}

Test(containers, prometheus_takes_the_configuration_of_compose) {
  if (!has_programs("promtool"))
    cr_skip("there is no promtool here");
  cr_assert_eq(system("promtool check config --syntax-only " COMPOSE "/prometheus.yml"), 0);
}

/* psql or pgbench as compose runs it, at the test's source; setup.sql sends to the test's target. */
static void run_as_compose(const struct fixture *f, const char *program, const char *options, const char *file) {
  char line[2048];
  char url[512]; /* as sed takes it */
  size_t length = 0;
  for (const char *c = f->target_url; *c != '\0' && length < sizeof url - 2; c++) {
    if (*c == '&' || *c == ',')
      url[length++] = '\\';
    url[length++] = *c;
  }
  url[length] = '\0';
  snprintf(line, sizeof line,
           "sed 's,postgresql://[^'\\'']*,%s,' " COMPOSE "/%s | $(tests/support/pg.sh bin)/%s '%s' %s >/dev/null", url,
           file, program, f->source, options);
  cr_assert_eq(system(line), 0, "%s", line);
}

Test(containers, what_compose_tries_arrives) {
  struct fixture f;
  fixture_begin(&f, "containers_compose");
  run_as_compose(&f, "psql", "--quiet --set=ON_ERROR_STOP=1 --file=-", "shop.sql");
  for (int again = 0; again < 2; again++)
    run_as_compose(&f, "psql", "--quiet --set=ON_ERROR_STOP=1 --file=-", "setup.sql");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  run_as_compose(&f, "pgbench", "--no-vacuum --transactions=50 --file=/dev/stdin", "writer.sql");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_eq(ask_number(f.at_target, "select count(*) from shop.orders"), 1050);
  same_rows(&f, "shop.orders", "shop.orders", "id");
  same_rows(&f, "shop.customers", "shop.customers", "id");
  fixture_end(&f);
}
