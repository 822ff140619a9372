# Prints "path:line:code" for each line of C++ that is left when comments are taken out, and, to the file `literals`,
# "path:line:text" for each string literal (a raw one: for each line of it).
function literal(text) { print FILENAME ":" FNR ":" text >literals }

FNR == 1 { in_block = 0; raw_end = "" }
{
  rest = $0
  code = ""
  while (rest != "") {
    if (in_block) {
      at = index(rest, "*/")
      if (at == 0) break
      rest = substr(rest, at + 2)
      in_block = 0
      code = code " "
    } else if (raw_end != "") {
      at = index(rest, raw_end)
      if (at == 0) at = length(rest) + 1
      else raw_end = ""
      literal(substr(rest, 1, at - 1))
      code = code substr(rest, 1, at)
      rest = substr(rest, at + 1)
    } else if (!match(rest, /R"[^(" ]*\(|"|'|\/\/|\/\*/)) {
      code = code rest
      break
    } else {
      before = substr(rest, 1, RSTART - 1)
      token = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      code = code before
      if (token == "//") break
      if (token == "/*") { in_block = 1; continue }
      code = code token
      if (token ~ /^R/) {
        raw_end = ")" substr(token, 3, length(token) - 3) "\""
      } else if (token == "\"" && match(rest, /^([^"\\]|\\.)*"/)) {
        literal(substr(rest, 1, RLENGTH - 1))
        code = code substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
      } else if (token == "'" && before !~ /[0-9A-Fa-f]$/ && match(rest, /^([^'\\]|\\.)+'/)) {
        code = code substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
      }
    }
  }
  if (code ~ /[^ \t]/) print FILENAME ":" FNR ":" code
}
