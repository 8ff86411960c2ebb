-- Measures what triggers add to an update. Tables take turns in one session, chunk by chunk in random order, so that
-- what disturbs the machine disturbs them all.

-- Two functions for a table of make_table(): one statement for each row, and one statement for all of them.
create function bench.make_loops(name text) returns void language plpgsql as $$
begin
  execute format('create function bench.single_%1$s(low bigint, high bigint) returns void language plpgsql as $f$
    begin
      for v in low..high loop update %1$I set quantity = quantity + 1 where id = v; end loop;
    end $f$', name);
  execute format('create function bench.bulk_%1$s(low bigint, high bigint) returns void language plpgsql as $f$
    begin
      update %1$I set quantity = quantity + 1 where id between low and high;
    end $f$', name);
end
$$;

-- Result: for each table the median of its chunks of 1,000 rows, in µs for each row. In the first chunks of a session
--             plans and caches are made, so they do not count. The bare table comes first.
create function bench.measure(tables text[]) returns table (name text, shape text, micros double precision)
language plpgsql set plan_cache_mode = auto as $$
declare
  started timestamptz;
begin
  create temporary table chunk (name text, shape text, number integer, micros double precision) on commit drop;
  for number in 0..19 loop
    for name, shape in
      select t, case when number % 2 = 0 then 'single' else 'bulk' end from unnest(tables) as t order by random()
    loop
      started := clock_timestamp();
      execute format('select bench.%s_%s($1, $2)', shape, name) using number * 1000 + 1, number * 1000 + 1000;
      insert into chunk values (name, shape, number, extract(epoch from clock_timestamp() - started) * 1000);
    end loop;
  end loop;
  return query
    select c.name, c.shape,
           percentile_cont(0.5) within group (order by c.micros)
      from chunk c
     where c.number >= 2
     group by c.name, c.shape
     order by array_position(tables, c.name), c.shape desc;
end
$$;

-- Result:     what one statement for all 20,000 rows of a table takes, in µs for each row
create function bench.all_at_once(name text) returns double precision language plpgsql as $$
declare
  started timestamptz := clock_timestamp();
begin
  execute format('update %I set quantity = quantity + 1', name);
  return extract(epoch from clock_timestamp() - started) * 1000000 / 20000;
end
$$;
