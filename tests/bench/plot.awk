# Turns lines of "variant TAB metric TAB value" into an SVG: for each metric a bar for each variant, as long as the median
# of its values is beside the largest of that metric; the line at its end goes from the smallest value to the largest.
#   head: title; foot: where and when it was measured

BEGIN { FS = "\t"; left = 250; wide = 430; high = 18 }

!(($1, $2) in count) {
  if (!($1 in seen)) { seen[$1]; variant[++variants] = $1 }
  if (!($2 in known)) { known[$2]; metric[++metrics] = $2 }
}
{ value[$1, $2, ++count[$1, $2]] = $3 + 0 }

END {
  y = 30
  for (m = 1; m <= metrics; m++) {
    y += 26
    add("text", "class=\"metric\" x=\"10\" y=\"" y "\"", metric[m])
    most = 0
    for (v = 1; v <= variants; v++) for (i = 1; i <= count[variant[v], metric[m]]; i++)
      if (value[variant[v], metric[m], i] > most) most = value[variant[v], metric[m], i]
    for (v = 1; v <= variants; v++) if (count[variant[v], metric[m]]) bar(variant[v], metric[m], v)
  }
  y += 30
  add("text", "class=\"foot\" x=\"10\" y=\"" y "\"", foot)
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 " y + 12 "\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<style>text { fill: #222 } .metric, .head { font-weight: bold } .foot { fill: #777; font-size: 10px }"
  print "line { stroke: #222 } @media (prefers-color-scheme: dark) { text { fill: #ddd } line { stroke: #ddd } }</style>"
  print "<text class=\"head\" x=\"10\" y=\"20\" font-size=\"14\">" plain(head) "</text>"
  printf "%s</svg>\n", drawn
}

function add(element, attributes, text) {
  drawn = drawn "<" element " " attributes (text == "" ? "/>" : ">" plain(text) "</" element ">") "\n"
}

function bar(v, m, number,    n, middle, scale) {
  n = sort_values(v, m)
  middle = n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
  scale = most > 0 ? wide / most : 0
  y += high
  add("text", "x=\"" left - 8 "\" y=\"" y "\" text-anchor=\"end\"", v)
  add("rect", sprintf("x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"", left, y - 11, at_least_0(middle * scale), 13,
                      v ~ /rowrelay|module/ ? "#2a7ab9" : "#b0a58f"), "")
  add("line", sprintf("x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"", left + at_least_0(sorted[1] * scale),
                      left + at_least_0(sorted[n] * scale), y - 4, y - 4), "")
  add("text", sprintf("x=\"%.1f\" y=\"%d\"", left + at_least_0(sorted[n] * scale) + 8, y), number_text(middle))
}

function at_least_0(x) { return x > 0 ? x : 0 }

function sort_values(v, m,    n, i, j, x) {
  n = count[v, m]
  for (i = 1; i <= n; i++) {
    x = value[v, m, i]
    for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = x
  }
  return n
}

function number_text(x) { return x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x) }

function plain(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
