-- Purpose:    reads what a document is built from: TABLE:COL, TABLE:COL(columns...), TABLE:QUERY or TABLE(columns...):QUERY
-- Parameters: the text
-- Result:     relation; number of the column that holds the document's key, or the query that finds the keys of rows in
--             "changed"; numbers of the columns that the document uses, null: all
-- Errors:     it cannot be read; no such table or column
create or replace function rowrelay.document_source_parts(source text, out relation regclass, out key_column smallint,
                                                          out keys_query text, out only_columns smallint[])
language plpgsql stable as $$
declare
  part      text[] := regexp_match(source, E'^\\s*((?:"(?:[^"]|"")+"|[^":(\\s])+)\\s*(?:\\(([^()]*)\\))?\\s*:\\s*(.*?)\\s*;?\\s*$');
  col       text[];
  columns   text := part[2];
  leads_to  text := part[3];
begin
  if part is null or leads_to = '' then
    raise exception '"%" does not say how a row leads to documents', source
      using errcode = 'invalid_parameter_value',
            hint = 'Write TABLE:COLUMN, or TABLE:QUERY with a query that gives the documents'' keys for the rows of "changed".';
  end if;
  relation := to_regclass(part[1]);
  if relation is null then
    raise exception 'table % does not exist', part[1] using errcode = 'undefined_table',
      hint = format('It is named in "%s".', source);
  end if;
  if leads_to ~* E'^(select|with|values|table)\\M|^\\(' then
    keys_query := leads_to;
  else
    col := regexp_match(leads_to, E'^((?:"(?:[^"]|"")+"|[^"()\\s])+)\\s*(?:\\(([^()]*)\\))?$');
    if col is null then
      raise exception '"%" is neither a column nor a query', leads_to using errcode = 'invalid_parameter_value',
        hint = format('It is what leads from a row of %s to documents.', relation);
    end if;
    columns := coalesce(col[2], columns);
    key_column := (rowrelay.attribute_numbers(relation, parse_ident(col[1]), 'key of the document'))[1];
  end if;
  if columns is not null then
    only_columns := rowrelay.attribute_numbers(relation,
      array(select (parse_ident(c))[1] from unnest(string_to_array(columns, ',')) as c), 'columns of the document');
  end if;
end
$$;
