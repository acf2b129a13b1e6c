#compdef lochan
# Completion of lochan for zsh; lochan itself says what fits.
_lochan() {
    local found
    found=$(lochan complete -- "${(j: :)words[2,CURRENT-1]} $PREFIX" 2>/dev/null)
    case $? in
        0) [[ -n $found ]] && compadd -- "${(f)found}" ;;
        10) _files ;;
    esac
}
if [[ $funcstack[1] == _lochan ]]; then _lochan "$@"; else compdef _lochan lochan; fi
