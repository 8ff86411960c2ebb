-- Purpose:    creates the partitions of rowrelay.change_key, one for each month of which rowrelay.change has a day.
--             Does not block readers. Who calls it while another session makes one waits for that session's commit.
-- Result:     number of partitions created
create or replace function rowrelay.key_partitions() returns integer
language plpgsql as $$
declare
  month     date;
  partition text;
  made      integer := 0;
begin
  for month in
    select distinct date_trunc('month', p.day)::date from rowrelay.partition_days() p
  loop
    partition := 'change_key_' || to_char(month, 'YYYYMM');
    continue when to_regclass('rowrelay.' || partition) is not null;
    -- which attaching it takes too; who waited for it sees what the other session made
    lock table only rowrelay.change_key in share update exclusive mode;
    continue when to_regclass('rowrelay.' || partition) is not null;
    perform rowrelay.add_partition('change_key', partition, month, (month + interval '1 month')::date);
    made := made + 1;
  end loop;
  return made;
end
$$;
