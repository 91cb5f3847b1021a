# link.sh PATH PROPERTIES INSTANCES: makes the working folder of a run out of links into the licensed kit.
set -eu
path=$1 properties=$2 instances=$3
for file in jbb.jar check.jar "$properties"; do
    [ -e "$path/$file" ] || { echo "there is no $file in $path; path must be the folder of a licensed SPECjbb2005"; exit 1; }
done
path=$(cd "$path" && pwd)
for file in "$path"/*; do
    case ${file##*/} in results | "$properties") ;; *) ln -s "$file" . ;; esac
done
sed '/^[[:blank:]]*input\.jvm_instances[[:blank:]]*=/d' "$path/$properties" >run.props
echo "input.jvm_instances=$instances" >>run.props
