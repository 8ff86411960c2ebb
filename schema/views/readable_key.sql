-- The entries of rowrelay.change_key that the caller may read; and the range of days that the table covers.
create or replace view rowrelay.readable_key with (security_barrier) as
select k.*
  from rowrelay.change_key k
 where (select rowrelay.may_read_all()) or rowrelay.may_read_change(k.change_id, k.day);
comment on view rowrelay.readable_key is 'rows of rowrelay.change_key of changes that the caller may read';

create or replace view rowrelay.key_days as
select min(k.day) as first, max(k.day) as last from rowrelay.change_key k;
comment on view rowrelay.key_days is 'first and last day in rowrelay.change_key';
