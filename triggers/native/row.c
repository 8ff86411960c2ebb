#include "row.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/datetime.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"

/* Bytes of what values of one row may have together; text is six times as long in JSON at most, bits eight times. */
#define LARGE_ROW (8 * 1024 * 1024)
/* And of what its documents and arrays may have: eight bytes in them can be a number of 131,072 digits. */
#define LARGE_DOCUMENTS (8 * 1024)

bool row_read(row *row, const plan *plan, Relation relation, HeapTuple tuple) {
  row->columns = RelationGetDescr(relation);
  row->values = palloc(row->columns->natts * sizeof *row->values);
  row->nulls = palloc(row->columns->natts * sizeof *row->nulls);
  heap_deform_tuple(tuple, row->columns, row->values, row->nulls);
  for (int i = 0; i < plan->key_count; i++)
    if (row->nulls[plan->keys[i].number - 1])
      return false;
  return true;
}

/* JSON null would become SQL null. */
static bool is_json_null(Jsonb *document) {
  JsonbValue scalar;
  return JB_ROOT_IS_SCALAR(document) && JsonbExtractScalar(&document->root, &scalar) && scalar.type == jbvNull;
}

/* An escape may stand for what PostgreSQL refuses to read; the body looks at it closely. Blanks around it get lost. */
static bool survives(const char *json) {
  return strcmp(json, "null") != 0 && strstr(json, "\\u") == NULL && strchr(" \n\r\t", *json) == NULL &&
         strchr(" \n\r\t", json[strlen(json) - 1]) == NULL;
}

/* Lower bounds get lost. */
static bool begins_with_one(ArrayType *array) {
  for (int i = 0; i < ARR_NDIM(array); i++)
    if (ARR_LBOUND(array)[i] != 1)
      return false;
  return ARR_NDIM(array) <= 3;
}

/* Fetches a value that is stored elsewhere; false when JSON would not bring it back. */
static bool value_fits_json(Datum *value, form form) {
  switch (form) {
  case FORM_JSON:
    *value = CStringGetDatum(TextDatumGetCString(*value));
    return survives(DatumGetCString(*value));
  case FORM_JSONB:
    *value = JsonbPGetDatum(DatumGetJsonbP(*value));
    return !is_json_null(DatumGetJsonbP(*value));
  case FORM_ARRAY:
    *value = PointerGetDatum(DatumGetArrayTypeP(*value));
    return begins_with_one(DatumGetArrayTypeP(*value));
  default:
    return true;
  }
}

bool row_fits_json(row *row, const plan *plan) {
  Size size = 0, documents = 0;
  for (int i = 0, n = 0; i < row->columns->natts; i++) {
    Form_pg_attribute attribute = TupleDescAttr(row->columns, i);
    if (attribute->attisdropped)
      continue;
    if (!row->nulls[i] && attribute->attlen == -1) {
      form form = plan->columns[n].form;
      Size bytes = toast_raw_datum_size(row->values[i]);
      size += bytes;
      documents += form == FORM_JSONB || form == FORM_ARRAY ? bytes : 0;
      if (size > LARGE_ROW || documents > LARGE_DOCUMENTS || !value_fits_json(&row->values[i], form))
        return false;
    }
    n++;
  }
  return true;
}

bool row_has_key_of(const row *row, const struct row *other, const plan *plan) {
  for (int i = 0; i < plan->key_count; i++) {
    int n = plan->keys[i].number - 1;
    Form_pg_attribute attribute = TupleDescAttr(row->columns, n);
    if (!datumIsEqual(row->values[n], other->values[n], attribute->attbyval, attribute->attlen))
      return false;
  }
  return true;
}

static void append_json(StringInfo json, column *column, Datum value) {
  char datetime[MAXDATELEN + 1];
  char *number;
  int utc = 0;
  switch (column->form) {
  case FORM_BOOL:
    appendStringInfoString(json, DatumGetBool(value) ? "true" : "false");
    return;
  case FORM_DATETIME:
    JsonEncodeDateTime(datetime, value, column->base_type, column->base_type == TIMESTAMPTZOID ? &utc : NULL);
    appendStringInfo(json, "\"%s\"", datetime);
    return;
  case FORM_NUMBER:
    number = OutputFunctionCall(&column->output, value);
    /* NaN and the infinities are no JSON */
    if (number[strspn(number, "0123456789.eE+-")] == '\0')
      appendStringInfoString(json, number);
    else
      escape_json(json, number);
    return;
  case FORM_JSON:
    appendStringInfoString(json, DatumGetCString(value)); /* of value_fits_json() */
    return;
  case FORM_JSONB:
    appendStringInfoString(json, OutputFunctionCall(&column->output, value));
    return;
  case FORM_ARRAY:
    appendStringInfoString(json, TextDatumGetCString(DirectFunctionCall1(array_to_json, value)));
    return;
  case FORM_TEXT:
    escape_json(json, OutputFunctionCall(&column->output, value));
    return;
  }
}

