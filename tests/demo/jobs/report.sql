-- What the source says about the run, as name=value for demo.sh. A change counts from when its table had a route.
with change as (
  select c.* from rowrelay.change c join rowrelay.route r on r.capture = c.capture where c.id > r.from_id
), captured as (
  select count(*) as changes, count(distinct txid) as transactions from change
), delivered as (
  select change_id, count(*) as times from rowrelay.receipt, unnest(change_ids) change_id group by 1
), settled as (
  select sum(times) as changes, count(*) filter (where times > 1) as twice from delivered
), unsettled as (
  select count(*) as changes from change c where not exists (select from delivered d where d.change_id = c.id)
), best as (
  select max(changes) as changes
    from (select sum(cardinality(change_ids)) as changes from rowrelay.receipt group by date_trunc('second', settled_at)) s
), run as (
  select count(*) as batches, sum(refused) as refused, extract(epoch from max(settled_at) - min(claimed_at)) as seconds
    from rowrelay.receipt
)
select format('captured=%s transactions=%s delivered=%s twice=%s unsettled=%s best=%s average=%s batches=%s refused=%s',
              captured.changes, transactions, settled.changes, twice, unsettled.changes, best.changes,
              round(settled.changes / seconds), batches, refused)
  from captured, settled, unsettled, best, run;
