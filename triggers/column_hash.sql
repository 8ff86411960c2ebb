-- Purpose:    returns SQL for the hash of one column's value; equal values have equal hashes
-- Parameters: name of the row, see rowrelay.row_value(); name, type and collation of the column
-- Result:     an expression of type integer; null when there is none for this type
create or replace function rowrelay.column_hash(row_name text, column_name name, of_type oid, of_collation oid)
returns text language plpgsql stable as $$
declare
  hashed_as constant oid := rowrelay.hashed_as(of_type);
  hashes    text;
begin
  if rowrelay.has_hash(of_type) then
    select format('%I.%I(%s)', n.nspname, p.proname, rowrelay.plain_value(row_name, column_name, of_type)) into hashes
      from pg_opclass c
      join pg_amproc ap on ap.amprocfamily = c.opcfamily and ap.amproclefttype = c.opcintype
                       and ap.amprocrighttype = c.opcintype and ap.amprocnum = 1
      join pg_proc p on p.oid = ap.amproc
      join pg_namespace n on n.oid = p.pronamespace
     where c.opcmethod = (select m.oid from pg_am m where m.amname = 'hash') and c.opcdefault
       and c.opcintype = hashed_as
       -- date, for one, uses the function of integer, which SQL cannot call with a date
       and p.proargtypes[0] = c.opcintype;
  end if;
  if hashes is null and rowrelay.text_is_exact(of_type, of_collation) then
    hashes := format('pg_catalog.hashtext(%s)', rowrelay.safe_text(rowrelay.row_value(row_name, column_name), of_type));
  end if;
  return hashes;
end
$$;
