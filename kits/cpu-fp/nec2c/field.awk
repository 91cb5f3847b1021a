# What NEC found: for each frequency the input's impedance, and the gain in every direction in dB above an even
# radiator, but not below -20 dB, where fields cancel and only rounding is left.
/FREQUENCY/ && /:|MHZ|MHz|MHZ/ { for (i = 1; i <= NF; i++) if ($i + 0 > 0) { print "frequency", $i; break } }
/ANTENNA INPUT PARAMETERS/ { input = 1; gain = 0; next }
/RADIATION PATTERNS/ { gain = 1; input = 0; next }
input && NF == 11 && $1 ~ /^[0-9]+$/ { print "impedance", $7, $8; input = 0 }
gain && NF >= 11 && $1 ~ /^[-+]?[0-9.]+$/ && $2 ~ /^[-+]?[0-9.]+$/ { g = $5; if (g < -20) g = -20; printf "%s %s %.2f\n", $1, $2, g }
