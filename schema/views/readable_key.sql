-- Where changes of keys are, as far as the caller may read them; and between which days that is said, for all.
create or replace view rowrelay.readable_key with (security_barrier) as
select k.*
  from rowrelay.change_key k
 where (select rowrelay.may_read_all()) or rowrelay.may_read_change(k.change_id, k.day);
comment on view rowrelay.readable_key is 'rows of rowrelay.change_key of changes that one may read';

create or replace view rowrelay.key_days as
select min(k.day) as first, max(k.day) as last from rowrelay.change_key k;
comment on view rowrelay.key_days is 'first and last day in rowrelay.change_key';
