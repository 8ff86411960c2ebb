# make             builds build/rowrelay
# make check       builds, lints, and runs the tests: some 20 minutes on two cores; TEST='a|b' or SUITE='a|b' runs some tests and
#                  nothing else; tests/thorough lists what is left to check-all. WERROR=-Werror makes warnings errors
# make check-all   all tests, with whole families, and lint, sanitizers, the matrix, chaos, faults, packages, fuzz: up to three hours,
#                  with one line for each part (tests/check_all.sh PART runs some)
# make check-native    chosen suites, with all captured by the server module (see make native) where it can be
# make check-matrix    chosen suites on each PostgreSQL from 13 to 19, PAIRS="13:19" on chosen ones (source:target)
# make check-houses  runs rowrelay beside real neighbours: clients, ORMs, extensions, other replication; HOUSES="php java" some
# make check-debian    a fresh clone in bare Debians: make demo and chosen tests (as root, with debootstrap); SUITE=, WHOLE=1, RELEASES="trixie"
# make model       checks the models of the protocols (tests/model); make check does that for models that changed
# make chaos       lets chaos happen, and checks what it left (tests/chaos); SEED=number repeats a run, MINUTES=number
# make faults      fails every allocation, libpq call and libcurl call once (tests/faults); SEED=number repeats a run, LIMIT=seconds
# make fuzz        gives random input to what reads from others (tests/fuzz); SECONDS=60, SEED=number
# make demo        a legacy shop, copied while it is at work
# make bench       measures, beside native logical replication
# make sanitize    make check, built with the address and undefined-behaviour sanitizers; SANITIZE=thread for that one
# make coverage    make check, and how many lines of each source it runs
# make install     to PREFIX (/usr/local), below DESTDIR; make uninstall: away again
# make deb         builds a Debian package, and one of the server module for each server that is here;
#                  make check-package tries it, and its services, in a bare Debian (as root, with debootstrap and
#                  systemd-nspawn)
# make rpm         builds an RPM package of what make install installs
# make native      builds the server module that captures rows in C, for the newest server here or that of PG_CONFIG;
#                  make install-native puts it where that server looks for extensions
# make check-macos   compiles every source for macOS, where zig is here to do so (pip install ziglang)
# make options     makes what the schema and replicator/README.md say of targets and their options anew
# make deps        installs what building and testing need, on Debian
# make lint        format, layers of includes, sizes, cppcheck, shellcheck, manual pages, clang-tidy; make format: clang-format
# V=1 shows the commands.

# They would make a directory, such as replicator/backfill, of a file with its name.
MAKEFLAGS += --no-builtin-rules
# One job for each processor, unless -j says otherwise. What is one after the other are lines of one recipe.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

PREFIX = /usr/local
PG_CONFIG = $(or $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin/pg_config))),pg_config)
SYSCONFDIR = $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
UNITDIR = $(PREFIX)/lib/systemd/system
ZSHDIR = $(PREFIX)/share/zsh/site-functions
DOCDIR = $(PREFIX)/share/doc/rowrelay
CC = gcc
# A newer compiler may warn of what is right: those who change the sources ask for -Werror.
WERROR =
CFLAGS = $(if $(SANITIZE),-O1,-O2) -g
WARNINGS = -Wall -Wextra -Wconversion -Wshadow -Wvla -Wformat=2 -Wmissing-prototypes $(WERROR)
PACKAGES = libpq jansson libcurl libcrypto zlib libmicrohttpd yaml-0.1
# Targets that lack theirs are refused.
OPTIONAL_PACKAGES = rdkafka hiredis libnats librabbitmq
TEST_PACKAGES = criterion

# What must not be called in replicator/.
BANNED = -include replicator/common/banned.h
# A function here must not take the place of a library's: librdkafka would call our thrd_create() for the one of C11.
HIDDEN = -fvisibility=hidden

# Sanitized objects are kept apart from the others.
comma = ,
ifdef SANITIZE
BUILD = build/sanitize-$(subst $(comma),-,$(SANITIZE))
SANITIZER = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
else ifdef COVERAGE
BUILD = build/coverage
SANITIZER = --coverage -fprofile-update=atomic
else
BUILD = build
endif

Q = $(if $(V),,@)
say = $(if $(V),,@echo '$(1) $@')

