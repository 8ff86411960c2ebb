/* package: what is installed, and manual pages and completions, which are made of the tables of the help. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/manual.h"
#include "fixture.h"

/* What a script of sh prints, which must succeed; valid until the next call. */
static const char *shell(const char *script) {
  static char said[64 * 1024];
  FILE *stream = popen(script, "r");
  cr_assert_not_null(stream);
  size_t length = fread(said, 1, sizeof said - 1, stream);
  said[length] = '\0';
  cr_assert_eq(pclose(stream), 0, "%s\n%s", script, said);
  return said;
}

/*
 * Every script begins in a directory of its own, $dir. What make takes from the make that runs this is forgotten, and
 * the program is the one that is tested, even if its sources have changed since.
 */
#define BEGIN "set -e; dir=$(mktemp -d); trap 'rm -rf $dir' EXIT; exec 2>&1; "
#define MAKE                                                                                                           \
  "build=$(realpath --relative-to=. $(dirname $ROWRELAY_BIN)); "                                                       \
  "env -u MAKEFLAGS -u MAKELEVEL make -s -o $build/rowrelay BUILD=$build DESTDIR=$dir/to "

Test(package, all_that_is_installed_is_below_destdir_and_uninstall_takes_it_away_but_for_what_was_configured) {
  const char *installed =
      shell(BEGIN MAKE "PREFIX=/opt/rowrelay install; "
                       "echo PGHOST=mine >$dir/to/opt/rowrelay/etc/rowrelay/rowrelay.env; " MAKE
                       "PREFIX=/opt/rowrelay install; cd $dir/to; "
                       "find . -type f -printf '%m %P\\n'; "
                       "cat opt/rowrelay/etc/rowrelay/rowrelay.env; "
                       "grep -h '^ExecStart=\\|^EnvironmentFile=' opt/rowrelay/lib/systemd/system/*");
  const char *const expected[] = {
      "755 opt/rowrelay/bin/rowrelay\n",
      "644 opt/rowrelay/share/rowrelay/schema/install.sql\n",
      "644 opt/rowrelay/share/rowrelay/schema/migrations/0001_initial.sql\n",
      "644 opt/rowrelay/share/rowrelay/triggers/capture_table.sql\n",
      "644 opt/rowrelay/share/doc/rowrelay/README.md\n",
      "644 opt/rowrelay/share/doc/rowrelay/schema/README.md\n",
      "644 opt/rowrelay/share/man/man1/rowrelay.1\n",
      "644 opt/rowrelay/share/bash-completion/completions/rowrelay\n",
      "644 opt/rowrelay/share/zsh/site-functions/_rowrelay\n",
      "644 opt/rowrelay/share/fish/vendor_completions.d/rowrelay.fish\n",
      "644 opt/rowrelay/lib/systemd/system/rowrelay.service\n",
      "644 opt/rowrelay/lib/systemd/system/rowrelay@.service\n",
      "600 opt/rowrelay/etc/rowrelay/rowrelay.env\n",
      "\nPGHOST=mine\n",
      "\nExecStart=/opt/rowrelay/bin/rowrelay run ",
      "\nEnvironmentFile=/opt/rowrelay/etc/rowrelay/rowrelay.env\n",
      "\nEnvironmentFile=/opt/rowrelay/etc/rowrelay/%i.env\n",
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    cr_expect_not_null(strstr(installed, expected[i]), "%s is not in\n%s", expected[i], installed);

  cr_assert_str_eq(shell(BEGIN MAKE "PREFIX=/usr install; " MAKE "PREFIX=/usr uninstall >/dev/null; cd $dir/to; "
                                    "find . -type f"),
                   "./etc/rowrelay/rowrelay.env\n");
}

Test(package, installing_is_quiet) {
  const char *said = shell(BEGIN "build=$(realpath --relative-to=. $(dirname $ROWRELAY_BIN)); "
                                 "for what in install install uninstall; do "
                                 "env -u MAKEFLAGS -u MAKELEVEL make -o $build/rowrelay BUILD=$build DESTDIR=$dir/to "
                                 "PREFIX=/usr $what; done | grep -v '^\\(MANUAL\\|COMPLETION\\) \\|^left: ' || true");
  cr_assert_str_eq(said, "");
}

Test(package, an_rpm_has_what_is_installed) {
  if (!has_programs("rpmbuild rpm strip"))
    cr_skip("there is no rpmbuild here");
  const char *listed = shell(
      BEGIN "build=$(realpath --relative-to=. $(dirname $ROWRELAY_BIN)); "
            "OUT=$dir MAKE=\"env -u MAKEFLAGS -u MAKELEVEL make -o $build/rowrelay\" deploy/rpm.sh $build >/dev/null; "
            "rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\\n]' $dir/*.rpm; "
            "rpm -qpR $dir/*.rpm; rpm -qp --configfiles $dir/*.rpm | sed 's/^/config /'");
  static const char *const EXPECTED[] = {
      "-rwxr-xr-x root /usr/bin/rowrelay\n",
      "-rw-r--r-- root /usr/share/rowrelay/schema/install.sql\n",
      "-rw-r--r-- root /usr/share/man/man1/rowrelay.1.gz\n",
      "-rw-r--r-- root /usr/lib/systemd/system/rowrelay@.service\n",
      "-rw------- root /etc/rowrelay/rowrelay.env\n",
      "libpq.so.5",
      "config /etc/rowrelay/rowrelay.env\n",
  };
  for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++)
    cr_expect_not_null(strstr(listed, EXPECTED[i]), "%s is not in\n%s", EXPECTED[i], listed);
}

