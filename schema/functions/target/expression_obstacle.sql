-- Purpose:    says why an expression of a table, a default or a CHECK, cannot be used in another database. Of
--             functions that are not immutable only some are taken, by name: one that reads files or runs statements
--             would do so there.
-- Parameters: catalog and object: where the expression is, pg_attrdef or pg_constraint; relation: its table; tree: the
--             expression as the catalog has it; is_check: it must give the same on any day and in any session
-- Result:     "it uses ...", null: it can be used
create or replace function rowrelay.expression_obstacle(catalog regclass, object oid, relation oid, tree text,
                                                        is_check boolean) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  operators constant oid[] := array(
    select m[1] from regexp_matches(tree, ':opno ([0-9]+)', 'g') as m
    union
    select n
      from regexp_matches(tree, ':opnos [(]o ([0-9 ]+)[)]', 'g') as m
      cross join regexp_split_to_table(m[1], ' +') as n
     where n <> '');
  functions constant oid[] := array(
    select m[1]::oid from regexp_matches(tree, ':(?:funcid|aggfnoid|winfnoid) ([0-9]+)', 'g') as m
    union
    select o.oprcode from pg_operator o where o.oid = any (operators));
begin
  return coalesce(
    -- what is not PostgreSQL's own depends on it
    (select format('it uses %s', pg_describe_object(d.refclassid, d.refobjid, 0))
       from pg_depend d
      where d.classid = catalog and d.objid = object
        and not (d.refclassid = 'pg_class'::regclass and d.refobjid = relation)
        and not (d.refclassid = 'pg_type'::regclass
                 and exists (select from pg_type t where t.oid = d.refobjid and t.typtype in ('e', 'd')))
      order by 1 limit 1),
    (select format('it uses function %s()', min(p.proname))
       from pg_proc p
      where p.oid = any (functions) and p.provolatile <> 'i'
        and (is_check
             or p.proname !~ ('^(now|(transaction|statement|clock)_timestamp|timeofday|random|gen_random_uuid|'
                              'uuidv[47]|timezone|to_(char|date|timestamp|number)|age|date_(trunc|part)|extract|'
                              'make_timestamptz|concat|concat_ws|'
                              '(date|time|timetz|timestamp|timestamptz|interval)(_.*)?)$'))
     having count(*) > 0),
    case
      when is_check and tree ~ '[{]SQLVALUEFUNCTION ' then 'it uses the current time or user'
      when is_check and tree ~ '[{](COERCEVIAIO|JSONEXPR|XMLEXPR) '
        then 'its conversions may depend on settings of a session'
      when tree ~ ':varattno (0|-[0-9]+) ' then 'it uses the whole row or a system column'
    end);
end
$$;