ALL_CFLAGS = -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -pthread $(SANITIZER) -Ireplicator -I$(BUILD) -MMD -MP
# Asked once, when they are first needed: `deps` may have to install them.
once = $(eval $(1) := $(shell $(2)))$($(1))
OPTIONAL = $(call once,OPTIONAL,for package in $(OPTIONAL_PACKAGES); do pkg-config --exists $$package && echo $$package; done)
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,pkg-config --cflags $(PACKAGES) $(OPTIONAL))
PACKAGE_LIBS = $(call once,PACKAGE_LIBS,pkg-config --libs $(PACKAGES) $(OPTIONAL))
TEST_CFLAGS = $(call once,TEST_CFLAGS,pkg-config --cflags $(TEST_PACKAGES))
# cr_assert(a > b) puts an int into a bit-field.
# They are compiled more often than they run.
ALL_TEST_CFLAGS = $(TEST_CFLAGS) -O0 -Itests/support -Wno-conversion
TEST_LIBS = $(call once,TEST_LIBS,pkg-config --libs $(TEST_PACKAGES))

SOURCES = $(wildcard replicator/*.c replicator/*/*.c)
# Those of schema/ are for psql as well.
QUERIES = $(sort $(wildcard replicator/*/sql/*.sql)) schema/install_lock.sql schema/roles.sql \
  schema/check_owner.sql schema/check_published.sql schema/check_dependents.sql schema/drop_roles.sql
SCHEMA = $(wildcard schema/*.sql schema/*/*.sql schema/*/*/*.sql triggers/*.sql)
# Below one another as they are here, so that their links lead somewhere.
DOCUMENTS = README.md $(wildcard replicator/README.md schema/README.md triggers/README.md deploy/*.md) \
  $(wildcard deploy/way-of-a-change.svg deploy/console.png deploy/prometheus/alerts.yml deploy/grafana/*.json)
PAGES = $(wildcard replicator/monitor/page/*)
EMBEDDED = $(BUILD)/queries $(BUILD)/schema_files $(BUILD)/pages
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o) $(EMBEDDED:=.o)
UNIT_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/*/*.c))
INTEGRATION_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/integration/*/*.c tests/support/*.c))
TESTS = $(if $(UNIT_OBJECTS),$(BUILD)/test-unit) $(if $(INTEGRATION_OBJECTS),$(BUILD)/test-integration) \
  $(BUILD)/chaos $(BUILD)/chaos-check

all: $(BUILD)/rowrelay

$(BUILD)/rowrelay: $(OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS)

$(BUILD)/test-unit: $(UNIT_OBJECTS) $(filter-out %/main.o,$(OBJECTS))
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS) $(TEST_LIBS)

# Programs of their own, without Criterion.
CHAOS = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/chaos/*.c))
CHECKING = $(addprefix $(BUILD)/tests/chaos/,check.o history.o)
$(BUILD)/chaos: $(filter-out $(CHECKING),$(CHAOS))
$(BUILD)/chaos-check: $(CHECKING)
$(BUILD)/chaos $(BUILD)/chaos-check:
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS)

# The program with calls that can be made to fail.
FAULTS = tests/faults
$(BUILD)/rowrelay-faults: $(OBJECTS) $(BUILD)/$(FAULTS)/calls.o $(FAULTS)/wrapped.sed
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $$(sed -nEf $(FAULTS)/wrapped.sed $(FAULTS)/calls.c) $(PACKAGE_LIBS)

$(BUILD)/faults-receiver: $(BUILD)/$(FAULTS)/receiver.o
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS)

# A harness may include a file of the program, to reach what is static there.
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz-%,$(filter-out %/driver.c,$(wildcard tests/fuzz/*.c)))
FUZZ_MAIN = $(BUILD)/tests/fuzz/driver.o
$(FUZZERS): $(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(filter %.o,$(FUZZ_MAIN)) $(filter-out %/main.o,$(OBJECTS))
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--allow-multiple-definition -o $@ $^ $(filter -%,$(FUZZ_MAIN)) $(PACKAGE_LIBS)

$(BUILD)/test-integration: $(INTEGRATION_OBJECTS) $(filter-out %/main.o,$(OBJECTS))
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS) $(TEST_LIBS)

# Which optional libraries are here, as HAVE_RDKAFKA. What depends on it is compiled again when that changes.
OPTIONAL_HEADER = $(BUILD)/common/optional.h
$(OPTIONAL_HEADER): always
	@mkdir -p $(@D)
	@for package in $(OPTIONAL_PACKAGES); do \
	  case ' $(OPTIONAL) ' in *" $$package "*) have=1 ;; *) have=0 ;; esac; \
	  echo "#define HAVE_$$(echo $$package | tr a-z A-Z) $$have"; done >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The embedded headers must be there before anything is compiled for the first time; later .d files tell.
$(BUILD)/%.o: %.c Makefile | $(EMBEDDED:=.h) $(OPTIONAL_HEADER)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(PACKAGE_CFLAGS) $(if $(filter tests/%,$<),$(ALL_TEST_CFLAGS),$(BANNED) $(HIDDEN)) -c -o $@ $<

$(EMBEDDED:=.o): %.o: %.c
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(PACKAGE_CFLAGS) -c -o $@ $<

# The directories are named too, because a file that is added or removed changes them.
$(BUILD)/queries.c $(BUILD)/queries.h &: $(QUERIES) $(wildcard replicator/*/sql) replicator/common/embed.sh
	$(call say,EMBED)
	$(Q)sh replicator/common/embed.sh queries $(BUILD)/queries $(QUERIES)

