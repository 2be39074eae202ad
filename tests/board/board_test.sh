#!/usr/bin/env bash
# The emulated board is what its README says, two of them live side by side, and none leaves a trace.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d "${TMPDIR:-/tmp}/teeny board é.XXXXXX")
trap '"$here/board" stop "$work/one"; "$here/board" stop "$work/two"; rm -rf "$work"' EXIT

fail() {
  echo "board_test: $*" >&2
  exit 1
}
# Another board that lives has its entry there, and takes it along when it ends.
others_live() { compgen -G '/run/teeny-board/board.*' > /dev/null; }
before=
others_live || before=$(ls /proc/sys/fs/binfmt_misc)

config=$("$here/board" start "$work/one") || exit $?
[ "$config" = "$work/one/ssh_config" ] || fail "start printed $config"
on() { ssh -F "$config" board "$@"; }

[ "$(on uname -m)" = aarch64 ] || fail "uname -m is not aarch64"
[ "$(on id -un)" = nvidia ] || fail "the user is not nvidia"
[ "$(on cut -d "' '" -f 2,4,5 /etc/nv_tegra_release)" = 'R36 REVISION: 3.0,' ] ||
  fail "/etc/nv_tegra_release is $(on cat /etc/nv_tegra_release)"
[ -z "$(on 'command -v cc gcc g++ c++ clang ld as ptxas nvcc llc teenyc python3')" ] ||
  fail "there is a compiler on the board"
on 'touch /etc/mine' 2> /dev/null && fail "nvidia may write into /etc"
on 'exit 7' && fail "exit 7 came back as 0" || [ $? = 7 ] || fail "exit 7 came back as another"

# What a cross compiler makes runs there.
printf '%s\n' '#include <thread>' '#include <iostream>' \
  'int main() { int n = 0; std::thread([&] { n = 42; }).join(); std::cout << n << "\n"; }' > "$work/p.cpp"
aarch64-linux-gnu-g++ -std=c++20 -o "$work/p" "$work/p.cpp"
rsync -a -e "ssh -F '$config'" "$work/p" 'board:a program'
[ "$(on './a\ program')" = 42 ] || fail "a cross-built program does not run"

other=$("$here/board" start "$work/two") || exit $?
[ "$(ssh -F "$other" board 'ls -A ~')" = .ssh ] || fail "two boards share a home"
"$here/board" stop "$work/one"
[ "$(ssh -F "$other" board uname -m)" = aarch64 ] || fail "stopping one board broke the other"
on true 2> /dev/null && fail "a stopped board answers"
"$here/board" stop "$work/two"
[ ! -e "$work/one/root" ] && [ ! -e "$work/two/root" ] || fail "a root was left behind"
if [ -n "$before" ] && ! others_live; then
  [ "$(ls /proc/sys/fs/binfmt_misc)" = "$before" ] || fail "the machine's binfmt entries changed"
fi
echo "the emulated board is as described"
