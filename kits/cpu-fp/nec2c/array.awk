# Writes a NEC deck: dipoles side by side and behind each other over nothing, the one in the middle driven, a
# few frequencies, and the field far away. awk -v rows=R -v columns=C -v segments=S -v steps=F -f array.awk
BEGIN {
    print "CM dipoles in a grid"
    print "CE"
    tag = 0
    for (r = 0; r < rows; r++) for (c = 0; c < columns; c++) {
        tag++
        half = 0.22 + 0.01 * ((r * 3 + c * 5) % 4)
        printf "GW %d %d %.4f %.4f %.4f %.4f %.4f %.4f 0.002\n", tag, segments, 0.3 * r, 0.35 * c, -half, 0.3 * r, 0.35 * c, half
    }
    print "GE 0"
    middle = int(rows / 2) * columns + int(columns / 2) + 1
    printf "EX 0 %d %d 0 1.0 0.0\n", middle, int((segments + 1) / 2)
    printf "FR 0 %d 0 0 290.0 5.0\n", steps
    print "RP 0 19 13 1000 0.0 0.0 10.0 30.0"
    print "EN"
}
