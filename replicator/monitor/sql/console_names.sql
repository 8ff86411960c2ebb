-- Whether what a request to the console names is there: target $1 (null: none is named), which a document may be, and
-- table $2, that is or was captured, also by its last name or its oid where it is gone: null where there is none.
-- Gives named: is_target, relation
select $1::text is null
         or exists (select from rowrelay.target t where t.name = $1 and t.dropped_at is null) as is_target,
       (select c.relation::oid::text
          from rowrelay.capture c
         where not exists (select from rowrelay.document d where d.capture = c.id)
           and (c.relation = to_regclass($2::text) or c.relation_name in ($2, 'public.' || $2)
                or c.relation::oid::text = $2)
         order by c.relation = to_regclass($2) desc nulls last, c.id desc limit 1) as relation;
