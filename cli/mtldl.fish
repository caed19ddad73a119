# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for mtldl

function __mtldl_needs_command
    test (count (commandline -opc)) -eq 1
end

# Checks if the command is one of these.
function __mtldl_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

# The first word that is a file: its tensors are offered.
function __mtldl_file
    for word in (commandline -op)[3..-1]
        set word (string replace -r '^~/' "$HOME/" -- $word)
        if test -f "$word"
            printf '%s\n' $word
            return 0
        end
    end
    return 1
end

# The number of arguments before the cursor, without options and their values.
function __mtldl_count
    set -l words (commandline -opc)
    set -l takes_value -s -r -d -a -S -m -f --select --rename --dtype --align --shard-size \
        --metadata --format --sort
    if test "$words[2]" = show
        set takes_value -n --max-items
    else if test "$words[2]" = ls
        set takes_value -s --select --sort
    else if test "$words[2]" = diff
        set takes_value -s --select --atol --rtol
    else if test "$words[2]" = serve
        set takes_value -n -s --name --select
    else if test "$words[2]" = check
        set takes_value
    end
    set -l n 0
    set -l skip 0
    for word in $words[3..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $takes_value
            set skip 1
        else if not string match -q -r '^-.' -- $word
            set n (math $n + 1)
        end
    end
    echo $n
end

function __mtldl_wants_file
    set -l n (__mtldl_count)
    __mtldl_is check cp serve; or begin
        __mtldl_is ls show; and test $n -eq 0
    end; or begin
        __mtldl_is diff; and test $n -lt 2
    end; or begin
        __mtldl_is ls; and not __mtldl_names | string match -q -- (commandline -ct)'*'
    end
end

function __mtldl_wants_name
    set -l n (__mtldl_count)
    begin
        __mtldl_is show; and test $n -eq 1
    end; or begin
        __mtldl_is ls; and test $n -ge 1
    end
end

# The order is that in which mtldl lists them.
function __mtldl_names
    set -l file (__mtldl_file); and mtldl ls --names -- $file 2>/dev/null
end

# Completes folders, and files whose names end as files of tensors do; all files, if
# there are none. The word is completed as that of a command without completions.
function __mtldl_files
    set -l all (complete -C "__fish_command_without_completions "(commandline -ct))
    set -l wanted (string match -r '.*(?:/|\.npy|\.npz|\.safetensors|\.safetensors\.index\.json)$' \
        -- $all)
    if test (count $wanted) -gt 0
        printf '%s\n' $wanted
    else if test (count $all) -gt 0
        printf '%s\n' $all
    end
end

set -l types bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 \
    bfloat16 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz \
    float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn

complete -c mtldl -f
complete -c mtldl -n __mtldl_wants_file -k -a '(__mtldl_files)'
complete -c mtldl -n __mtldl_wants_name -k -a '(__mtldl_names)'

complete -c mtldl -n __mtldl_needs_command -l version -d 'Print the version'
complete -c mtldl -n __mtldl_needs_command -a ls -d 'List the tensors of files and folders'
complete -c mtldl -n __mtldl_needs_command -a show -d 'Print the elements of a tensor'
complete -c mtldl -n __mtldl_needs_command -a check -d 'Report what is wrong with files'
complete -c mtldl -n __mtldl_needs_command -a cp -d 'Copy tensors into another file'
complete -c mtldl -n __mtldl_needs_command -a diff -d 'Compare the tensors of two files'
complete -c mtldl -n __mtldl_needs_command -a serve \
    -d 'Show the tensors of files to other programs'
complete -c mtldl -n __mtldl_needs_command -a help -d 'Explain a command'
complete -c mtldl -n '__mtldl_is help' -a 'ls show check cp diff serve'
complete -c mtldl -n '__mtldl_needs_command; or __mtldl_is show check cp diff serve' -s h -l help \
    -d 'Show help'
complete -c mtldl -n '__mtldl_is ls' -l help -d 'Show help'

complete -c mtldl -n '__mtldl_is ls' -s a -l all -d 'Print one line for each tensor'
complete -c mtldl -n '__mtldl_is ls' -s l -l long -d 'Print offsets, alignments and files, too'
complete -c mtldl -n '__mtldl_is ls' -s 1 -l names -d 'Print only the names'
complete -c mtldl -n '__mtldl_is ls' -s h -l human-readable -d 'Print sizes as 13.5 GiB'
complete -c mtldl -n '__mtldl_is ls' -s m -l metadata -d 'Print the metadata, too'
complete -c mtldl -n '__mtldl_is ls' -s j -l json -d 'Print everything as JSON'
complete -c mtldl -n '__mtldl_is ls' -s s -l select -x -k -a '(__mtldl_names)' \
    -d 'List only the tensors that match'
complete -c mtldl -n '__mtldl_is ls' -l sort -x -k -a 'name size file' -d 'Sort the tensors'

complete -c mtldl -n '__mtldl_is show' -s s -l stats -d 'Print statistics'
complete -c mtldl -n '__mtldl_is show' -s j -l json -d 'Print all elements as JSON'
complete -c mtldl -n '__mtldl_is show' -s n -l max-items -x -d 'Print at most this many elements'

complete -c mtldl -n '__mtldl_is check' -l nan -d 'Report NaNs'
complete -c mtldl -n '__mtldl_is check' -l inf -d 'Report infinities'
complete -c mtldl -n '__mtldl_is check' -l strict -d 'Report tensors that cannot be loaded'
complete -c mtldl -n '__mtldl_is check' -l bool -d 'Report truth values other than 0 and 1'
complete -c mtldl -n '__mtldl_is check' -l alignment -d 'Report tensors that are not aligned'
complete -c mtldl -n '__mtldl_is check' -s q -l quiet -d 'Report faults only'

complete -c mtldl -n '__mtldl_is cp' -s s -l select -x -k -a '(__mtldl_names)' \
    -d 'Copy only the tensors that match'
complete -c mtldl -n '__mtldl_is cp' -s r -l rename -x -k -a '(__mtldl_names)' -d 'Rename tensors'
complete -c mtldl -n '__mtldl_is cp' -s d -l dtype -x -a "$types" -d 'Convert tensors'
complete -c mtldl -n '__mtldl_is cp' -s a -l align -x -d 'Align the first tensor'
complete -c mtldl -n '__mtldl_is cp' -s k -l keep-order -d 'Keep the order of the tensors'
complete -c mtldl -n '__mtldl_is cp' -s S -l shard-size -x -d 'Write several files'
complete -c mtldl -n '__mtldl_is cp' -s m -l metadata -x -d 'Add to the metadata'
complete -c mtldl -n '__mtldl_is cp' -s f -l format -x -a 'safetensors npy' \
    -d 'Write this format'
complete -c mtldl -n '__mtldl_is cp' -l no-sync -d 'Do not wait for the disk'
complete -c mtldl -n '__mtldl_is cp' -s q -l quiet -d 'Do not report progress'

complete -c mtldl -n '__mtldl_is diff' -l atol -x -d 'Allow this difference'
complete -c mtldl -n '__mtldl_is diff' -l rtol -x -d 'Allow this times the second element'
complete -c mtldl -n '__mtldl_is diff' -l ignore-dtype -d 'Compare only the values'
complete -c mtldl -n '__mtldl_is diff' -s s -l select -x -k -a '(__mtldl_names)' \
    -d 'Compare only the tensors that match'
complete -c mtldl -n '__mtldl_is diff' -s j -l json -d 'Print the differences as JSON'
complete -c mtldl -n '__mtldl_is diff' -s q -l quiet -d 'Print nothing'

complete -c mtldl -n '__mtldl_is serve' -s n -l name -x -d 'Use this name on the bus'
complete -c mtldl -n '__mtldl_is serve' -s s -l select -x -k -a '(__mtldl_names)' \
    -d 'Serve only the tensors that match'
complete -c mtldl -n '__mtldl_is serve' -s q -l quiet -d 'Print nothing'
