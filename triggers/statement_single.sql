-- Purpose:    returns the statements of rowrelay.statement_body() that tell of a single small row as a row trigger
--             does, which costs less than a statement for many. Whether the row is single, small and still what the
--             table has is asked in the same query, because each query costs some microseconds. Nothing can fail.
--             Columns of the table may have the names of variables, and are what these mean in a query of its rows
--             (rowrelay.statement_body): there is no variable in it.
-- Parameters: capture
-- Result:     statements that read variable may_look and set is_single to whether that was done: false or null if it
--             was not, as also where the update changed a key, a key is null, or the images may be too large for the
--             log (rowrelay.log_row)
create or replace function rowrelay.statement_single(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  name         constant text := rowrelay.full_name(relation);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  new_key      constant text := rowrelay.key_expression(relation, key_columns, 'new');
  old_key      constant text := rowrelay.key_expression(relation, key_columns, 'old');
  new_lanes    constant text := rowrelay.lanes_of_routes(
    capture.id, rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'), false);
  old_lanes    constant text := rowrelay.lanes_of_routes(
    capture.id, rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'), false);
  new_image    constant text := (rowrelay.image_expression(capture, 'new')).image;
  old_image    constant text := case when keeps_before then (rowrelay.image_expression(capture, 'old')).image end;
  old_is_small constant text := case when keeps_before then rowrelay.small_row(relation, 'old') end;
  is_last      constant text := format(
    'exists (select from only %s as t where %s and t.* operator(pg_catalog.*=) new.* offset 0)', name,
    rowrelay.same_key(capture, 't', 'new'));
  is_gone      constant text := format('not exists (select from only %s as t where %s offset 0)', name,
                                       rowrelay.same_key(capture, 't', 'old'));
  is_single    constant text := '(select pg_catalog.count(*) from (select from %s limit 2) as rowrelay_rows) '
                                'operator(pg_catalog.=) 1';
  new_has_key  constant text := rowrelay.has_key(relation, key_columns, 'new');
  old_has_key  constant text := rowrelay.has_key(relation, key_columns, 'old');
  new_is_small text;
  logged       text;
begin
  select concat_ws(' and ', rowrelay.small_row(relation, 'new'),
                   '(' || string_agg(format(w.condition, format('new.%I', w.name)), ' or ') || ') is not true')
    into new_is_small from rowrelay.awkward_columns(relation) as w;
  logged := format('select rowrelay.log_row('''', %s, %%L, %%s, %%s, %%s, %%s, %L) into is_single', capture.id,
                   keeps_before);
  return (
    with told as (
      select t.*
        from (values
          (1, 'INSERT', format(logged, 'INSERT', new_key, new_lanes, 'null', new_image), 'rowrelay_new as new',
           concat_ws(' and ', format(is_single, 'rowrelay_new'), new_has_key, nullif(new_is_small, '')), is_last),
          (2, 'UPDATE', format(logged, 'UPDATE', new_key, new_lanes, coalesce(old_image, 'null'), new_image),
           'rowrelay_new as new cross join rowrelay_old as old',
           concat_ws(' and ', format(is_single, 'rowrelay_new'), new_has_key, old_has_key, nullif(new_is_small, ''),
                     old_is_small,
                     format('(%s) is not true', rowrelay.rekeyed_expression(capture))), is_last),
          (3, 'DELETE',
           format(logged, 'DELETE', old_key, old_lanes, coalesce(old_image, rowrelay.key_row(capture)), 'null'),
           'rowrelay_old as old',
           concat_ws(' and ', format(is_single, 'rowrelay_old'), old_has_key, old_is_small), is_gone))
          as t(place, operation, statement, rows, condition, look))
    select concat_ws(E'\n',
    string_agg(concat_ws(E'\n',
    format('      %s tg_op operator(pg_catalog.=) %L then', case t.place when 1 then 'if' else 'elsif' end,
           t.operation),
           '        if may_look then',
    format('          %s', t.statement),
    format('            from %s', t.rows),
    format('           where %s and %s;', t.condition, t.look),
           '        else',
    format('          %s', t.statement),
    format('            from %s', t.rows),
    format('           where %s;', t.condition),
           '        end if;'), E'\n' order by t.place),
           '      end if;')
      from told t);
end
$$;
