-- Has documents of $1 built anew: those with keys $2, or all.
select rowrelay.rebuild($1::text, $2::text[]);
