-- Purpose:    finds the kind of a target
-- Parameters: url
-- Result:     its row of rowrelay.target_kinds(); no row: the URL is not supported
create or replace function rowrelay.target_kind(url text, out place integer, out name text, out schemes text[],
  out shown_schemes text[], out is_path boolean, out keeps_state boolean, out overwrites boolean, out defaults jsonb,
  out url_rules jsonb) returns setof record
language sql immutable as $$
  select k.* from rowrelay.target_kinds() as k
   where split_part(target_kind.url, ':', 1) = any (k.schemes) and strpos(target_kind.url, ':') > 0
$$;
