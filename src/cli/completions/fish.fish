# Completion of tas-mcp for fish. To use it: tas-mcp completions fish | source
function __tas_mcp_complete
    set --local words (commandline --current-process --tokenize --cut-at-cursor)
    set --local current (commandline --current-token --cut-at-cursor)
    set words[1] (string replace --regex '^~' $HOME -- $words[1])
    $words[1] complete fish -- $words[2..] "$current" 2>/dev/null </dev/null
end
complete --command tas-mcp --keep-order --no-files --arguments '(__tas_mcp_complete)'
