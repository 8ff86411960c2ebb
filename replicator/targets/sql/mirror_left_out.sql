-- What the mirror that this session has created last was created without, because its server did not accept it. It is
-- told once.
-- Gives left_out: what, reason
select l.what, l.reason
  from (select current_setting('rowrelay.left_out', true) as parts, set_config('rowrelay.left_out', '', false) offset 0)
    as known
  cross join json_to_recordset(nullif(known.parts, '')::json) as l(what text, reason text);