/* The page of a command as a search in it sees it: without fonts, and with dashes for what is one to the eye. */
static void read_page(const struct command *command, char *page, size_t size) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  manual_print(stream, command);
  fclose(stream);
  size_t used = 0;
  for (const char *from = text; *from != '\0' && used < size - 1; from++)
    if (from[0] == '\\' && from[1] == 'f')
      from += 2;
    else if (from[0] != '\\' || from[1] != '-')
      page[used++] = *from;
  page[used] = '\0';
  free(text);
}

Test(package, each_command_has_a_manual_page_with_all_its_options) {
  static char all[64 * 1024];
  static char page[64 * 1024];
  read_page(NULL, all, sizeof all);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    read_page(COMMANDS[i], page, sizeof page);
    cr_expect_not_null(strstr(page, COMMANDS[i]->name), "%s", page);
    for (const struct option *option = COMMANDS[i]->options; option->name != NULL; option++) {
      char name[64];
      snprintf(name, sizeof name, "--%s", option->name);
      cr_expect_not_null(strstr(page, name), "%s is not in the page of %s", name, COMMANDS[i]->name);
    }
    cr_expect(COMMANDS[i]->examples == NULL || strstr(page, ".SH EXAMPLES\n.nf\nrowrelay ") != NULL, "%s", page);
    char reference[64];
    snprintf(reference, sizeof reference, ".BR rowrelay-%s (1)\n", COMMANDS[i]->name);
    for (char *space = reference + 4; (space = strchr(space, ' ')) != NULL && space[1] != '(';)
      *space = '-';
    cr_expect_not_null(strstr(all, reference), "%s is not in rowrelay(1)", reference);
  }
}

Test(package, man_has_nothing_to_say_against_the_pages) {
  if (!has_programs("groff"))
    cr_skip("there is no groff here");
  cr_assert_str_eq(shell(BEGIN
                         "\"$ROWRELAY_BIN\" help --manual $dir; "
                         "for page in $dir/*.1; do groff -ww -k -man -Tutf8 -z $page; "
                         "! command -v man >/dev/null || LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l $page >/dev/null; "
                         "done"),
                   "");
}

/* What bash offers for a line whose last word is not ended. */
static const char *bash_offers(const char *line) {
  char script[1024];
  snprintf(script, sizeof script,
           BEGIN "cat >$dir/try <<'END'\n"
                 "source <(\"$ROWRELAY_BIN\" help --completion bash); rowrelay() { \"$ROWRELAY_BIN\" \"$@\"; }\n"
                 "line='%s'; read -ra COMP_WORDS <<<\"$line\"; [[ $line != *' ' ]] || COMP_WORDS+=('')\n"
                 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rowrelay; echo \"${COMPREPLY[*]}\"\n"
                 "END\n"
                 "bash $dir/try",
           line);
  return shell(script);
}

Test(package, bash_completes_commands_their_second_words_and_options) {
  if (!has_programs("bash"))
    cr_skip("there is no bash here");
  cr_expect_str_eq(bash_offers("rowrelay targ"), "target\n");
  cr_expect_str_eq(bash_offers("rowrelay -d shop sta"), "status\n");
  cr_expect_str_eq(bash_offers("rowrelay target "), "add list show set pause resume drop test\n");
  cr_expect_str_eq(bash_offers("rowrelay help document re"), "rebuild\n");
  cr_expect_str_eq(bash_offers("rowrelay target add --o"), "--option\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w file"), "file:\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w --option batch_"), "batch_rows= batch_bytes=\n");
  cr_expect_str_eq(bash_offers("rowrelay target set w -o ca"), "ca_file=\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w redis : //h --option batch_"), "batch_rows= batch_bytes=\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w redis : //h --option sec"), "\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w https : //h --option sec"), "secret=\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w https : //h --option on_error = "), "park block halt\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w https : //h --option on_error = b"), "block\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w https : //h --option = on_error = b"), "block\n");
  cr_expect_str_eq(bash_offers("rowrelay target add w https : //h --option on_error ="), "park block halt\n");
  cr_expect_str_eq(bash_offers("rowrelay capture item --per "), "row statement\n");
  cr_expect_str_eq(bash_offers("rowrelay capture item --per = s"), "statement\n");
  cr_expect_str_eq(bash_offers("rowrelay route item w --like "), "minimal full\n");
  cr_expect_str_eq(bash_offers("rowrelay log --op t"), "truncate\n");
  cr_expect_str_eq(bash_offers("rowrelay log --color = a"), "auto always\n");
  cr_expect_str_eq(bash_offers("rowrelay run --log-format j"), "json journal\n");
  cr_expect_str_eq(bash_offers("rowrelay target set w --url redi"), "redis: rediss:\n");
  cr_expect_str_eq(bash_offers("rowrelay run --log"), "--log-format --log-level\n");
  cr_expect_str_eq(bash_offers("rowrelay run --workers "), "\n");
  cr_expect_str_eq(bash_offers("rowrelay document add o --query deploy/systemd/rowrelay.s"),
                   "deploy/systemd/rowrelay.service\n");
}

