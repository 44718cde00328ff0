#compdef tas-mcp
# Completion of tas-mcp for zsh. To use it: source <(tas-mcp completions zsh), after compinit.
_tas_mcp() {
    local -a candidates directories others
    local candidate
    candidates=("${(@f)$("${(Q)words[1]/#\~/$HOME}" complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    for candidate in $candidates; do
        # A directory is continued, so no space follows it.
        if [[ $candidate == */ ]]; then
            directories+=("${candidate%/}")
        else
            others+=("$candidate")
        fi
    done
    (( $#directories )) && _describe -V 'directory' directories -S '/' -r '/'
    (( $#others )) && _describe -V 'value' others
}
if [[ ${funcstack[1]} == _tas-mcp ]]; then
    _tas_mcp "$@"
else
    compdef _tas_mcp tas-mcp
fi
