-- Which server this is, for rowrelay.skip_lost_ids(): whatever is restored from a copy that is made from now on can be told.
update rowrelay.source set server = (rowrelay.this_server()).server where server is null;