$(BUILD)/schema_files.c $(BUILD)/schema_files.h &: schema/install.sql $(SCHEMA) replicator/common/embed.sh
	$(call say,EMBED)
	$(Q)sh replicator/common/embed.sh schema $(BUILD)/schema_files schema/install.sql

$(BUILD)/pages.c $(BUILD)/pages.h &: $(PAGES) replicator/monitor/page replicator/common/embed.sh
	$(call say,EMBED)
	$(Q)sh replicator/common/embed.sh pages $(BUILD)/pages $(PAGES)

# Criterion cannot run under the thread sanitizer; threads run in the program, so that alone is built with it.
TEST_SANITIZE = $(filter-out thread,$(SANITIZE))
TEST_BUILD = $(if $(COVERAGE),$(BUILD),build)$(if $(TEST_SANITIZE),/sanitize-$(subst $(comma),-,$(TEST_SANITIZE)))

# make reads what is installed when it starts, so what `deps` has installed is seen by a second make only.
# Some tests, or those of another build, run alone. All of them: what takes seconds of lint comes first, what takes longer runs
# beside the tests, and some suites run with sanitizers. What check-all adds is in tests/check_all.sh.
CHOSEN = $(TEST)$(SUITE)$(SANITIZE)$(COVERAGE)
SANITIZERS = address,undefined
SANITIZED = build/sanitize-$(subst $(comma),-,$(SANITIZERS))
timed = @+tests/support/timed.sh $(BUILD)/clock
check: test-deps
ifeq ($(CHOSEN),)
	@mkdir -p $(BUILD) && rm -f $(BUILD)/clock
	$(timed) 'build' $(MAKE) --no-print-directory all $(filter-out $(BUILD)/test-unit,$(TESTS)) manual
	$(timed) 'build the server module' $(MAKE) --no-print-directory native-if-possible
	$(timed) 'build with sanitizers' $(MAKE) --no-print-directory all $(SANITIZED)/test-unit SANITIZE=$(SANITIZERS)
	$(timed) 'lint, but clang-tidy' env FORMATTED='$(FORMATTED)' tests/lint.sh $(BUILD)
	@MAKEFLAGS= COVER='$(COVER)' SANITIZED=$(SANITIZED) CLOCK=$(BUILD)/clock \
	  BESIDE='make -j2 tidy-changed;tests/model/check.sh --changed;tests/chaos/check_test.sh $(BUILD)/chaos-check' \
	  tests/check.sh $(TEST_BUILD) $(BUILD)/rowrelay
else
	@+$(MAKE) --no-print-directory all
	@+$(MAKE) --no-print-directory tests SANITIZE=$(TEST_SANITIZE)
	@MAKEFLAGS= TEST='$(TEST)' SUITE='$(SUITE)' SANITIZE='$(SANITIZE)' tests/check.sh $(TEST_BUILD) $(BUILD)/rowrelay
endif
check: COVER ?= quick

check-native: test-deps
	@+$(MAKE) --no-print-directory all tests native
	@MAKEFLAGS= NATIVE=1 TEST='$(TEST)' SUITE='$(SUITE)' tests/check.sh $(TEST_BUILD) $(BUILD)/rowrelay

check-all: test-deps
	@MAKEFLAGS= tests/check_all.sh

native-if-possible:
	@if [ -x '$(PG_CONFIG)' ]; then $(MAKE) --no-print-directory native; fi

check-matrix: test-deps
	@+$(MAKE) --no-print-directory all tests
	@MAKEFLAGS= TEST='$(TEST)' SUITE='$(SUITE)' tests/matrix.sh $(BUILD) $(BUILD)/rowrelay $(PAIRS)

check-houses: test-deps
	@+$(MAKE) --no-print-directory all native-if-possible
	@MAKEFLAGS= tests/houses/check.sh $(BUILD)/rowrelay $(HOUSES)

check-debian:
	@MAKEFLAGS= TEST='$(TEST)' SUITE='$(SUITE)' tests/debian.sh $(RELEASES)

