# Finds each UPDATE and DELETE of SQL files that has no WHERE: extension safeupdate, which some houses load, rejects it.
# A statement ends at a semicolon, at the parenthesis that closes it, or with the file; texts and parentheses
# within it are skipped.
#
#   awk -f tests/where.awk FILE…

# Whether the statement that goes on with `rest` has a WHERE of its own; `is_text`: it is within quotes.
function has_where(rest, is_text,    depth, c) {
  depth = 0
  while (rest != "") {
    c = substr(rest, 1, 1)
    if (c == quote && !is_text && match(substr(rest, 2), quote))
      rest = substr(rest, RSTART + 1)
    else if (c == "(")
      depth++
    else if (c == ")" && --depth < 0)
      return 0
    else if (c == ";" && depth == 0)
      return 0
    else if (depth == 0 && match(rest, /^where[^a-z_0-9]/))
      return 1
    rest = substr(rest, 2)
  }
  return 0
}

function look(    rest, line, before) {
  rest = text
  while (match(rest, /(^|[^a-z_.])(update (only )?[a-z_.%$0-9]+( (as )?[a-z_]+)?[ \n]+set|delete from)[ \n]/)) {
    rest = substr(rest, RSTART + RLENGTH)
    before = substr(text, 1, length(text) - length(rest))
    if (!has_where(rest, gsub(quote, quote, before) % 2)) {
      line = 1 + gsub(/\n/, "\n", text) - gsub(/\n/, "\n", rest)
      print file ":" line ": no WHERE"
      wrong = 1
    }
  }
}

BEGIN { quote = "\047" }
FNR == 1 { if (text != "") look(); text = ""; file = FILENAME }
{
  line = tolower($0)
  at = index(line, "--")
  before = substr(line, 1, at - 1)
  if (at > 0 && gsub(quote, quote, before) % 2 == 0) # else it is within quotes
    line = substr(line, 1, at - 1)
  text = text line "\n"
}
END { if (text != "") look(); exit wrong }
