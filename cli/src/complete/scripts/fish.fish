# Completion of lochan for fish; lochan itself says what fits.
function __lochan_complete
    set -l line (string replace -r '^\s*\S+\s' '' -- (commandline -cp))
    set -l found (lochan complete -- "$line" 2>/dev/null)
    switch $status
        case 0
            printf '%s\n' $found
        case 10
            __fish_complete_path (commandline -ct)
    end
end
complete -c lochan -f -a '(__lochan_complete)'
