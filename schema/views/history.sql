-- Every change of the tables that the caller may read, and its delivery to each target.
create or replace view rowrelay.history with (security_barrier) as
select e.*
  from rowrelay.every_change e
 where e.relation = any ((select rowrelay.readable_relations())::regclass[]);
comment on view rowrelay.history is 'every captured change of tables that the caller may read: what, when, who, and '
                                    'its status for each target; deliveries: see rowrelay.delivery_of()';
