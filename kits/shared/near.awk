# Compares the numbers of two files, word by word: awk -v rel=1e-6 -v abs=1e-9 -f near.awk EXPECTED FOUND
# Two numbers agree when |found - expected| <= abs + rel * |expected|. All other words must be equal.
# Every member that is right within a tolerance has this same file.
function is_number(w) { return w ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)?$/ }
function value(w) { gsub(/[dD]/, "e", w); return w + 0 }
function fail(text) { print FILENAME ": " text; failed = 1; exit 1 }
NR == FNR { lines = FNR; expected[FNR] = $0; next }
{
    n = split(expected[FNR], want)
    if (FNR > lines) fail("line " FNR " should not be there")
    if (n != NF) fail("line " FNR " has " NF " words, not " n)
    for (i = 1; i <= n; i++) {
        if (is_number(want[i]) && is_number($i)) {
            d = value($i) - value(want[i])
            if (d < 0) d = -d
            w = value(want[i])
            if (w < 0) w = -w
            if (!(d <= abs + rel * w))
                fail("line " FNR ": " $i " is not near " want[i] " (differs by " d ", may by " abs + rel * w ")")
        } else if (want[i] != $i) fail("line " FNR ": `" $i "` is not `" want[i] "`")
    }
    found = FNR
}
END {
    if (failed) exit 1
    if (lines == 0) { print "nothing is expected: the first file is empty"; exit 1 }
    if (found + 0 != lines) { print "only " found + 0 " of " lines " lines are there"; exit 1 }
}
