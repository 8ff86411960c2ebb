-- Purpose:    the statements of a trigger function that keep the last change of a row the last in the log, whatever nests.
--
--             PostgreSQL tells of what a statement did to rows when the statement is over. What was written while it ran, by
--             a BEFORE trigger, by a function in it, by another trigger of an earlier row, is a statement of its own that is
--             over sooner, and is told of sooner. So what we are told may be older than what is in the log. The rule is:
--             what is logged of a key is what is true of it at that moment, or is left to who has made it true.
--
--             - A row version that is no more is left out: who changed or deleted it has been told of that already, or, if
--               it was a cascade, will be. A version that nobody has changed, deleted or locked has no xmax; the others
--               (the row was locked before, or upserted) are looked for at their place, by a snapshot that sees all that
--               this transaction has done until now. What was rolled back is not, and counts for nothing.
--             - That a key is gone is left out when a row has it: who has made that has been told, or will be. It can only be
--               where this transaction has inserted into the table, or given a row another key, and PostgreSQL counts
--               that. It is not left out when the row that has the key got it by the same statement, after the key was free:
--               we will be told of that row later. The two versions have the same xmin and cmin then. A version that this
--               transaction has changed, though that was rolled back, has another number for its cmin, which may be
--               anybody's; it has an xmax, and proves nothing. (Of a row that moved to another partition we are told that
--               it was deleted, and compare what deleted it, unless this transaction had made it.) Where the key is not sure to be unique, or equal keys may
--               have different texts, or rows change lanes, it is not left out: what the row is now is logged once more.
--             - Without a key all that counts is how many rows there are of each, so it is pairs that are left out: a
--               version that is no more, and that it went. See rowrelay.note_follower().
--
--             What is left out of a key is marked by a change of which no target hears (op r, caveat left_out), because
--             what the log says of the row before is not what it was: rowrelay.undo_steps() has to know.
-- Parameters: capture; whether the row before is kept anyhow; expression for what is kept of a row that goes; expressions
--             for keys and hashes; for whether a row has another key now; whether a row may change lanes; whether documents
--             are built from the table
-- Result:     declarations; then for when there may be something of all that: guarded: statements that look; settled: what
--             is done before the change is logged; noted: and after it
create or replace function rowrelay.nesting_statements(
  capture rowrelay.capture, keeps_before boolean, key_row text, old_key text, old_hash text, rekeyed text, can_move boolean,
  has_documents boolean, caveat text, out declarations text,
  out guarded text, out settled text, out noted text)
