-- Purpose:    removes values from one change of the log
-- Parameters: change; the record of the redaction, which names the columns
-- Result:     the record with this change added
create or replace function rowrelay.redact_change(change rowrelay.change, redaction rowrelay.redaction)
returns rowrelay.redaction language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  salts       record;
  hash_before bytea;
  marked      text[];
begin
  select r.* into salts from rowrelay.resalt(change) as r;
  hash_before := rowrelay.change_hash(change, salts.old_salt);
  marked := array(select jsonb_array_elements_text(coalesce(change.caveat::jsonb -> 'redacted', '[]'))
                   union select unnest(redaction.columns) order by 1);
  change.old_row := case when rowrelay.has_value(change.old_row, redaction.columns)
                         then rowrelay.redacted_image(change.old_row, redaction.columns) else change.old_row end;
  change.new_row := case when rowrelay.has_value(change.new_row, redaction.columns)
                         then rowrelay.redacted_image(change.new_row, redaction.columns) else change.new_row end;
  change.caveat := coalesce(change.caveat::jsonb, '{}') || jsonb_build_object('redacted', marked);
  update rowrelay.change h
     set old_row = change.old_row, new_row = change.new_row, caveat = change.caveat
   where h.id = change.id and h.day = change.day;
  redaction.change_ids := redaction.change_ids || change.id;
  redaction.hashes_before := redaction.hashes_before || hash_before;
  redaction.hashes_after := redaction.hashes_after || case
    when hash_before is not null then rowrelay.change_hash(change, salts.new_salt) end;
  return redaction;
end
$$;