static column *column_of(const plan *plan, const row *row, int number) {
  int n = 0;
  for (int i = 0; i < number - 1; i++)
    n += !TupleDescAttr(row->columns, i)->attisdropped;
  return &plan->columns[n];
}

/* Each column of the key, with what stands before the first, between two and after the last. */
static void append_key(StringInfo json, const row *row, const plan *plan, const char *first, const char *last,
                       bool named) {
  for (int i = 0; i < plan->key_count; i++) {
    int number = plan->keys[i].number;
    appendStringInfoString(json, i == 0 ? first : ", ");
    if (named) {
      escape_json(json, NameStr(plan->keys[i].name));
      appendStringInfoString(json, " : ");
    }
    append_json(json, column_of(plan, row, number), row->values[number - 1]);
  }
  appendStringInfoString(json, last);
}

static Datum text_of(StringInfo json) {
  return PointerGetDatum(cstring_to_text_with_len(json->data, json->len));
}

Datum row_key(const row *row, const plan *plan) {
  StringInfoData json;
  if (plan->key_count == 1) {
    int number = plan->keys[0].number;
    return CStringGetTextDatum(OutputFunctionCall(&column_of(plan, row, number)->output, row->values[number - 1]));
  }
  initStringInfo(&json);
  append_key(&json, row, plan, "[", "]", false);
  return text_of(&json);
}

Datum row_key_image(const row *row, const plan *plan) {
  StringInfoData json;
  initStringInfo(&json);
  append_key(&json, row, plan, "{", "}", true);
  return text_of(&json);
}

/* The types that rowrelay.native_plan() allows in a key. */
static int32 hash_of_value(const plan *plan, const row *row, int number) {
  Datum value = row->values[number - 1];
  switch (column_of(plan, row, number)->base_type) {
  case INT2OID:
    return DatumGetInt32(DirectFunctionCall1(hashint2, value));
  case INT4OID:
    return DatumGetInt32(DirectFunctionCall1(hashint4, value));
  case INT8OID:
    return DatumGetInt32(DirectFunctionCall1(hashint8, value));
  case UUIDOID:
    return DatumGetInt32(DirectFunctionCall1(uuid_hash, value));
  case TEXTOID:
  case VARCHAROID:
    return DatumGetInt32(
        DirectFunctionCall1Coll(hashtext, TupleDescAttr(row->columns, number - 1)->attcollation, value));
  default:
    elog(ERROR, "rowrelay: no hash for type %u", column_of(plan, row, number)->base_type);
  }
}

int32 row_hash(const row *row, const plan *plan) {
  StringInfoData hashes;
  if (plan->key_count == 1)
    return hash_of_value(plan, row, plan->keys[0].number);
  initStringInfo(&hashes);
  for (int i = 0; i < plan->key_count; i++)
    appendStringInfo(&hashes, "%s%d", i == 0 ? "" : ",", hash_of_value(plan, row, plan->keys[i].number));
  return DatumGetInt32(DirectFunctionCall1Coll(hashtext, DEFAULT_COLLATION_OID, CStringGetTextDatum(hashes.data)));
}

static bool append_row(StringInfo json, const row *row, const plan *plan, int most) {
  const char *separator = "{";
  for (int i = 0, n = 0; i < row->columns->natts; i++) {
    Form_pg_attribute attribute = TupleDescAttr(row->columns, i);
    if (attribute->attisdropped)
      continue;
    appendStringInfoString(json, separator);
    escape_json(json, NameStr(attribute->attname));
    appendStringInfoChar(json, ':');
    if (row->nulls[i])
      appendStringInfoString(json, "null");
    else
      append_json(json, &plan->columns[n], row->values[i]);
    if (json->len > most)
      return false;
    separator = ",";
    n++;
  }
  appendStringInfoChar(json, '}');
  return true;
}

/* Those of times do not matter, because JSON has its own form of them. */
bool row_image(const row *row, const plan *plan, int most, Datum *image) {
  StringInfoData json;
  bool is_whole = false;
  int digits = extra_float_digits, style = IntervalStyle, bytes = bytea_output;
  initStringInfo(&json);
  PG_TRY();
  {
    extra_float_digits = 1;
    IntervalStyle = INTSTYLE_POSTGRES;
    bytea_output = BYTEA_OUTPUT_HEX;
    is_whole = append_row(&json, row, plan, most);
  }
  PG_FINALLY();
  {
    extra_float_digits = digits;
    IntervalStyle = style;
    bytea_output = bytes;
  }
  PG_END_TRY();
  if (is_whole)
    *image = text_of(&json);
  return is_whole;
}