tests: $(TESTS)

model: test-deps
	@tests/model/check.sh

chaos: test-deps
	@+$(MAKE) --no-print-directory all $(BUILD)/chaos $(BUILD)/chaos-check
	@MAKEFLAGS= SEED='$(SEED)' MINUTES='$(MINUTES)' FAULT='$(FAULT)' ALL='$(ALL)' JUDGE=1 PLANT='$(PLANT)' tests/chaos/chaos.sh $(BUILD) $(BUILD)/rowrelay

faults: test-deps
	@+$(MAKE) --no-print-directory all
	@+$(MAKE) --no-print-directory fault-programs SANITIZE=$(SANITIZERS)
	@MAKEFLAGS= SEED='$(SEED)' LIMIT='$(LIMIT)' SCENARIO='$(SCENARIO)' CASE='$(CASE)' \
	  $(FAULTS)/faults.sh build/sanitize-$(subst $(comma),-,$(SANITIZERS)) $(BUILD)/rowrelay

fuzz: test-deps
	@mkdir -p build
	@MAKEFLAGS= SEED='$(SEED)' HARNESS='$(HARNESS)' INPUT='$(INPUT)' tests/fuzz/fuzz.sh $(or $(SECONDS),60)

fault-programs: $(BUILD)/rowrelay-faults $(BUILD)/faults-receiver

demo: deps
	@+$(MAKE) --no-print-directory all
	tests/demo/demo.sh

bench: deps
	@+$(MAKE) --no-print-directory all
	tests/bench/bench.sh

sanitize:
	@+$(MAKE) --no-print-directory check SANITIZE=$(or $(SANITIZE),address$(comma)undefined)

coverage:
	@rm -rf build/coverage
	@+$(MAKE) --no-print-directory check COVERAGE=1
	@tests/coverage.sh build/coverage

deps:
	@tests/deps.sh

test-deps:
	@tests/deps.sh --tests

# Nothing is linked: what the libraries lack there is not found.
check-macos: $(EMBEDDED:=.c) $(OPTIONAL_HEADER)
	@tests/macos.sh $(BUILD) $(filter-out -MMD -MP,$(ALL_CFLAGS))

# What is checked in of the tables of targets and their options. A unit test says when it has to be made anew.
TARGET_SQL = schema/functions/target/target_
options: $(BUILD)/rowrelay
	$(Q)$< help --targets sql-kinds >$(BUILD)/targets.new && mv $(BUILD)/targets.new $(TARGET_SQL)kinds.sql
	$(Q)$< help --targets sql-options >$(BUILD)/targets.new && mv $(BUILD)/targets.new $(TARGET_SQL)options.sql
	$(Q)$< help --targets markdown >$(BUILD)/targets.new
	$(Q)sed -i -e '/^<!-- made by: make options -->$$/r $(BUILD)/targets.new' \
	  -e '/^<!-- made by: make options -->$$/,/^<!-- until here -->$$/ { /^<!--/!d }' replicator/README.md

# Manual pages and completions are made by the program, of the tables that its help is made of.
manual: $(BUILD)/manual/rowrelay.1
$(BUILD)/manual/rowrelay.1: $(BUILD)/rowrelay
	$(call say,MANUAL)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$< help --manual $(@D)

COMPLETIONS = $(addprefix $(BUILD)/completion/,bash zsh fish)
$(COMPLETIONS): $(BUILD)/rowrelay
	@mkdir -p $(@D)
	$(call say,COMPLETION)
	$(Q)$< help --completion $(@F) >$@

# What was configured stays; an environment that is there already may hold passwords and is not touched.
install: all manual $(COMPLETIONS)
	$(Q)install -D -m 755 $(BUILD)/rowrelay $(DESTDIR)$(PREFIX)/bin/rowrelay
	$(Q)for file in $(SCHEMA); do install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/rowrelay/$$file || exit 1; done
	$(Q)for file in $(DOCUMENTS); do install -D -m 644 $$file $(DESTDIR)$(DOCDIR)/$$file || exit 1; done
	$(Q)install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)install -m 644 $(BUILD)/manual/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)install -D -m 644 $(BUILD)/completion/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rowrelay
	$(Q)install -D -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(ZSHDIR)/_rowrelay
	$(Q)install -D -m 644 $(BUILD)/completion/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/rowrelay.fish
	$(Q)install -d $(DESTDIR)$(UNITDIR)
	$(Q)for unit in rowrelay.service rowrelay@.service; do \
	  sed 's,/usr/bin/rowrelay,$(PREFIX)/bin/rowrelay,; s,/etc/rowrelay,$(SYSCONFDIR)/rowrelay,' deploy/systemd/$$unit \
	    >$(DESTDIR)$(UNITDIR)/$$unit && chmod 644 $(DESTDIR)$(UNITDIR)/$$unit || exit 1; done
	$(Q)[ -e $(DESTDIR)$(SYSCONFDIR)/rowrelay/rowrelay.env ] || \
	  install -D -m 600 deploy/systemd/rowrelay.env $(DESTDIR)$(SYSCONFDIR)/rowrelay/rowrelay.env

uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/rowrelay
	$(Q)rm -rf $(DESTDIR)$(PREFIX)/share/rowrelay $(DESTDIR)$(DOCDIR)
	$(Q)rm -f $(DESTDIR)$(PREFIX)/share/man/man1/rowrelay.1 $(DESTDIR)$(PREFIX)/share/man/man1/rowrelay-*.1
	$(Q)rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rowrelay $(DESTDIR)$(ZSHDIR)/_rowrelay
	$(Q)rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/rowrelay.fish
	$(Q)rm -f $(DESTDIR)$(UNITDIR)/rowrelay.service $(DESTDIR)$(UNITDIR)/rowrelay@.service
	@! [ -e $(DESTDIR)$(SYSCONFDIR)/rowrelay ] || echo 'left: $(DESTDIR)$(SYSCONFDIR)/rowrelay, which may hold passwords'

NATIVE = $(BUILD)/native
# PostgreSQL's makefiles want the built-in rules.
native:
	@mkdir -p $(NATIVE)
	$(Q)MAKEFLAGS= $(MAKE) $(if $(V),,-s) --no-print-directory -C $(NATIVE) -f $(CURDIR)/triggers/native/Makefile \
	  VPATH=$(CURDIR)/triggers/native PG_CONFIG=$(PG_CONFIG)

install-native: native
	$(Q)MAKEFLAGS= $(MAKE) --no-print-directory -C $(NATIVE) -f $(CURDIR)/triggers/native/Makefile \
	  VPATH=$(CURDIR)/triggers/native PG_CONFIG=$(PG_CONFIG) install

deb:
	@deploy/deb.sh $(BUILD)

rpm: all manual $(COMPLETIONS)
	@MAKEFLAGS= MAKELEVEL= deploy/rpm.sh $(BUILD)

check-package:
	@tests/package.sh $(BUILD)

# What needs seconds comes first. A file is tidied again when it, or a header that it includes, has changed.
FORMATTED = $(SOURCES) $(wildcard replicator/*.h replicator/*/*.h tests/*/*.[ch] tests/*/*/*.[ch])
lint: $(BUILD)/rowrelay manual
	@FORMATTED='$(FORMATTED)' tests/lint.sh $(BUILD)
	@+$(MAKE) --no-print-directory tidy

TIDY_HERE = clang-tidy --version 2>/dev/null | grep -q 'version 14\.'
TIDY = $(if $(shell $(TIDY_HERE) && echo yes),clang-tidy --quiet,@: skipped)
tidy: $(SOURCES:%.c=$(BUILD)/%.tidied)
	@$(TIDY_HERE) || echo 'clang-tidy 14 is not installed: skipped'
# Its analyzer takes nine tenths of the time: `make tidy` runs that, too.
CHANGED = $(call once,CHANGED,tests/support/changed.sh)
tidy-changed:
	@+$(MAKE) --no-print-directory $(CHANGED:%.c=$(BUILD)/%.tidied-quickly)

define tidied
$(call say,TIDY)
$(Q)$(TIDY) $(1) $< -- $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(PACKAGE_CFLAGS)
@touch $@
endef
$(BUILD)/%.tidied: %.c $(BUILD)/%.o .clang-tidy
	$(call tidied)
$(BUILD)/%.tidied-quickly: %.c $(BUILD)/%.o .clang-tidy
	$(call tidied,--checks=-clang-analyzer-*)

format:
	clang-format -i $(FORMATTED)

clean:
	rm -rf build

.PHONY: always all native native-if-possible install-native check check-native check-all check-houses check-macos coverage check-matrix check-debian lint tests model chaos faults fault-programs fuzz demo bench sanitize deps test-deps options manual install uninstall deb rpm check-package tidy tidy-changed format clean
.DELETE_ON_ERROR:

-include $(wildcard $(OBJECTS:.o=.d) $(BUILD)/$(FAULTS)/*.d $(BUILD)/tests/fuzz/*.d $(UNIT_OBJECTS:.o=.d) $(INTEGRATION_OBJECTS:.o=.d) $(CHAOS:.o=.d))
