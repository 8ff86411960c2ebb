-- Purpose:    tells with a notice for each what a mirror that is created with create_like => 'full' does not get of its
--             table
-- Parameters: capture; target: its name; mirror: name of the table there
create or replace function rowrelay.tell_left_out(capture rowrelay.capture, target text, mirror text) returns void
language plpgsql stable as $$
declare
  part record;
begin
  for part in select p.* from rowrelay.mirror_parts(capture, mirror) p where p.left_out is not null loop
    if part.hint is null then
      raise notice 'mirror of % at %: without % %: %', mirror, target, part.kind, part.name, part.left_out;
    else
      raise notice 'mirror of % at %: without % %: %', mirror, target, part.kind, part.name, part.left_out
        using hint = part.hint;
    end if;
  end loop;
end
$$;
