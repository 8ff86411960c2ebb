-- The tables that have or had name $1 and are or were captured, as an array of oids. It fails if there is none.
select array(select c.relation::oid from rowrelay.capture c where c.id = any (rowrelay.captures_named($1::text)));
