# link.sh PATH: makes the working folder of a run out of links into the licensed kit.
set -eu
path=$1
[ -e "$path/specjbb2015.jar" ] || { echo "there is no specjbb2015.jar in $path; path must be the folder of a licensed SPECjbb2015"; exit 1; }
path=$(cd "$path" && pwd)
for file in "$path"/*; do
    case ${file##*/} in result) ;; *) ln -s "$file" . ;; esac
done
