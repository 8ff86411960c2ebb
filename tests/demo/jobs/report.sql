-- What the source says about the run, as name=value for demo.sh. A change counts from when its table had a route.
with change as (
  select c.*, r.target
    from rowrelay.change c
    join rowrelay.route r on r.capture = c.capture
    join rowrelay.target t on t.id = r.target and t.name = 'warehouse'
   where c.id > r.from_id
), captured as (
  select count(*) filter (where op <> 's') as changes, count(distinct txid) filter (where op <> 's') as transactions,
         count(*) filter (where op = 's') as copied
    from change
), delivered as (
  select target, change_id, count(*) as times from rowrelay.receipt, unnest(change_ids) change_id
   where outcome in ('delivered', 'copied') group by 1, 2
), mirrored as (
  select d.* from delivered d join change c on c.target = d.target and c.id = d.change_id
), settled as (
  select sum(times) as changes, count(*) filter (where times > 1) as twice from mirrored
), unsettled as (
  select count(*) as changes from change c where not exists (select from mirrored m where m.change_id = c.id)
), refreshing as (
  select count(*) as changes
    from delivered d join rowrelay.target t on t.id = d.target and t.name = 'order_search'
    join rowrelay.change c on c.id = d.change_id and c.op <> 'r'
), receipt as (
  select r.* from rowrelay.receipt r join rowrelay.target t on t.id = r.target and t.name = 'warehouse'
    where r.outcome = 'delivered'
), best as (
  select max(changes) as changes
    from (select sum(cardinality(change_ids)) as changes from receipt group by date_trunc('second', settled_at)) s
), run as (
  select count(distinct token) as batches, extract(epoch from max(settled_at) - min(claimed_at)) as seconds,
         (select coalesce(sum(cardinality(change_ids)), 0) from rowrelay.receipt where outcome = 'refused') as refused
    from receipt
)
select format('captured=%s transactions=%s copied=%s delivered=%s twice=%s unsettled=%s refreshing=%s best=%s '
              'average=%s '
              'batches=%s refused=%s',
              captured.changes, transactions, copied, settled.changes, twice, unsettled.changes, refreshing.changes,
                best.changes,
              round(settled.changes / seconds), batches, refused)
  from captured, settled, unsettled, refreshing, best, run;
