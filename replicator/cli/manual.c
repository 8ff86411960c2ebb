#include "cli/manual.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/version.h"

#define LONGEST_PAGE_NAME 80

/* The name of a command's page: "rowrelay-target-add". */
static const char *page_name(const struct command *command, char name[LONGEST_PAGE_NAME]) {
  int length = snprintf(name, LONGEST_PAGE_NAME, "rowrelay%s%s", command != NULL ? "-" : "",
                        command != NULL ? command->name : "");
  for (int i = 0; i < length && i < LONGEST_PAGE_NAME; i++)
    if (name[i] == ' ')
      name[i] = '-';
  return name;
}

/* Prints plain text, and escapes what troff would take for a request. */
static void print_text(FILE *stream, const char *text, size_t length) {
  bool at_start = true;
  for (size_t i = 0; i < length; i++) {
    if (at_start && (text[i] == '.' || text[i] == '\''))
      fputs("\\&", stream);
    at_start = text[i] == '\n';
    if (text[i] == '\\')
      fputs("\\e", stream);
    else if (text[i] == '-')
      fputs("\\-", stream); /* a dash that can be copied, not a hyphen */
    else if (text[i] == '~')
      fputs("\\(ti", stream);
    else if (text[i] == '\'')
      fputs("\\(aq", stream);
    else
      fputc(text[i], stream);
  }
}

static void print_string(FILE *stream, const char *text) {
  print_text(stream, text, strlen(text));
}

/* Prints text with font macro `.B` or such before it, as a line of its own. */
static void print_in(FILE *stream, const char *macro, const char *text) {
  fprintf(stream, ".%s \"", macro);
  for (; *text != '\0'; text++)
    if (*text == '"')
      fputs("\\(dq", stream);
    else
      print_text(stream, text, 1);
  fputs("\"\n", stream);
}

/* Lines that are indented are shown as they are; others are filled. An empty line ends a paragraph. */
static void print_notes(FILE *stream, const char *notes) {
  bool literal = false;
  bool ended = false; /* a paragraph */
  while (*notes != '\0') {
    size_t length = strcspn(notes, "\n");
    bool indented = *notes == ' ';
    if (literal && !indented)
      fputs(".fi\n", stream);
    if (indented != literal)
      ended = true;
    if (length > 0) {
      fputs(ended ? ".PP\n" : "", stream);
      fputs(indented && !literal ? ".nf\n" : "", stream);
      print_text(stream, notes, length);
      fputc('\n', stream);
    }
    ended = length == 0;
    literal = indented;
    notes += length + (notes[length] == '\n');
  }
  if (literal)
    fputs(".fi\n", stream);
}

static void print_options(FILE *stream, const struct option *table) {
  for (const struct option *option = table; option->name != NULL; option++) {
    fputs(".TP\n", stream);
    if (option->letter != '\0')
      fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stream);
    print_string(stream, option->name);
    fputs("\\fR", stream);
    if (option->value != NULL) {
      fputs(option->implied != NULL ? " [\\fI" : " \\fI", stream);
      print_string(stream, option->value);
      fputs(option->implied != NULL ? "\\fR]" : "\\fR", stream);
    }
    fputc('\n', stream);
    print_string(stream, option->help);
    if (option->initial != NULL) {
      fputs(" (default ", stream);
      print_string(stream, option->initial);
      fputc(')', stream);
    }
    fprintf(stream, "%s%s\n", option->required ? " (required)" : "", option->repeatable ? " (may be repeated)" : "");
  }
}

static void print_reference(FILE *stream, const struct command *command, const char *behind) {
  char name[LONGEST_PAGE_NAME];
  fputs(".BR ", stream);
  print_string(stream, page_name(command, name));
  fprintf(stream, " (1)%s\n", behind);
}

