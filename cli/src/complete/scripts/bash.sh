# Completion of lochan for bash; lochan itself says what fits.
_lochan() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} word found
    found=$(lochan complete -- "${line#*[[:space:]]}" 2>/dev/null)
    case $? in
        0) ;;
        10) compopt -o default; return ;;
        *) return ;;
    esac
    # Bash cuts words at more than blanks (= and perhaps @): it wants only what comes behind the cut.
    word=${line##*[[:space:]]}
    local behind=${word%"$current"}
    while IFS= read -r word; do
        [[ -n $word ]] && COMPREPLY+=("$(printf %q "${word#"$behind"}")")
    done <<<"$found"
}
complete -F _lochan lochan
