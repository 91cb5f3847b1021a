# run.sh INSTANCES JVM OPTIONS...: one virtual machine, or a controller and several.
set -eu
instances=$1
shift
classes=jbb.jar:check.jar
if [ "$instances" = 1 ]; then
    exec "$@" -cp "$classes" spec.jbb.JBBmain -propfile run.props
fi
"$@" -cp "$classes" spec.jbb.Controller -propfile run.props &
all=$!
i=1
while [ "$i" -le "$instances" ]; do
    "$@" -cp "$classes" spec.jbb.JBBmain -propfile run.props -id "$i" >"instance-$i.log" 2>&1 &
    all="$all $!"
    i=$((i + 1))
done
for pid in $all; do
    wait "$pid"
done
