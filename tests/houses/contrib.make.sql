create schema shop;
create table shop.plain (id int4 primary key, small int2[], numbers int4[], word text, seen timestamptz,
  amount numeric, note jsonb);
create table shop.named (name public.citext primary key, other public.citext, born date);
create table shop.lost (a int2, b text);
