# Checks a solver's answers: awk -f check.awk EXPECTED CNF ANSWER [CNF ANSWER]...
# EXPECTED has a line NAME SAT|UNSAT for each problem, in order. A solution is put into every clause; that there
# is none cannot be seen from the answer and must be what the reference run found.
function fail(text) { print FILENAME ": " text; failed = 1; exit 1 }
FNR == 1 { file++ }
file == 1 { verdict[++problems] = $2; next }
file % 2 == 0 {
    if ($1 == "p") { clauses = 0; delete clause; next }
    clause[++clauses] = $0
    next
}
FNR == 1 {
    answered++
    answer = $1 == "UNSAT" ? "UNSAT" : $1
    if (answer != verdict[answered]) fail("the answer is " answer ", not " verdict[answered])
}
FNR == 2 {
    delete true_literal
    for (i = 1; i < NF; i++) true_literal[$i] = 1
    for (c = 1; c <= clauses; c++) {
        n = split(clause[c], literal)
        good = 0
        for (i = 1; i < n; i++) if (literal[i] in true_literal) good = 1
        for (i = 1; i < n; i++) if (literal[i] in true_literal && (-literal[i]) in true_literal) fail("both " literal[i] " and its contrary are true")
        if (!good) fail("clause " c " of " clause[c] " is not satisfied")
    }
    solved++
}
END {
    if (failed) exit 1
    if (answered + 0 != problems || problems == 0) { print "only " answered + 0 " of " problems + 0 " answers are there"; exit 1 }
}
