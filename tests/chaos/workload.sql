-- What the writers of a run write to, and how. All tables have the same columns: k, the key; n, which grows with each
-- write of the key; v, what was written. Each write also notes in work.truth what it has done, in the same transaction:
-- that is the history that the checker believes. A writer locks the key's counter first, so n is the order in which
-- writes of a key are committed. Nothing here knows of rowrelay.
create schema work;

create table work.counter (tab text, k text, n bigint not null default 0, primary key (tab, k));

-- what may have come twice, because the source was restored from a dump: see restore.c
create table work.doubtful (target text, tab text, k text, id bigint);

-- op: i(nsert), u(pdate), d(elete), t(runcate); mark: the n that an image of the change shows: the old row's for d;
-- optional: the row was written again by a trigger before the statement had ended, so nobody need ever see it
create table work.truth (
  tab text, k text, n bigint, op "char" not null, mark bigint not null, token text not null,
  optional boolean not null default false, primary key (tab, k, n));

-- list: each write appends its token, so a row's value tells which writes it has seen
create table work.list (k int primary key, n bigint not null, v text not null, g int not null);
-- bank: transfers; the sum of v never changes
create table work.bank (k int primary key, n bigint not null, v bigint not null);
-- churn: inserts, deletes, inserts again, keys that change, truncates, columns that come and go
create table work.churn (k int primary key, n bigint not null, v text not null);
-- nest: triggers write to the same table, to the same row and to a neighbour's
create table work.nest (k int primary key, n bigint not null, v text not null);
-- ledger: has no key; a token is written once, and deleted once
create table work.ledger (k text, n bigint not null, v text not null);
-- team: root of a document of the list's rows with the same g
create table work.team (g int primary key, name text not null);
-- spare: captured and released again and again
create table work.spare (k int primary key, n bigint not null, v text not null);

insert into work.counter
select t, k::text from unnest('{list,bank,churn,nest,spare}'::text[]) t, generate_series(1, 200) k;

create function work.next(tab text, k text) returns bigint language sql as
  $$ update work.counter c set n = n + 1 where c.tab = $1 and c.k = $2 returning n $$;

create function work.note(tab text, k text, n bigint, op "char", mark bigint, token text) returns void language sql as
  $$ insert into work.truth values ($1, $2, $3, $4, $5, $6) $$;

