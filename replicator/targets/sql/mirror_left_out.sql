-- What the mirror that this session has created last was created without, because its server did not accept it; and the
-- columns that were added to it. It is told once.
-- Gives left_out: what, reason, is_usual
select coalesce(l.added, 'was created without ' || l.what) as what, l.reason, l.added is not null as is_usual
  from (select current_setting('rowrelay.left_out', true) as parts, set_config('rowrelay.left_out', '', false) offset 0)
    as known
  cross join json_to_recordset(nullif(known.parts, '')::json) as l(what text, reason text, added text);
