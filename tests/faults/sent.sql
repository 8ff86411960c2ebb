-- What has come over HTTP and to the file, as psql variables hook, nd, lines and bulk name it, beside the log: prints
-- what is missing, what is not as it was captured, and keys of which the last is not the newest. No line: all is well.
\pset format unaligned
\pset tuples_only on
set client_min_messages = error;
create temp view wanted as select * from rowrelay.history where op in ('insert', 'update', 'delete', 'truncate');
create temp table line (n bigserial, target text, body json);
create temp table come (n bigserial, target text, change_id bigint, id text, op text, key text, old_row jsonb,
                        new_row jsonb);

alter table line alter target set default 'hook';
copy line (body) from :'hook' with (format csv, quote e'\x01', delimiter e'\x02');
alter table line alter target set default 'nd';
copy line (body) from :'nd' with (format csv, quote e'\x01', delimiter e'\x02');
alter table line alter target set default 'lines';
copy line (body) from :'lines' with (format csv, quote e'\x01', delimiter e'\x02');

insert into come (target, change_id, id, op, key, old_row, new_row)
select 'hook', (e #>> '{data,change_id}')::bigint, e ->> 'id', e #>> '{data,op}', e #>> '{data,key}',
       nullif((e #> '{data,before}')::jsonb, 'null'), nullif((e #> '{data,after}')::jsonb, 'null')
  from line l, lateral json_array_elements(body) with ordinality as of_batch (e, at)
 where target = 'hook' order by l.n, at;
insert into come (target, change_id, id, op, key, old_row, new_row)
select target, (body ->> 'change_id')::bigint, body ->> 'change_id', body ->> 'op', body ->> 'key',
       nullif((body -> 'old_row')::jsonb, 'null'), nullif((body -> 'new_row')::jsonb, 'null')
  from line where target <> 'hook' order by n;

select format('%s: change %s is missing', target, change_id)
  from wanted h, unnest('{hook,nd,lines}'::text[]) target
 where not exists (select from come c where c.change_id = h.change_id and c.target = target.target);
select format('%s: change %s is not as it was captured', target, c.change_id)
  from come c left join wanted h using (change_id)
 where (c.id, c.op, c.key, c.old_row, c.new_row) is distinct from
       (h.change_id::text, h.op, h.key, h.old_row::jsonb, h.new_row::jsonb);
select distinct format('%s: key %s of %s ends with an older change', c.target, h.key, h.relation)
  from come c join wanted h using (change_id)
 where h.key is not null
   and c.n = (select max(o.n) from come o join wanted oh using (change_id)
               where o.target = c.target and oh.relation = h.relation and oh.key = h.key)
   and h.change_id < (select max(other.change_id) from wanted other
                       where other.relation = h.relation and other.key = h.key);

-- Of a bulk request each action is followed by its row, unless it deletes one. The version is the change's id.
create temp table bulk (n bigserial, body json);
copy bulk (body) from :'bulk' with (format csv, quote e'\x01', delimiter e'\x02');
with action as (
  select coalesce(b.body -> 'index', b.body -> 'delete') as what, b.body -> 'index' is not null as stores,
         next.body as row
    from bulk b left join bulk next on next.n = b.n + 1
   where b.body -> 'index' is not null or b.body -> 'delete' is not null),
newest as (
  select distinct on (key) key, op, new_row, change_id from wanted
   where relation = 'shop.customers'::regclass order by key, change_id desc)
select format('find: row %s is not as change %s left it', key, change_id) from newest
 where not exists (select from action where what ->> '_id' = key and (what ->> 'version')::bigint = change_id
                      and stores = (op <> 'delete') and (not stores or "row"::jsonb = new_row::jsonb));
