-- Purpose:    returns the statements of a trigger function that keep the last change of a row the last one in the log
--             when writes nest.
--
--             PostgreSQL fires AFTER triggers when a statement has ended. Writes made while it ran (by a BEFORE
--             trigger, by a function in it, by an AFTER trigger of an earlier row) are statements of their own, which
--             end sooner and whose triggers fire sooner. So a trigger may get a change that is older than what is in
--             the log. The rule is: log for a key what is true at this moment, or leave it to the trigger of the write
--             that made it so.
--
--             - Leave out a row version that no longer exists: the write that changed or deleted it was captured
--               already or, for a cascade, will be. A version that nobody has changed, deleted or locked has no xmax;
--               the others (locked before, or upserted) are looked up by ctid, with a snapshot that sees all that this
--               transaction has done so far. Rolled-back writes do not count.
--             - Leave out the delete of a key if a row has the key again: the write that made that row was captured
--               already, or will be. This can only happen if this transaction has inserted into the table or updated a
--               key, and PostgreSQL counts that. Do not leave it out if the same statement made that row after the key
--               was free, because its trigger fires later. The two versions then have the same xmin and cmin. A
--               version that this transaction has changed, even if that was rolled back, has a combined cmin, which may
--               equal any other; it has an xmax, and proves nothing. (A row that moved to another partition arrives as
--               a delete: then compare what deleted it, unless this transaction had made it.) If the key may not be
--               unique, or equal keys may have different texts, or rows change lanes, do not leave it out, but log the
--               present row once more.
--             - Without a key only the number of equal rows counts, so changes are left out in pairs: the one that made
--               a version that no longer exists, and the one that removed it. See rowrelay.note_follower().
--
--             A change left out for a key is marked by a change that goes to no target (op r, caveat left_out), because
--             the log no longer shows what the row was before: rowrelay.undo_steps() has to know.
-- Parameters: capture; whether the image before is kept anyway; expression for what is kept of a deleted row;
--             expressions for keys and hashes, and for whether an update changed the key; whether a row may change
--             lanes; whether documents are built from the table; expression for the caveat of an image; is_apart: as
--             for rowrelay.trigger_body()
-- Result:     declarations; then, for writes that may nest: guarded: statements that check; settled: statements before
--             the change is logged; noted: statements after it
create or replace function rowrelay.nesting_statements(
  capture rowrelay.capture, keeps_before boolean, key_row text, old_key text, old_hash text, rekeyed text,
    can_move boolean,
  has_documents boolean, caveat text, is_apart boolean, out declarations text,
  out guarded text, out settled text, out noted text)
language plpgsql stable as $$
declare
  has_key     constant boolean := cardinality(rowrelay.live_key(capture)) > 0;
  is_filtered constant boolean := capture.row_filter is not null;
  is_firm     constant boolean := has_key and rowrelay.key_is_unique(capture);
  -- the text of a key does not identify one row in one lane
  is_told     constant boolean := not is_firm or not capture.key_is_exact or can_move;
  marked      constant text := '{"left_out":true}';
  -- system columns of the rows, which a function gets one by one
  new_xmax    constant text := rowrelay.system_column('new', 'xmax', is_apart);
  new_xmin    constant text := rowrelay.system_column('new', 'xmin', is_apart);
  new_cmin    constant text := rowrelay.system_column('new', 'cmin', is_apart);
  new_ctid    constant text := rowrelay.system_column('new', 'ctid', is_apart);
  old_xmax    constant text := rowrelay.system_column('old', 'xmax', is_apart);
  old_cmax    constant text := rowrelay.system_column('old', 'cmax', is_apart);
  followed    constant text := new_xmax || ' operator(pg_catalog.<>) 0';
  is_own      constant text := rowrelay.own_version(is_apart);
  came_back   constant text := 'rowrelay.may_be_back(tg_relid)';
  name        constant text := rowrelay.full_name(capture.relation);
  -- children may share keys with the table
  has_children constant boolean := rowrelay.has_children(capture.relation);
  is_partitioned constant boolean := (select c.relkind = 'p' from pg_class c where c.oid = capture.relation);
  -- it must not read these: see rowrelay.has_foreign_parts()
  has_foreign constant boolean := rowrelay.has_foreign_parts(capture.relation);
  -- it does not look if it does not see all rows; what has no foreign part may get one
  is_named    constant text := format('(%s%s or not rowrelay.sees_rows(%s))',
                                      rowrelay.name_condition(capture.relation),
                                      case when has_key and (has_children or is_partitioned) and not has_foreign then
                                        format(' and not rowrelay.has_foreign_parts(%L)', capture.relation::oid) end,
                                      capture.relation::oid);
  at_write    text; -- whether writes may nest
  at_delete   text;