static void print_head(FILE *stream, const struct command *command) {
  char name[LONGEST_PAGE_NAME];
  char title[LONGEST_PAGE_NAME];
  page_name(command, name);
  for (size_t i = 0; i <= strlen(name); i++)
    title[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
  fputs(".TH ", stream);
  print_string(stream, title);
  fputs(" 1 \"\" \"rowrelay " ROWRELAY_VERSION "\" \"rowrelay manual\"\n"
        ".nh\n.ad l\n"
        ".SH NAME\n",
        stream);
  print_string(stream, name);
}

static void print_command(FILE *stream, const struct command *command) {
  print_head(stream, command);
  fputs(" \\- ", stream);
  print_string(stream, command->summary);
  fputs("\n.SH SYNOPSIS\n", stream);
  char synopsis[LONGEST_PAGE_NAME];
  snprintf(synopsis, sizeof synopsis, "rowrelay %s", command->name);
  print_in(stream, "B", synopsis);
  if (command->arguments[0] != '\0')
    print_in(stream, "I", command->arguments);
  fputs("[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n", stream);
  struct buffer notes;
  buffer_init(&notes, COMMAND_NOTES_LIMIT);
  command_add_notes(command, &notes);
  if (notes.length == 0) {
    print_string(stream, command->summary);
    fputs(".\n", stream);
  } else {
    print_notes(stream, notes.data);
  }
  buffer_release(&notes);
  if (command->options->name != NULL) {
    fputs(".SH OPTIONS\n", stream);
    print_options(stream, command->options);
  }
  fputs(".SH OPTIONS OF EVERY COMMAND\n", stream);
  print_options(stream, SHARED_OPTIONS);
  if (command->examples != NULL) {
    fputs(".SH EXAMPLES\n.nf\n", stream);
    print_string(stream, command->examples);
    fputs(".fi\n", stream);
  }
  fputs(".SH SEE ALSO\n", stream);
  print_reference(stream, NULL, "");
}

static void print_program(FILE *stream) {
  print_head(stream, NULL);
  fputs(" \\- copy every change of PostgreSQL tables to other systems\n"
        ".SH SYNOPSIS\n"
        ".B rowrelay\n[\\fB\\-d\\fR \\fICONNINFO\\fR]\n.I COMMAND\n[\\fIARGUMENT\\fR]... [\\fIOPTION\\fR]...\n"
        ".SH DESCRIPTION\n",
        stream);
  print_string(stream, PROGRAM_PURPOSE);
  fputs("\nTriggers put each change into a queue, inside the writer\\(aqs own transaction; any number of\n"
        ".B rowrelay run\n"
        "processes take changes from there, push them to a target, and commit.\n"
        "What was captured stays: it is the history of the tables.\n"
        ".SH COMMANDS\n",
        stream);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    fputs(".TP\n", stream);
    print_reference(stream, COMMANDS[i], "");
    print_string(stream, COMMANDS[i]->summary);
    fputc('\n', stream);
  }
  fputs(".SH OPTIONS OF EVERY COMMAND\n", stream);
  print_options(stream, SHARED_OPTIONS);
  fputs(".SH NOTES\n", stream);
  print_string(stream, PROGRAM_NOTES);
  fputs(
      ".SH ENVIRONMENT\n"
      ".TP\n.B PGHOST\\fR, \\fBPGDATABASE\\fR, \\fBPGUSER\\fR, \\fBPGPASSFILE\\fR, \\fBPGSERVICE\\fR and the like\n"
      "connection to the source, as for\n.BR psql (1)\n"
      ".TP\n.I NAME\n"
      "value of ${\\fINAME\\fR} in a target\\(aqs URL, header or secret; read by the process that delivers\n"
      ".TP\n.B ROWRELAY_CONSOLE_TOKEN\ntoken for actions in the console of\n.B rowrelay run --listen\\fR:\n"
      "retry, skip, pause, resume, replay, verify; without it and the next the console is read-only\n"
      ".TP\n.B ROWRELAY_CONSOLE_TOKENS\n"
      "file of those who may act in the console;\n"
      "each line is a name, the SHA-256 of a token in hexadecimal digits (or \\-), and rights:\n"
      "all, or some of pause, retry, skip, replay, verify and repair with commas between them\n"
      ".TP\n.B ROWRELAY_CONSOLE_USER_HEADER\n"
      "header in which a proxy gives the name of who acts, which is believed\n"
      ".TP\n.B ROWRELAY_CONSOLE_HOST\n"
      "host names, separated by commas, that the console serves besides IP addresses\n"
      "and this machine\\(aqs own name\n"
      ".TP\n.B ROWRELAY_CHANGES_TOKENS\n"
      "file of those who may listen to /changes of\n.B rowrelay run --listen\\fR;\n"
      "each line is a name, the SHA-256 of a token in hexadecimal digits, and a role of the source\n"
      ".TP\n.B OTEL_EXPORTER_OTLP_ENDPOINT\n"
      "collector of OpenTelemetry, such as http://127.0.0.1:4318, that\n.B rowrelay run\nsends metrics and traces to,\n"
      "by OTLP over HTTP in JSON; with OTEL_EXPORTER_OTLP_HEADERS, OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME\n"
      ".TP\n.B NO_COLOR\nif set, no colors on a terminal\n"
      ".TP\n.B PAGER\npager for\n.B rowrelay log\non a terminal\n"
      ".SH FILES\n"
      ".TP\n.I /etc/rowrelay/rowrelay.env\\fR, \\fI/etc/rowrelay/\\fRNAME\\fI.env\n"
      "environment of the systemd units\n.I rowrelay.service\nand\n.I rowrelay@\\fRNAME\\fI.service\n"
      ".SH SEE ALSO\n.BR psql (1)\n",
      stream);
}

void manual_print(FILE *stream, const struct command *command) {
  if (command != NULL)
    print_command(stream, command);
  else
    print_program(stream);
}

static bool write_page(const char *directory, const struct command *command, struct error *error) {
  char name[LONGEST_PAGE_NAME];
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.1", directory, page_name(command, name));
  FILE *stream = fopen(path, "w");
  if (stream == NULL)
    return error_set(error, FAILURE_FATAL, "could not write \"%s\": %s", path, strerror(errno));
  manual_print(stream, command);
  bool ok = ferror(stream) == 0;
  if (fclose(stream) != 0 || !ok)
    return error_set(error, FAILURE_FATAL, "could not write \"%s\": %s", path, strerror(errno));
  return true;
}

bool manual_write(const char *directory, struct error *error) {
  if (!write_page(directory, NULL, error))
    return false;
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (!write_page(directory, COMMANDS[i], error))
      return false;
  return true;
}
