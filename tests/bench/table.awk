# Turns lines of "variant TAB metric TAB value" into an aligned Markdown table: a row for each variant, and for each metric
# the median of its values, the smallest and the largest of them, and how the median compares with each of `bases`.
#   head: heads the first column; bases: variants, with commas between, that the others are compared with

BEGIN { FS = "\t"; base_count = split(bases, base, ",") }

!(($1, $2) in count) {
  if (!($1 in seen)) { seen[$1]; variant[++variants] = $1 }
  if (!($2 in known)) { known[$2]; metric[++metrics] = $2 }
}
{ value[$1, $2, ++count[$1, $2]] = $3 + 0 }

END {
  for (b = 1; b <= base_count; b++) if (base[b] in seen) used[++uses] = base[b]
  cell[0, column = 1] = head
  for (m = 1; m <= metrics; m++) {
    cell[0, ++column] = metric[m]
    for (u = 1; u <= uses; u++) cell[0, ++column] = uses == 1 ? "ratio" : "× " used[u]
  }
  for (v = 1; v <= variants; v++) {
    cell[v, column = 1] = variant[v]
    for (m = 1; m <= metrics; m++) {
      cell[v, ++column] = summary(variant[v], metric[m])
      for (u = 1; u <= uses; u++) cell[v, ++column] = ratio(variant[v], used[u], metric[m])
    }
  }
  for (c = 1; c <= column; c++)
    for (r = 0; r <= variants; r++) if (width(cell[r, c]) > wide[c]) wide[c] = width(cell[r, c])
  for (r = 0; r <= variants; r++) {
    line = rule = "|"
    for (c = 1; c <= column; c++) {
      line = line " " (c == 1 ? cell[r, c] spaces(wide[c] - width(cell[r, c])) : spaces(wide[c] - width(cell[r, c])) cell[r, c]) " |"
      if (r == 0) rule = rule (c == 1 ? dashes(wide[c] + 2) : dashes(wide[c] + 1) ":") "|"
    }
    print line
    if (r == 0) print rule
  }
}

function sort_values(v, m,    n, i, j, x) {
  n = count[v, m]
  for (i = 1; i <= n; i++) {
    x = value[v, m, i]
    for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = x
  }
  return n
}

function median(v, m,    n) {
  n = sort_values(v, m)
  return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function summary(v, m,    n) {
  n = count[v, m]
  if (!n) return "–"
  if (n == 1) return number(value[v, m, 1])
  return number(median(v, m)) " (" number(sorted[1]) "–" number(sorted[n]) ")"
}

function ratio(v, b, m) {
  if (!count[v, m] || !count[b, m] || median(b, m) == 0) return "–"
  return sprintf("%.2f", median(v, m) / median(b, m))
}

function number(x,    text) {
  if (x < 10) return sprintf("%.2f", x)
  if (x < 100) return sprintf("%.1f", x)
  text = sprintf("%.0f", x)
  while (match(text, /[0-9][0-9][0-9][0-9]($|,)/))
    text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
  return text
}

# in characters, not bytes
function width(text) { gsub(/[\200-\277]/, "", text); return length(text) }
function spaces(n) { return sprintf("%*s", n, "") }
function dashes(n,    text) { text = spaces(n); gsub(/ /, "-", text); return text }
