-- Documents: the tables they are built from and the target they go to.
create or replace view rowrelay.documents as
select t.name as document,
       p.name as target,
       r.into_table,
       r.create_table,
       d.key_name as key,
       t.state,
       array(select rowrelay.document_source_text(s_c.relation, s_c.relation_name, s.key_name, s.keys_query,
                                                  s.only_columns)
               from rowrelay.document_source s
               join rowrelay.capture s_c on s_c.id = s.capture
              where s.document = d.target order by s.position) as sources,
       d.columns,
       d.query,
       d.search_path,
       (select string_agg(case when s_c.released_at is not null then format('table %s is no longer captured',
           s_c.relation_name)
                               when rowrelay.full_name(s_c.relation) is null then format('table %s is gone',
                                   s_c.relation_name)
                               else format('column %I of %s is gone', s.key_name, s_c.relation_name) end, '; '
                                 order by s.position)
          from rowrelay.document_source s join rowrelay.capture s_c on s_c.id = s.capture
         where s.document = d.target
           and (s_c.released_at is not null or rowrelay.full_name(s_c.relation) is null
                or s.key_column is not null
                   and (rowrelay.attribute_names(s_c.relation, array[s.key_column]))[1] is null)) as note,
       d.created_at,
       -- as rowrelay.add_document() has written it
       (select array_agg((parse_ident(m.parts[1]))[1] order by m.place)
          from jsonb_array_elements(d.columns) as c
         cross join lateral regexp_matches(c ->> 'type', E'coalesce\\(("(?:[^"]|"")+"|[a-z0-9_$]+), \'', 'g')
                            with ordinality as m(parts, place)
         where c ->> 'name' = 'search' and c ->> 'index' = 'gin') as search
  from rowrelay.document d
  join rowrelay.target t on t.id = d.target
  join rowrelay.target p on p.id = d.delivers_to
  join rowrelay.route r on r.capture = d.capture and r.target = d.target
 where t.dropped_at is null;
comment on view rowrelay.documents is 'documents that are built from several tables, and where they go';
