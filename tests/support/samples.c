#include "samples.h"

#include <criterion/criterion.h>
#include <string.h>

const struct samples SAMPLES[] = {
    {"bool", {"true", "false"}},
    {"bytea", {"", "\\x00", "\\x5c27220a00ff", "\\x7b7d"}},
    {"\"char\"", {"a", "", "\"", "\\"}},
    {"name", {"", "Name", "it's \"q\" \\"}},
    {"int2", {"-32768", "0", "32767"}},
    {"int4", {"-2147483648", "0", "2147483647"}},
    {"int8", {"-9223372036854775808", "9007199254740993", "9223372036854775807"}},
    {"int2vector", {"1 2 3", "", "-7"}},
    {"oidvector", {"1 2 3", "", "4294967295"}},
    {"oid", {"0", "4294967295"}},
    {"xid", {"0", "4294967295"}},
    {"cid", {"0", "4294967295"}},
    {"tid", {"(0,0)", "(4294967295,65535)"}},
    {"xid8", {"0", "18446744073709551615"}},
    {"oid8", {"0", "18446744073709551615"}}, /* PostgreSQL 19 has it, and regdatabase */
    {"pg_lsn", {"0/0", "FFFFFFFF/FFFFFFFF"}},
    {"text",
     {"", " ", "it's \"q\" \\ \\u0041", "null", "NULL", "{}", "\t\n\r\x01", "größe 数 🐘 e\xcc\x81", "%s %d %%"}},
    {"varchar(20)", {"", "  blanks  ", "x"}},
    {"bpchar(5)", {"", "a", "abcde", "  b"}},
    {"json",
     {"null", "\"null\"", "{}", "[]", "1.0", "{\"a\": \"\\u0000\", \"a\":  1e400, \"b\": \"\\u0001\"}", "\"\\u0000\"",
      "  [1,  {\"b\":null}]\n", "true", " null ", "\"\\\\u0000\""}},
    {"jsonb",
     {"null", "\"null\"", "{\"a\": null}", "[]", "1.00", "\"it's \\\" \\\\ \"", "1e400", "false", "\"\\\\u0000\""}},
    {"jsonpath", {"$.a[*] ? (@ > 1)", "strict $"}},
    {"xml", {"<a b=\"c\">&lt;x/&gt;</a>", "text", "", "<?xml version=\"1.0\"?><a/>"}},
    {"float4", {"NaN", "Infinity", "-Infinity", "-0", "0.1", "1.1754944e-38", "3.4028235e38", "1e-45"}},
    {"float8",
     {"NaN", "Infinity", "-Infinity", "-0", "0.1", "0.30000000000000004", "2.2250738585072014e-308",
      "1.7976931348623157e308", "5e-324", "9007199254740993"}},
    {"numeric",
     {"NaN", "0", "0.00", "-1.500", "1e131071", "1e-16383", "1234567890123456789012345.000123456789012345678"}},
    {"numeric(10,2)", {"NaN", "-1.5", "99999999.99"}},
    {"money", {"0", "-92233720368547758.08", "92233720368547758.07", "1234567.891"}},
    {"date", {"infinity", "-infinity", "2024-02-29", "0044-03-15 BC", "4713-01-01 BC", "5874897-12-31", "0001-01-01"}},
    {"time", {"00:00", "24:00", "23:59:59.999999", "12:30:00.1"}},
    {"time(0)", {"12:30:01"}},
    {"timetz", {"00:00+00", "24:00-15:59", "12:30:00.123456+05:45", "23:59:59.999999+15:59:59"}},
    {"timestamp",
     {"infinity", "-infinity", "2024-02-29 12:30:00.000001", "0044-03-15 12:00 BC", "294276-12-31 23:59:59.999999",
      "4713-01-01 00:00 BC", "0001-01-01"}},
    {"timestamptz",
     {"infinity", "-infinity", "2024-02-29 12:30:00.000001+05:45", "0044-03-15 12:00+00 BC",
      "294276-12-31 23:59:59.999999+00", "4714-11-24 00:00:00+00 BC", "1880-01-01 00:00+00"}},
    {"interval",
     {"0", "-1 days +02:00:00.000001", "178000000 years", "-178000000 years", "1 year -2 mons 3 days -04:05:06",
      "24:00", "1 day", "-00:00:00.1"}},
    {"uuid", {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
    {"inet", {"10.0.0.1", "10.0.0.1/8", "::1", "fe80::1/64", "0.0.0.0/0"}},
    {"cidr", {"10.0.0.0/8", "2001:db8::/32"}},
    {"macaddr", {"08:00:2b:01:02:03"}},
    {"macaddr8", {"08:00:2b:01:02:03:04:05"}},
    {"bit(5)", {"10101", "00000"}},
    {"varbit", {"", "1", "00000000000000000"}},
    {"point", {"(0.1,0.30000000000000004)", "(NaN,Infinity)", "(-0,1e300)"}},
    {"line", {"{1,-1,0.30000000000000004}"}},
    {"lseg", {"[(0,0),(0.1,1e-300)]"}},
    {"box", {"(1,1),(0,0.30000000000000004)"}},
    {"path", {"[(0,0),(1,1)]", "((0,0),(0.1,1),(2,0))"}},
    {"polygon", {"((0,0),(0.1,1),(2,0))"}},
    {"circle", {"<(0.1,-0),0.30000000000000004>"}},
    {"tsvector", {"", "'it''s':1A,2 'a \\\\ b'", "a b:3"}},
    {"tsquery", {"", "'it''s' & !(b | c:*A) <2> d"}},
    {"txid_snapshot", {"10:20:10,14,15", "1:1:"}},
    {"pg_snapshot", {"10:20:10,14,15"}},
    {"refcursor", {"", "it's"}},
    {"aclitem", {"postgres=arwdDxt/postgres", "=r/postgres"}},
    {"regclass", {"pg_class", "information_schema.tables", "-"}},
    {"regtype", {"integer", "timestamp with time zone", "\"char\"", "text[]"}},
    {"regproc", {"pg_catalog.now", "-"}},
    {"regprocedure", {"abs(double precision)", "-"}},
    {"regoper", {"||/"}},
    {"regoperator", {"+(integer,integer)", "!!(none,tsquery)"}},
    {"regrole", {"postgres", "pg_monitor", "-"}},
    {"regdatabase", {"postgres", "template1", "-"}},
    {"regnamespace", {"pg_catalog", "information_schema"}},
    {"regcollation", {"\"C\"", "pg_catalog.\"default\""}},
    {"regconfig", {"english", "simple"}},
    {"regdictionary", {"simple"}},
    {"int4range", {"empty", "[1,5)", "(,)", "[-2147483648,)"}},
    {"int8range", {"empty", "(,9223372036854775807)"}},
    {"numrange", {"empty", "(1.50,2.0]", "[,NaN]"}},
    {"tsrange", {"[2024-01-01 00:00:00.000001,infinity)", "(\"0044-03-15 12:00:00 BC\",)"}},
    {"tstzrange", {"[2024-01-01 00:00+05:45,2024-06-01 00:00+00]", "empty"}},
    {"daterange", {"[2024-01-01,infinity]", "(-infinity,0044-03-15 BC)"}},
    {"int4multirange", {"{}", "{[1,2),[5,)}"}},
    {"int8multirange", {"{[1,2),[5,)}"}},
    {"nummultirange", {"{[1.50,2.0],(3,)}"}},
    {"tsmultirange", {"{[2024-01-01,2024-01-02),[2025-01-01,infinity)}"}},
    {"tstzmultirange", {"{[2024-01-01 00:00+05:45,2024-06-01 00:00+00]}"}},
    {"datemultirange", {"{[2024-01-01,2024-01-02),[2025-01-01,)}"}},
    /* what people define */
    {"app.mood", {"it's ok", "\"q\" \\ ,{}"}},
    {"\"My Types\".\"Größe\"", {"L", "XXL"}},
    {"app.positive", {"1", "2147483647"}},
    {"app.document", {"null", "{\"a\": \"\\u0000\"}"}},
    {"app.texts", {"{a,NULL,\"x y\"}", "[2:3]={a,b}", "{}"}},
    {"app.pair", {"(,)", "(1,\"it's \"\"q\"\" \\\\ ,\")", "(-5,)"}},
    {"app.nested",
     {"(\"(1,a)\",\"{\"\"(2,b)\"\",NULL}\",2024-02-29,0.1,\"\\\\x00ff\",\"it's ok\")", "(,,,,,)",
      "(\"(,)\",{},-infinity,NaN,,)"}},
    {"app.deep",
     {"(null,\"[5:6]={1,2}\",\"{null,NULL}\",\"  {\"\"a\"\":  \"\"\\\\u0000\"\"} \")", "(,,,)", "(1,{},{},[])"}},
    {"app.span", {"[0.1,0.30000000000000004)", "empty"}},
    {"app.item", {"(7,seven)"}},
    {"app.holder", {"(3,\"(1,\"\"a,\"\")\",\"{\"\"(2,b)\"\",NULL}\",\"{4,5}\")", "(,,,)", "(1,,{},\"[0:0]={6}\")"}},
    {"app.held", {"(3,\"(1,x)\",{},{})", "(9,,,)"}},
    {"app.shelf", {"(\"(3,\"\"(1,x)\"\",{},{})\",\"[2,7)\")", "(,)"}},
    {"app.reach", {"[2,7)", "empty", "(,9)"}},
};
const int SAMPLE_COUNT = sizeof SAMPLES / sizeof *SAMPLES;

const char SAMPLES_TYPES[] =
    "create schema app; create schema \"My Types\"; create schema many;"
    "create type app.mood as enum ('it''s ok', '\"q\" \\ ,{}');"
    "create type \"My Types\".\"Größe\" as enum ('L', 'XXL');"
    "create domain app.positive as int check (value > 0);"
    "create domain app.document as json;"
    "create domain app.texts as text[];"
    "create type app.pair as (n int, x text);"
    "create type app.nested as (p app.pair, ps app.pair[], d date, f float8, b bytea, m app.mood);"
    "create type app.deep as (j jsonb, a int[], js jsonb[], raw json);"
    "create type app.span as range (subtype = float8, subtype_diff = float8mi);"
    "create table app.item (id int, name text);"
    /* domains in row types, over them and in ranges */
    "create domain app.couple as app.pair check ((value).n is distinct from -1);"
    "create type app.holder as (p app.positive, c app.couple, cs app.couple[], ps app.positive[]);"
    "create domain app.held as app.holder check ((value).p is distinct from 0);"
    "create type app.reach as range (subtype = app.positive);"
    "create type app.shelf as (h app.held, r app.reach)";

static bool has_type(PGconn *connection, const char *type) {
  return strcmp(ask(connection, "select to_regtype($t$%s$t$) is not null", type), "t") == 0;
}

/* A target older than the source lacks some of its built-in types; types that people defined are created there. */
bool samples_known(struct fixture *f, int i) {
  const char *type = SAMPLES[i].type;
  return has_type(f->at_source, type) &&
         (has_type(f->at_target, type) ||
          strcmp(ask(f->at_source, "select to_regtype($t$%s$t$) >= 16384::oid", type), "t") == 0);
}

void samples_make(struct fixture *f, const char *columns) {
  for (int i = 0; i < SAMPLE_COUNT; i++)
    if (samples_known(f, i))
      sql(f->at_source, "create table many.t%d (%sv %s, a %s[])", i, columns, SAMPLES[i].type, SAMPLES[i].type);
}

void samples_fill(struct fixture *f) {
  PGconn *at = f->at_source;
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    const char *type = SAMPLES[i].type;
    if (!samples_known(f, i))
      continue;
    const char *first = SAMPLES[i].values[0];
    /* PostgreSQL takes an array of these for one of more dimensions, unless it reads it. */
    bool is_array =
        ask_number(at, "select (typcategory = 'A')::int from pg_type where oid = to_regtype($t$%s$t$)", type) == 1;
    sql(at, "begin");
    for (int n = 0; SAMPLES[i].values[n] != NULL; n++) {
      sql(at, "insert into many.t%d (v) values ($v$%s$v$)", i, SAMPLES[i].values[n]);
      if (is_array)
        sql(at, "insert into many.t%d (a) values (array[$v$%s$v$, null, $v$%s$v$]::text::%s[])", i,
            SAMPLES[i].values[n], first, type);
      else
        sql(at, "insert into many.t%d (a) values (array[$v$%s$v$::%s, null, $v$%s$v$::%s])", i, SAMPLES[i].values[n],
            type, first, type);
    }
    sql(at, "insert into many.t%d (v, a) values (null, null), (null, '{}'), (null, array[null]::%s[])", i, type);
    static const char *const SHAPES[] = {"'{2,2}'", "'{2}', '{3}'", "'{1,2}', '{1,-1}'", "'{1,1,1,1,1,2}'",
                                         "'{1,1,1,1,1,2}', '{1,1,1,1,1,7}'"};
    for (size_t n = 0; n < sizeof SHAPES / sizeof *SHAPES; n++)
      sql(at, "insert into many.t%d (a) select array_fill($v$%s$v$::%s, %s)%s::%s[]", i, first,
          is_array ? "text" : type, SHAPES[n], is_array ? "::text" : "", type);
    sql(at, "update many.t%d set v = v, a = a", i);
    sql(at, "commit");
  }
}
