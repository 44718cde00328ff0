# Completion of tas-mcp for bash. To use it: source <(tas-mcp completions bash)
_tas_mcp() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <(TAS_COMPLETE=bash "${1/#\~/$HOME}" -- "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
    # A directory is continued, so no space follows it.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
# Bash before 4.4 cannot keep the order of the candidates.
complete -o bashdefault -o nosort -F _tas_mcp tas-mcp 2>/dev/null || complete -o bashdefault -F _tas_mcp tas-mcp