begin
  declarations := concat_ws(E'\n',
           '  is_gone  pg_catalog.bool;',
    case when has_key then
           '  is_at    key%type;' else
           '  is_at    pg_catalog.tid;' end,
    case when not has_key then concat_ws(E'\n',
           '  may_nest is_gone%type;',
           '  was_at   is_at%type;') end,
    case when has_key then concat_ws(E'\n',
           '  rekeyed  is_gone%type;',
           '  is_back  is_gone%type;',
           '  former   key%type;',
           '  former_hash hash%type;',
           '  former_row  new_row%type;',
      case when has_children then
           '  is_double   is_gone%type;' end) end);

  if has_key then
    at_write := concat_ws(' or ', rekeyed, followed, case when has_children then 'op operator(pg_catalog.=) ''i''' end);
    at_delete := case when not is_firm then 'true'
                      when is_filtered then format(E'tg_op operator(pg_catalog.=) ''DELETE'' and %s'
                                                   '\n        or tg_op operator(pg_catalog.=) ''UPDATE'' and '
                                                   '((%s) is not false or %s)', -- null: the new key is
                                                   came_back, rekeyed, followed)
                      else came_back end;
  else
    at_write := format('%s or %s', is_own, followed);
    at_delete := is_own;
  end if;

  guarded := concat_ws(E'\n',
    -- an insert has no old row, so comparisons with it are null
    format(E'    if op operator(pg_catalog.<>) ''d'' and (%s)\n       or op operator(pg_catalog.=) ''d'' and (%s) '
            'then', at_write, at_delete),
    -- Each statement costs a session some 13 kB per table, so there are few.
    case when has_key then
    format('      rekeyed := case when %s then op operator(pg_catalog.=) ''u'' and (%s) else rowrelay.raise_altered() '
           'is null end;',
           is_named, rekeyed)
    else concat_ws(E'\n',
    format('      may_nest := case when %s then true else rowrelay.raise_altered() is null end;', is_named),
           '      is_at := new.ctid;',
           '      was_at := old.ctid;') end,
    format('      if op operator(pg_catalog.<>) ''d'' and %s and rowrelay.sees_rows(tg_relid) then',
           followed),
    case when has_key then
           -- system columns such as ctid are lost after an assignment to the row
    format('        is_at := %s;', new_ctid) end,
    -- a later child gets a trigger of its own, and this function is replaced before
    case when has_children or is_partitioned then
           '        is_gone := rowrelay.is_superseded(tg_relid, is_at::pg_catalog.tid, new);' else
    format('        is_gone := not exists (select from only %s as t where t.ctid operator(pg_catalog.=) '
           'is_at::pg_catalog.tid and %s);', name, rowrelay.same_row_type('t.*', 'new.*')) end,
           '      end if;',
    case when has_key then concat_ws(E'\n',
    format('      if (op operator(pg_catalog.=) ''d'' or rekeyed) and rowrelay.sees_rows(%s) then',
           capture.relation::oid),
    case when has_foreign then
    format('        is_back := rowrelay.is_present(%s, %s, tg_relid);', capture.id, old_key) else
    format('        is_back := exists (select from %s%s as t where %s and %s%s);',
           case when not has_children and not is_partitioned then 'only ' end, name,
           rowrelay.same_key(capture, 't', 'old'), rowrelay.same_row_type('t.*', 'old.*'),
           case when is_firm then
             format(' and (t.xmax operator(pg_catalog.=) 0'
                    ' and case when op operator(pg_catalog.=) ''d'''
                    ' then t.xmin operator(pg_catalog.=) %s and t.cmin operator(pg_catalog.=) %s and not %s'
                    ' else %s operator(pg_catalog.=) 0 and t.xmin operator(pg_catalog.=) %s'
                    ' and t.cmin operator(pg_catalog.=) %s end) is not true',
                    old_xmax, old_cmax, is_own, new_xmax, new_xmin, new_cmin) end) end,
           '      end if;',
           '      if rekeyed or is_back then',
    format('        former := %s;', old_key),
    format('        former_hash := %s;', old_hash),
    case when not keeps_before and not has_documents then
    format('        former_row := %s;', key_row) end,
    case when is_filtered and not has_foreign then
    format('        is_back := is_back and rowrelay.is_present(%s, former);', capture.id) end,
           '      end if;',
    case when has_children then concat_ws(E'\n',
    format('      if (op operator(pg_catalog.=) ''i'' or rekeyed) and rowrelay.sees_rows(%s) then',
           capture.relation::oid),
    -- a child may lack a unique index
    case when has_foreign then
    format('        is_double := rowrelay.shares_key(%s, key, tg_relid);', capture.id) else
    format('        is_double := exists (select from %s as t where %s and (t.tableoid operator(pg_catalog.<>) '
           'tg_relid or t.ctid operator(pg_catalog.<>) %s) and %s)%s;', name, rowrelay.same_key(capture, 't', 'new'),
           new_ctid, rowrelay.same_row_type('t.*', 'new.*'),
           -- the other one may be what this row is by now, or left out by the filter
           format(' and (%sis_gone is not true or (rowrelay.rows_with_key(%s, key) operator(pg_catalog.>) 1)'
                  ' is not false)', case when is_filtered then 'false and ' end, capture.id)) end,
           '      end if;') end,
    case when not keeps_before and has_documents then concat_ws(E'\n',
           '      if op operator(pg_catalog.<>) ''i'' then',
    format('        former_row := %s;', key_row),
           '      end if;') end) end,
           '    end if;');

  if has_key then
    settled := concat_ws(E'\n',
    format('  if rekeyed or is_back or is_gone%s then', case when has_children then ' or is_double' end),
    case when keeps_before then
           '    former_row := old_row;' end,
           '    if rekeyed or is_back then',
           -- if the key exists again under another spelling, the old spelling is still gone
    case when capture.key_is_exact then
           '      if is_back is not true then' else
           '      if true then' end,
    format('        perform rowrelay.add_change(%s, ''d'', former, %s, former_row, null%s);', capture.id,
           case when can_move then 'null' else 'former_hash' end,
           case when keeps_before then ', null, ' || caveat end),
    case when has_documents then concat_ws(E'\n',
           -- this may be the only change that shows which documents the row has left
           '      else',
    format('        perform rowrelay.add_change(%s, ''r'', former, former_hash, former_row, null, null, %L);',
           capture.id, marked))
         when capture.key_is_exact then concat_ws(E'\n',
           '      else',
    format('        perform rowrelay.log_change(%s, ''r'', former, actor, db_user, null, null, %L, null, 0);',
           capture.id, marked)) end,
           '      end if;',
    case when is_told then concat_ws(E'\n',
           '      if is_back then',
    format('        perform rowrelay.record_state(%s, former, %s);', capture.id,
           case when can_move then 'null' else 'former_hash' end),
           '      end if;') end,
           '      if rekeyed is not true then',
           '        return null;',
           '      end if;',
           '      op := ''i'';',
           '      old_row := null;',
           '    end if;',
    case when has_children then concat_ws(E'\n',
           '    if is_double then',
    format('      perform rowrelay.add_change(%s, op::pg_catalog."char", key, hash, null, null, '
           'rowrelay.shared_key());', capture.id),
           '      return null;',
           '    end if;') end,
           '    if is_gone then',
    case when can_move then
    format('      perform rowrelay.record_state(%s, key, null);', capture.id) end,
    case when has_documents then concat_ws(E'\n',
           '      if op operator(pg_catalog.<>) ''i'' then',
    format('        perform rowrelay.add_change(%s, ''r'', key, hash, former_row, null, null, %L);',
           capture.id, marked),
           '        return null;',
           '      end if;') end,
    format('      perform rowrelay.log_change(%s, ''r'', key, actor, db_user, null, null, %L, null, 0);',
           capture.id, marked),
           '      return null;',
           '    end if;',
           '  end if;');
  else
    settled := concat_ws(E'\n',
           -- It is null for most: they need not look, nor conflict in SERIALIZABLE with all who note versions.
           '  if is_gone is true and rowrelay.take_follower(tg_relid, is_at) then',
           '    if op operator(pg_catalog.=) ''i'' then',
           '      return null;',
           '    end if;',
           '    op := ''d'';',
           '    new_row := null;',
           '  end if;');
    noted := concat_ws(E'\n',
           '  if may_nest and op operator(pg_catalog.<>) ''i'' then',
           '    perform rowrelay.note_follower(tg_relid, was_at, id, day);',
           '  end if;');
  end if;
end
$$;
