#!/usr/bin/env bash
# Runs the command-line tool against stores that the Python binding writes; then the Python tests in this directory: of `satchel story`, `photos` and `records`, and of the rest of `store`.
# The tool: the first argument, or that of `make tool`.
# PYTHON names an interpreter with the packages of Bindings/Python/requirements-dev.txt, instead of .venv's.
set -uo pipefail
cd "$(dirname "$0")/../.."

tool=${1:-$PWD/.build-lib/release/satchel-cli}
[[ $tool == /* ]] || tool=$PWD/$tool
if [[ ! -x $tool ]]; then
  echo "$tool is not there; build it: make tool" >&2
  echo "0 passed, 1 failed"
  exit 1
fi
here=$PWD/Tests/tool
python=${PYTHON:-$PWD/.venv/bin/python}
[[ $python == */* && $python != /* ]] && python=$PWD/$python
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
export SATCHEL_LIBRARY=${SATCHEL_LIBRARY:-$PWD/.build-lib/release/libsatchel.so}
export PYTHONPATH=$PWD/Bindings/Python:$PWD/Tests/Servers PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=error
# A fixed terminal width, since help is wrapped to it.
export COLUMNS=100

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0
porto='{"country_code": "PT", "admin_area": "Porto", "locality": "Porto"}'
paris='{"country_code": "FR", "locality": "Paris"}'

verdict() {
  local what=$1 wrong=$2
  if [[ -z $wrong ]]; then
    passed=$((passed + 1))
  else
    echo "$what: $wrong" >&2
    sed 's/^/  out: /' out >&2
    sed 's/^/  err: /' err >&2
    failed=$((failed + 1))
  fi
}

# run STATUS ARGUMENT...: runs the tool; its output is in the files out and err.
run() {
  local expected=$1
  shift
  last="satchel $*"
  "$tool" "$@" > out 2> err < /dev/null
  local status=$?
  local wrong=
  ((status == expected)) || wrong="exit code $status, not $expected"
  verdict "$last" "$wrong"
}

# says FILE TEXT: the last run's out or err contains the text.
says() {
  local wrong=
  grep -qF -- "$2" "$1" || wrong="does not contain \"$2\""
  verdict "$last" "$wrong"
}

silent() {
  local wrong=
  [[ ! -s $1 ]] || wrong="wrote to $1"
  verdict "$last" "$wrong"
}

# json EXPRESSION: the output is one line of JSON, for which the Python expression with `it` is true.
json() {
  local wrong
  wrong=$(python3 - "$1" 2>&1 << 'PYTHON'
import json, sys
with open("out", encoding="utf-8") as file:
    text = file.read()
if text.count("\n") != 1 or not text.endswith("\n"):
    sys.exit("is not one line")
it = json.loads(text)
if not eval(sys.argv[1]):
    sys.exit(f"not so: {sys.argv[1]}")
PYTHON
  ) || wrong=${wrong:-python3 failed}
  verdict "$last" "$wrong"
}

# make_store FILE: a place with two sections; the news were fetched two days ago and expired after an hour.
make_store() {
  python3 - "$1" "$porto" << 'PYTHON'
import sys, time, satchel
path, porto = sys.argv[1:]
def entity(name, scope, hours, text):
    return {"text": text, "_storage": {"entity_id": name, "scope": scope, "ttl_hours": hours}}
two_days_ago = time.time_ns() // 1_000_000 - 48 * 3_600_000
with satchel.open(path, clock=lambda: two_days_ago) as store:
    news = {"Today": entity("news:today", "locality", 1, "Rain")}
    store.catalogue.persist(porto, {"section": "news", "display_title": "News", "content": news})
with satchel.open(path) as store:
    facts = {"Capital": entity("facts:capital", "country", 1000, "Lisboa"),
             "Old": entity("facts:old", "country", 1000, "x" * 300_000)}
    section = {"section": "facts", "display_title": "Facts", "content": facts}
    store.catalogue.persist(porto, section)
    store.catalogue.set_active_location(porto)
PYTHON
}

# Removes an entity from a section, so that nothing refers to it.
drop_old() {
  python3 - "$1" "$porto" << 'PYTHON'
import sys, satchel
with satchel.open(sys.argv[1]) as store:
    kept = store.catalogue.load(sys.argv[2], "facts")
    storage = {"entity_id": "facts:capital", "scope": "country", "ttl_hours": 1000}
    content = {"Capital": {**kept.content["Capital"], "_storage": storage}}
    store.catalogue.persist(sys.argv[2], {"section": "facts", "display_title": "Facts", "content": content})
PYTHON
}

if ! make_store guide.satchel; then
  echo "the store to look at could not be made" >&2
  echo "0 passed, 1 failed"
  exit 1
fi
python3 -c 'import satchel; satchel.open("empty.satchel").close()'
before=$(sha256sum guide.satchel)

# The tool itself.
run 0 --version
says out "$version"
says out "SQLite 3."
run 0 --help
says out "Exit codes: 0 success"
for command in "catalogue show" "catalogue plan" "catalogue prune" "store check" "store info"; do
  # shellcheck disable=SC2086 # two words are wanted
  run 0 $command --help
  says out "Exit codes: 0"
done
run 0 --generate-completion-script bash
run 2 bogus
says err "satchel: Unexpected argument 'bogus'"
silent out

# catalogue show
run 0 catalogue show guide.satchel
says out "2 sections  3 entities  PT/Porto/Porto  (active)"
silent err
run 0 catalogue show guide.satchel --json
json 'len(it) == 1 and it[0]["sections"] == 2 and it[0]["location"]["locality"] == "Porto"'
run 0 catalogue show guide.satchel --location "$porto"
says out "news   1 entity    by locality"
run 0 catalogue show guide.satchel --location "$porto" --json
json '[(h["section"], h["entity_count"]) for h in it] == [("news", 1), ("facts", 2)] and it[0]["level"] == "locality"'
run 0 catalogue show guide.satchel --location '{"country_code": "PT"}' --json
json '[(h["section"], h["level"]) for h in it] == [("facts", "country")]'
run 1 catalogue show guide.satchel --location '{"country_code": "PT"}' --no-inherit --json
json 'it == []'
run 0 catalogue show guide.satchel --location "$porto" --section news
says out "expired: news:today"
says out '    "text": "Rain"'
run 0 catalogue show guide.satchel --location "$porto" --section news --json
json 'it["content"] == {"Today": {"text": "Rain"}} and it["expired"] == ["news:today"] and it["missing"] == []'
run 1 catalogue show guide.satchel --location "$porto" --section sport
says err "satchel: no section sport is stored for PT/Porto/Porto"
run 1 catalogue show guide.satchel --location "$porto" --section sport --json
json 'it is None'
run 1 catalogue show guide.satchel --location "$paris"
says err "satchel: nothing is stored for"
run 1 catalogue show empty.satchel --json
json 'it == []'
run 2 catalogue show guide.satchel --section news
says err "--section and --no-inherit need a place: --place, --at or --location"
run 2 catalogue show guide.satchel --location '{"country_code"'
says err "line 1, column"
run 2 catalogue show guide.satchel --location '{"latitude": 91, "longitude": 0}'
says err "the latitude 91.0 is not within ±90"

run 1 catalogue show guide.satchel --location '{"latitude": 41.15, "longitude": -8.61}' --json
json 'it == []'

# catalogue search, which brings its index up to date: in a copy
cp guide.satchel searched.satchel
run 0 catalogue search searched.satchel rai --allow-expired
says out "news:today"
run 0 catalogue search searched.satchel RAIN --allow-expired --location "$porto" --json
json '[(h["section"], h["entity_id"], h["excerpt"], h["expired"]) for h in it] == [("news", "news:today", "Rain", True)]'
run 1 catalogue search searched.satchel rain
says err "nothing was found"

# catalogue delete
run 1 catalogue delete searched.satchel --entity news:none
says err "nothing of that is stored"
run 2 catalogue delete searched.satchel
says err "give either --entity, or a place with --place, --at or --location"
run 1 catalogue delete searched.satchel --location "$paris" --json
json 'it["contexts"] == 0'

# catalogue locate: the place has no coordinates
run 1 catalogue locate guide.satchel --at 41.15,-8.61
says err "nothing was delivered for a place within 5000 m"
run 1 catalogue locate guide.satchel --at 41.15,-8.61 --within 1e9 --json
json 'it == []'
run 2 catalogue locate guide.satchel --at 91,-8.61
says err "the latitude 91.0 is not within ±90"
run 2 catalogue locate guide.satchel --at 41.15,-8.61 --within=-1
says err "within: -1.0 is not a distance in metres"

# catalogue renew
cp guide.satchel renewed.satchel
run 0 catalogue renew renewed.satchel --location "$porto" --section news --etag v7
says out "Renewed 1 section."
run 0 catalogue plan renewed.satchel --location "$porto" --json
json 'it["news"]["fresh"] == ["news:today"] and it["news"]["etag"] == "v7"'
run 0 catalogue renew renewed.satchel --location "$porto" --max-age 60 --json
json 'it["sections"] > 1'
run 1 catalogue renew renewed.satchel --location "$paris"
says err "nothing is stored for"
run 2 catalogue renew renewed.satchel
says err "give a place with --place, --at or --location"
run 2 catalogue renew renewed.satchel --location "$porto" --max-age=-1
says err "--max-age: -1 is negative"

# catalogue refresh, from the backend of the tests
told() { python3 -c 'import json, os, sys; print(json.loads(os.environ["SATCHEL_TEST_CONTENT"])[sys.argv[1]])' "$1"; }
backend=$(told url)/tool-$$
run 0 catalogue refresh renewed.satchel --location "$porto" --from "$backend/content" --section sights
says out "sights: stored"
run 0 catalogue refresh renewed.satchel --location "$porto" --from "$backend/content" --section sights
says out "sights: fresh"
run 0 catalogue refresh renewed.satchel --location "$porto" --from "$backend/content" --section sights --force --json
json 'it["unchanged"] == ["sights"] and it["requests"] == 1'
run 1 catalogue refresh renewed.satchel --location "$porto" --from http://127.0.0.1:1/content --section museums \
  --header "Authorization: Bearer secret"
says err "museums: "
run 1 catalogue refresh renewed.satchel --location "$porto" --from http://127.0.0.1:1/content --section museums
says out "museums: waiting"
secure=$(told secure)/tool-$$/content
run 0 catalogue refresh renewed.satchel --location "$porto" --from "$secure" --section cuisine --ca-file "$(told ca_file)"
says out "cuisine: stored"
run 1 catalogue refresh renewed.satchel --location "$porto" --from "$secure" --section walks
says err "certificate"
run 2 catalogue refresh renewed.satchel --location "$porto" --from ftp://example.org
says err "base_url"
run 2 catalogue refresh renewed.satchel --location "$porto" --from http://127.0.0.1:1 --header nonsense
says err "a header is"

# catalogue plan
run 1 catalogue plan guide.satchel --location "$porto"
says out "news   0 fresh  1 expired  0 missing"
says out "expired  news:today"
run 1 catalogue plan guide.satchel --location "$porto" --json
json 'it["news"]["expired"] == ["news:today"] and it["news"]["fresh"] == it["news"]["missing"] == it["facts"]["expired"] == []'
run 1 catalogue plan guide.satchel --location "$paris"
says err "nothing is stored for this location: fetch all sections"
run 1 catalogue plan guide.satchel --location "$paris" --json
json 'it == {}'
run 2 catalogue plan guide.satchel
says err "give a place with --place, --at or --location"

# store check and store info
run 0 store check guide.satchel
says out "guide.satchel: sound"
run 0 store check guide.satchel --json
json 'it == []'
run 0 store info guide.satchel
says out "schema version        1"
run 0 store info guide.satchel --json
json 'it["path"] == "guide.satchel" and it["contexts"] == 1 and it["active_location"]["country_code"] == "PT"'
json 'it["file_bytes"] == __import__("os").path.getsize("guide.satchel")'

wrong=
[[ $(sha256sum guide.satchel) == "$before" ]] || wrong="the file was changed"
verdict "commands that only read" "$wrong"

head -c 5000 guide.satchel > short.satchel
run 1 store check short.satchel
says out "damaged: short.satchel: truncated"
run 1 store check short.satchel --json
json '[finding["code"] for finding in it] == ["damaged"]'
run 2 store info short.satchel
says err "satchel: short.satchel: truncated"
echo "some text" > note.txt
run 2 store check note.txt
says err "satchel: note.txt: not a SQLite database"
run 2 store check .
for command in "store check" "store info" "catalogue show" "catalogue prune"; do
  # shellcheck disable=SC2086 # two words are wanted
  run 2 $command nowhere.satchel
  says err "satchel: nowhere.satchel: does not exist"
  silent out
done
wrong=
[[ ! -e nowhere.satchel ]] || wrong="made a file"
verdict "a store that does not exist" "$wrong"

# catalogue prune
cp guide.satchel named.satchel && cp guide.satchel small.satchel && cp guide.satchel old.satchel
run 0 catalogue prune guide.satchel --json
json 'it["entities"] == 1 and it["contexts"] == 0 and it["bytes"] > 0'
run 0 catalogue prune guide.satchel
says out "Deleted 0 entities and 0 places: 0 bytes of content."
run 1 catalogue plan guide.satchel --location "$porto" --json
json 'it["news"]["missing"] == ["news:today"]'
run 0 store check guide.satchel

drop_old guide.satchel
run 0 catalogue prune guide.satchel --unreferenced --json
json 'it["entities"] == 1 and it["bytes"] > 300_000 and it["file_bytes"] > 200_000'
run 0 catalogue prune named.satchel --no-expired --section facts
says out "Deleted 2 entities"
run 0 catalogue show named.satchel --location "$porto" --json
json '[h["section"] for h in it] == ["news"]'
# The active location stays, and the receipt says by how much the budget is exceeded.
run 0 catalogue prune small.satchel --max-bytes 0 --json
json 'it["contexts"] == 0 and it["over_budget"] > 0'
run 0 catalogue show small.satchel
run 0 catalogue prune old.satchel --contexts-unused-for 1 --json
json 'it["contexts"] == 0'
for store in named small old; do run 0 store check "$store.satchel"; done
run 2 catalogue prune guide.satchel --scope planet
says err "--scope: unknown scope planet"
run 2 catalogue prune guide.satchel --max-bytes=-1
says err "--max-bytes: -1 is negative"
run 2 catalogue prune guide.satchel --contexts-unused-for=-1
run 2 catalogue prune guide.satchel --section ""
says err "--section: the name is empty"

# The tool reads a store while an app has it open.
coproc app { python3 -c '
import satchel, sys
with satchel.open("guide.satchel") as store:
    store.catalogue.persist({"country_code": "JP"}, {"section": "rail", "content": {}})
    print("open", flush=True)
    sys.stdin.read()
' 2> app.err; }
read -r -t 120 line <&"${app[0]}"
wrong=
[[ ${line:-} == open ]] || wrong="did not open the store: $(cat app.err)"
verdict "the app" "$wrong"
run 0 catalogue show guide.satchel --location '{"country_code": "JP"}'
says out "rail"
run 0 store check guide.satchel
run 0 catalogue prune guide.satchel --unreferenced
exec {input}>&"${app[1]}"
eval "exec ${app[1]}>&-"
exec {input}>&-
wait "$app_PID"

# Stories, photos, records, and stores as files. Counted by pytest's last line; a run that counts nothing has failed.
SATCHEL_TOOL=$tool "$python" -m pytest -p no:cacheprovider -q --rootdir "$here" "$here" 2>&1 | tee pytest.log
status=${PIPESTATUS[0]}
counted=$(tail -n 1 pytest.log)
[[ $counted =~ ([0-9]+)\ passed ]] && passed=$((passed + BASH_REMATCH[1]))
if ((status != 0)); then
  [[ $counted =~ ([0-9]+)\ failed ]] && failed=$((failed + BASH_REMATCH[1])) || failed=$((failed + 1))
fi

echo "$passed passed, $failed failed"
((failed == 0))
