# Completion of tas-mcp for elvish. To use it: eval (tas-mcp completions elvish | slurp)
set edit:completion:arg-completer[tas-mcp] = {|@words|
    (external $words[0]) complete elvish -- (all $words[1..]) 2>/dev/null </dev/null
}
