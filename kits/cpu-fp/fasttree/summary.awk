# What a tree is worth: awk -f summary.awk LOG TREE writes the last log likelihood, and how many leaves, inner
# nodes and kinds of leaves the tree has. Equal parts of a tree may stand in any order.
NR == FNR { if ($1 == "TreeLogLk") likelihood = $3; next }
{
    text = text $0
}
END {
    print "likelihood", likelihood
    n = split(text, part, /[(,)]/)
    for (i = 1; i <= n; i++) if (match(part[i], /^s[0-9]+/)) {
        leaves++
        name = substr(part[i], 1, RLENGTH)
        if (!(name in seen)) kinds++
        seen[name] = 1
    }
    print "leaves", leaves + 0
    print "kinds", kinds + 0
    print "brackets", gsub(/\(/, "(", text), gsub(/\)/, ")", text)
}
