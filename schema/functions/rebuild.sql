-- Purpose:    has documents built anew: those with these keys, or all that the first of its tables has keys for. They
--             wait behind what live changes make stale.
-- Parameters: name; keys (null: all)
-- Result:     how many are queued
-- Errors:     no such document
create or replace function rowrelay.rebuild(document text, keys text[] default null) returns bigint
language plpgsql as $$
declare
  document_id integer := rowrelay.document_id(document);
  relation    regclass;
  key_text    text;
begin
  if keys is not null then
    -- as the keys' type writes them
    return rowrelay.queue_documents(document_id, format(
      'select distinct %s from unnest($1::%s[]) as k where k is not null',
      case d.key_type when 'numeric'::regtype then 'trim_scale(k)::text' else 'k::text' end, d.key_type), keys::text)
      from rowrelay.document d where d.target = document_id;
  end if;
  select c.relation, rowrelay.document_key_expression(c.relation, s.key_column, 'r') into relation, key_text
    from rowrelay.document_source s join rowrelay.capture c on c.id = s.capture
   where s.document = document_id and s.position = 1;
  return rowrelay.queue_documents(document_id, format(
    'select distinct %1$s from %2$s as r where %1$s is not null and $1::text is null', key_text, relation), null);
end
$$;
