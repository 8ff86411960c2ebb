-- Has documents of $1 built again: those with keys $2; null: all.
select rowrelay.rebuild($1::text, $2::text[]);
