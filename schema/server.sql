-- Records which server this is, so that rowrelay.skip_lost_ids() can tell a server restored from a later copy.
update rowrelay.source set server = (rowrelay.this_server()).server where server is null;
do $$ begin
  perform rowrelay.note_start();
  if not exists (select from rowrelay.migration m where m.written_by is not null) then
    perform rowrelay.note_origin();
  end if;
end $$;