language plpgsql stable as $$
declare
  has_key     constant boolean := cardinality(rowrelay.live_key(capture)) > 0;
  is_filtered constant boolean := capture.row_filter is not null;
  is_firm     constant boolean := has_key and rowrelay.key_is_unique(capture);
  -- the key is not told from another one by its text alone
  is_told     constant boolean := not is_firm or not capture.key_is_exact or can_move;
  marked      constant text := '{"left_out":true}';
  followed    constant text := 'new.xmax operator(pg_catalog.<>) 0';
  -- A transaction's numbers are larger than its own first one; that others' may be does no harm.
  is_own      constant text := '(pg_catalog.int8mi(old.xmin::pg_catalog.text::pg_catalog.int8,'
                               ' pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8)'
                               ' operator(pg_catalog.&) 4294967295) operator(pg_catalog.<) 2147483648';
  came_back   constant text := E'(pg_catalog.pg_stat_get_xact_tuples_inserted(tg_relid) operator(pg_catalog.>) 0'
                               ' or pg_catalog.pg_stat_get_xact_tuples_updated(tg_relid) operator(pg_catalog.>) 0'
                               '\n        or pg_catalog.current_setting(''track_counts'') operator(pg_catalog.<>) ''on'')';
  name        constant text := rowrelay.full_name(capture.relation);
  -- nothing keeps their keys apart
  has_children constant boolean := rowrelay.has_children(capture.relation);
  -- another table may have the name by now
  is_named    constant text := format('pg_catalog.to_regclass(%L)::pg_catalog.oid operator(pg_catalog.=) %s::pg_catalog.oid',
                                      rowrelay.full_name(capture.relation), capture.relation::oid);
  at_write    text; -- whether there may be something of all that
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
                                                   '\n        or tg_op operator(pg_catalog.=) ''UPDATE'' and (%s or %s)',
                                                   came_back, rekeyed, followed)
                      else came_back end;
  else
    at_write := format('%s or %s', is_own, followed);
    at_delete := is_own;
  end if;

  guarded := concat_ws(E'\n',
    -- of a row that was inserted there is no old one, and what is compared with that is null
    format(E'    if op operator(pg_catalog.<>) ''d'' and (%s)\n       or op operator(pg_catalog.=) ''d'' and (%s) then', at_write, at_delete),
    -- Each statement costs the session that runs it some 13 kB, for each table, so there are few.
    case when has_key then
    format('      rekeyed := case when %s then op operator(pg_catalog.=) ''u'' and (%s) else rowrelay.raise_altered() is null end;',
           is_named, rekeyed)
    else concat_ws(E'\n',
    format('      may_nest := case when %s then true else rowrelay.raise_altered() is null end;', is_named),
           '      is_at := new.ctid;',
           '      was_at := old.ctid;') end,
    format('      if op operator(pg_catalog.<>) ''d'' and %s and not pg_catalog.row_security_active(tg_relid) then', followed),
    case when has_key then
           -- not in what is changed for an image any more
           '        is_at := new.ctid;' end,
    -- a child that comes later has a trigger of its own, and this function is made anew before
    case when has_children or (select c.relkind = 'p' from pg_class c where c.oid = capture.relation) then
           '        is_gone := rowrelay.is_superseded(tg_relid, is_at::pg_catalog.tid);' else
    format('        is_gone := not exists (select from only %s as t where t.ctid operator(pg_catalog.=) is_at::pg_catalog.tid);', name) end,
           '      end if;',
    case when has_key then concat_ws(E'\n',
    format('      if (op operator(pg_catalog.=) ''d'' or rekeyed) and not pg_catalog.row_security_active(%s::pg_catalog.oid) then',
           capture.relation::oid),
    format('        is_back := exists (select from %s as t where %s%s);', name, rowrelay.same_key(capture, 't', 'old'),
           case when is_firm then
             format(' and (t.xmax operator(pg_catalog.=) 0'
                    ' and case when op operator(pg_catalog.=) ''d'''
                    ' then t.xmin operator(pg_catalog.=) old.xmax and t.cmin operator(pg_catalog.=) old.cmax and not %s'
                    ' else new.xmax operator(pg_catalog.=) 0 and t.xmin operator(pg_catalog.=) new.xmin'
                    ' and t.cmin operator(pg_catalog.=) new.cmin end) is not true', is_own) end),
           '      end if;',
           '      if rekeyed or is_back then',
    format('        former := %s;', old_key),
    format('        former_hash := %s;', old_hash),
    case when not keeps_before and not has_documents then
    format('        former_row := %s;', key_row) end,
    case when is_filtered then
    format('        is_back := is_back and rowrelay.is_present(%s, former);', capture.id) end,
           '      end if;',
    case when has_children then concat_ws(E'\n',
           '      if op operator(pg_catalog.=) ''i'' or rekeyed then',
    format('        is_double := exists (select from %s as t where %s and t.tableoid operator(pg_catalog.<>) tg_relid);', name,
           rowrelay.same_key(capture, 't', 'new')),
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
           -- a row that is there under another spelling of the key takes nothing from that the former one has gone
    case when capture.key_is_exact then
           '      if is_back is not true then' else
           '      if true then' end,
    format('        perform rowrelay.add_change(%s, ''d'', former, %s, former_row, null%s);', capture.id,
           case when can_move then 'null' else 'former_hash' end,
           case when keeps_before then ', null, ' || caveat end),
    case when has_documents then concat_ws(E'\n',
           -- what is left out here may be the only change that tells which documents the row has left
           '      else',
    format('        perform rowrelay.add_change(%s, ''r'', former, former_hash, former_row, null, null, %L);', capture.id, marked))
         when capture.key_is_exact then concat_ws(E'\n',
           '      else',
    format('        perform rowrelay.log_change(%s, ''r'', former, actor, db_user, null, null, %L, null, 0);', capture.id, marked)) end,
           '      end if;',
    case when is_told then concat_ws(E'\n',
           '      if is_back then',
    format('        perform rowrelay.record_state(%s, former, %s);', capture.id, case when can_move then 'null' else 'former_hash' end),
           '      end if;') end,
           '      if rekeyed is not true then',
           '        return null;',
           '      end if;',
           '      op := ''i'';',
           '      old_row := null;',
           '    end if;',
           '    if is_gone then',
    case when can_move then
    format('      perform rowrelay.record_state(%s, key, null);', capture.id) end,
    case when has_documents then concat_ws(E'\n',
           '      if op operator(pg_catalog.<>) ''i'' then',
    format('        perform rowrelay.add_change(%s, ''r'', key, hash, former_row, null, null, %L);', capture.id, marked),
           '        return null;',
           '      end if;') end,
    format('      perform rowrelay.log_change(%s, ''r'', key, actor, db_user, null, null, %L, null, 0);', capture.id, marked),
           '      return null;',
           '    end if;',
    case when has_children then concat_ws(E'\n',
           '    if is_double then',
    format('      perform rowrelay.add_change(%s, op::pg_catalog."char", key, hash, null, null, ''another inheritance child, or the table itself, has a row with its key'');', capture.id),
           '      return null;',
           '    end if;') end,
           '  end if;');
  else
    settled := concat_ws(E'\n',
           '  if is_gone and rowrelay.take_follower(tg_relid, is_at) then',
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
