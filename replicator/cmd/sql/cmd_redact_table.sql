-- The oid of table $1, which is or was captured; of dropped tables of that name, the latest.
select coalesce(rowrelay.table_named($1)::oid,
                (select c.relation::oid from rowrelay.capture c where c.relation_name in ($1, 'public.' || $1)
                  order by c.id desc limit 1))
 where rowrelay.table_named($1) is not null
    or exists (select from rowrelay.capture c where c.relation_name in ($1, 'public.' || $1));