-- Each of the following gives whether it has written.
create function work.append(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint := work.next('list', key::text);
begin
  update work.list l set n = next, v = v || ' ' || token where l.k = key;
  if found then
    perform work.note('list', key::text, next, 'u', next, token);
  else
    insert into work.list values (key, next, token, key % 7);
    perform work.note('list', key::text, next, 'i', next, token);
  end if;
  return true;
end $$;

create function work.move(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint := work.next('list', key::text);
begin
  update work.list l set n = next, g = (g + 1) % 7 where l.k = key;
  if found then
    perform work.note('list', key::text, next, 'u', next, token);
  end if;
  return found;
end $$;

create function work.transfer(a int, b int, amount int, token text) returns boolean language plpgsql as $$
declare
  next_a bigint := work.next('bank', a::text);
  next_b bigint := work.next('bank', b::text);
begin
  if a = b then
    return false;
  end if;
  update work.bank set n = next_a, v = v - amount where k = a;
  update work.bank set n = next_b, v = v + amount where k = b;
  perform work.note('bank', a::text, next_a, 'u', next_a, token),
          work.note('bank', b::text, next_b, 'u', next_b, token || '+');
  return true;
end $$;

create function work.put(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint;
  is_there boolean;
begin
  lock table work.churn in row exclusive mode;
  next := work.next('churn', key::text);
  is_there := exists (select from work.churn c where c.k = key);
  insert into work.churn (k, n, v) values (key, next, token) on conflict (k) do update set n = next, v = token;
  perform work.note('churn', key::text, next, case when is_there then 'u'::"char" else 'i' end, next, token);
  return true;
end $$;

create function work.remove(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint;
  mark bigint;
begin
  lock table work.churn in row exclusive mode;
  next := work.next('churn', key::text);
  delete from work.churn c where c.k = key returning c.n into mark;
  if mark is not null then
    perform work.note('churn', key::text, next, 'd', mark, token);
  end if;
  return mark is not null;
end $$;

create function work.rekey(a int, b int, token text) returns boolean language plpgsql as $$
declare
  next_a bigint;
  next_b bigint;
  mark bigint;
begin
  lock table work.churn in row exclusive mode;
  next_a := work.next('churn', a::text);
  next_b := work.next('churn', b::text);
  select c.n into mark from work.churn c where c.k = a;
  if a = b or mark is null or exists (select from work.churn c where c.k = b) then
    return false;
  end if;
  update work.churn c set k = b, n = next_b, v = token where c.k = a;
  perform work.note('churn', a::text, next_a, 'd', mark, token),
          work.note('churn', b::text, next_b, 'i', next_b, token || '+');
  return true;
end $$;

-- Belongs to every key of the table, whether it has a row or not.
create function work.empty(token text) returns boolean language plpgsql as $$
begin
  lock table work.churn in access exclusive mode;
  update work.counter set n = n + 1 where tab = 'churn';
  insert into work.truth select tab, k, n, 't', 0, token || '.' || k from work.counter where tab = 'churn';
  truncate work.churn;
  return true;
end $$;

create function work.nest(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint := work.next('nest', key::text);
begin
  insert into work.nest values (key, next, token) on conflict (k) do nothing;
  if found then
    perform work.note('nest', key::text, next, 'i', next, token);
  else
    perform work.note('nest', key::text, next, 'u', next, token);
    update work.nest set n = next, v = token where k = key;
  end if;
  return true;
end $$;

-- Writes a neighbour before the row that it belongs to.
create function work.nest_neighbour() returns trigger language plpgsql as $$
declare
  next bigint;
begin
  if pg_trigger_depth() = 1 and new.n % 2 = 0 and exists (select from work.nest where k = new.k % 50 + 1) then
    next := work.next('nest', (new.k % 50 + 1)::text);
    perform work.note('nest', (new.k % 50 + 1)::text, next, 'u', next, new.v || '~');
    update work.nest set n = next, v = new.v || '~' where k = new.k % 50 + 1;
  end if;
  return new;
end $$;
create trigger neighbour before update on work.nest for each row execute function work.nest_neighbour();

-- Writes the same row again, before any other trigger is told of the first time: " " sorts before everything.
create function work.nest_again() returns trigger language plpgsql as $$
declare
  next bigint;
begin
  if pg_trigger_depth() = 1 and new.n % 3 = 0 then
    update work.truth t set optional = true where t.tab = 'nest' and t.k = new.k::text and t.n = new.n;
    next := work.next('nest', new.k::text);
    perform work.note('nest', new.k::text, next, 'u', next, new.v || '!');
    update work.nest set n = next, v = new.v || '!' where k = new.k;
  end if;
  return null;
end $$;
create trigger " again" after update on work.nest for each row execute function work.nest_again();

create function work.enter(token text) returns boolean language plpgsql as $$
begin
  insert into work.ledger values (token, 1, 'entered');
  perform work.note('ledger', token, 1, 'i', 1, token);
  return true;
end $$;

create function work.strike(token text) returns boolean language plpgsql as $$
declare
  struck text;
begin
  delete from work.ledger where ctid = (select ctid from work.ledger for update skip locked limit 1)
  returning k into struck;
  if struck is not null then
    perform work.note('ledger', struck, 2, 'd', 1, token);
  end if;
  return struck is not null;
end $$;

create function work.spare(key int, token text) returns boolean language plpgsql as $$
declare
  next bigint := work.next('spare', key::text);
begin
  insert into work.spare (k, n, v) values (key, next, token) on conflict (k) do update set n = next, v = token;
  return false; -- it is not always captured
end $$;