Test(package, fish_completes_the_same) {
  if (!has_programs("fish"))
    cr_skip("there is no fish here");
  cr_assert_str_eq(shell(BEGIN "export HOME=$dir; \"$ROWRELAY_BIN\" help --completion fish >$dir/it; fish -c '"
                               "source $argv[1]; for line in \"rowrelay targ\" \"rowrelay help document re\" "
                               "\"rowrelay -d x run --wor\"; complete -C $line | cut -f 1; end' $dir/it"),
                   "target\nrebuild\n--workers\n");
}

Test(package, shells_complete_names_of_tables_targets_and_documents) {
  struct fixture f;
  fixture_begin(&f, "package_names");
  sql(f.at_source,
      "create schema shop; create table shop.orders (id int primary key); create table shop.other (id int "
      "primary key); create table item (id int primary key); create table \"Odd one\" (id int primary key)");
  rowrelay_ok(&f, "target", "add", "dw", f.target_url, NULL);
  rowrelay_ok(&f, "target", "add", "lake", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "shop.orders", NULL);
  sql(f.at_source, "select rowrelay.add_document('cards', 'dw', 'id', 'select id from item where id = any ($1)', "
                   "'{item:id}')");
  setenv("PGHOST", PQhost(f.at_source), 1);
  setenv("PGPORT", PQport(f.at_source), 1);
  setenv("PGUSER", PQuser(f.at_source), 1);
  setenv("PGDATABASE", PQdb(f.at_source), 1);
  if (has_programs("bash")) {
    cr_expect_str_eq(bash_offers("rowrelay capture "), "\\\"Odd\\ one\\\" item shop.orders shop.other\n");
    cr_expect_str_eq(bash_offers("rowrelay capture \\\\\"Od"), "\\\"Odd\\ one\\\"\n");
    cr_expect_str_eq(bash_offers("rowrelay capture Od"), "\\\"Odd\\ one\\\"\n");
    cr_expect_str_eq(bash_offers("rowrelay capture shop.ot"), "shop.other\n");
    cr_expect_str_eq(bash_offers("rowrelay route "), "item shop.orders\n");
    cr_expect_str_eq(bash_offers("rowrelay route shop.orders l"), "lake\n");
    cr_expect_str_eq(bash_offers("rowrelay route shop.orders lake "), "\n");
    cr_expect_str_eq(bash_offers("rowrelay verify dw item "), "item shop.orders\n");
    cr_expect_str_eq(bash_offers("rowrelay verify dw --document "), "cards\n");
    cr_expect_str_eq(bash_offers("rowrelay document rebuild "), "cards\n");
    cr_expect_str_eq(bash_offers("rowrelay -d nowhere route "), "\n");
  }
  if (has_programs("fish"))
    cr_expect_str_eq(shell(BEGIN "export HOME=$dir; \"$ROWRELAY_BIN\" help --completion fish >$dir/it; fish -c '"
                                 "source $argv[1]; function rowrelay; $ROWRELAY_BIN $argv; end; for line in "
                                 "\"rowrelay route shop.orders l\" \"rowrelay verify dw --document c\" "
                                 "\"rowrelay capture it\"; complete -C $line | cut -f 1; end' $dir/it"),
                     "lake\ncards\nitem\n");
  fixture_end(&f);
}

Test(package, zsh_completes_the_same) {
  if (!has_programs("zsh"))
    cr_skip("there is no zsh here");
  /* What a person sees who types TAB, in a terminal of zsh's own. */
  const char *seen =
      shell(BEGIN "\"$ROWRELAY_BIN\" help --completion zsh >$dir/_rowrelay; export HOME=$dir; cat >$dir/try <<'END'\n"
                  "zmodload zsh/zpty\n"
                  "zpty try zsh -f -i\n"
                  "zpty -w try 'PROMPT=; fpath=($HOME $fpath); autoload -U compinit; compinit -u; echo re\"\"ady'\n"
                  "zpty -r -m try x '*ready*'\n"
                  "for line in 'rowrelay targ' 'rowrelay help document re' 'rowrelay -d x run --wor'; do\n"
                  "  zpty -w -n try $line$'\\t'\n"
                  "  sleep 0.7\n"
                  "  zpty -w -n try $'\\C-a: \\C-e; echo se\"\"en\\n'\n"
                  "  zpty -r -m try seen '*seen*'\n"
                  "  print -r -- $seen\n"
                  "done\n"
                  "END\n"
                  "timeout 30 zsh -f $dir/try");
  cr_expect_not_null(strstr(seen, "target"), "%s", seen);
  cr_expect_not_null(strstr(seen, "rebuild"), "%s", seen);
  cr_expect_not_null(strstr(seen, "--workers"), "%s", seen);
}
