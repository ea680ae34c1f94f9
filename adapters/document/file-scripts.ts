/** What runs on the host of a file: POSIX `sh`, with the programs of GNU coreutils and util-linux, or of BusyBox. */
import { quote } from '../host/quote.ts'

/** Why a script has ended before its work was done. `unknown` is for every other one. */
export const STATUS = {
  missing: 20,
  noFile: 21,
  unreadable: 22,
  noTemporaryFolder: 23,
  readOnly: 24,
  otherFileSystem: 25,
  ownerLost: 26,
  halfWritten: 27,
  notRenamed: 28,
  noProgram: 29,
  locked: 30,
  changed: 31,
  guarded: 32,
} as const

const findFile = (path: string): string => `set -u
file=$(readlink -f -- ${quote(path)}) && [ -e "$file" ] ||
  case $(ls -Ld -- ${quote(path)} 2>&1) in *'Permission denied'*) exit ${STATUS.unreadable} ;; *) exit ${STATUS.missing} ;; esac
[ -f "$file" ] || exit ${STATUS.noFile}
[ -r "$file" ] || exit ${STATUS.unreadable}`

/** Of an open file: each rename makes another one, each edit in its place another time. */
const STAT = "stat -L -c '%i %z'"

/** Prints which file it is on the first line, and its content after that. */
export function readScript(path: string): string {
  return `${findFile(path)}
exec <"$file"
${STAT} -- /dev/stdin && exec cat`
}

export interface FileWrite {
  path: string
  temporaryFolder?: string | undefined
  content: Buffer
  /** Which file is to be replaced, as `readScript` has printed it, and the SHA-256 of its content. */
  replaced: { file: string; sum: string }
  /** SHA-256 of `content`. */
  sum: string
  lockWaitMs: number
  /** Runs under the lock, in the same shell; nothing is written where it fails. */
  guard?: string | undefined
}

/** BusyBox's flock knows no time limit. */
const LOCK_POLL_MS = 20

/**
 * The new file is whole before the lock is taken, and the rename is the last change: a script that fails has changed nothing. The lock is
 * a file of its own, which stays: the file itself is another one after each write. Prints which file it is then.
 */
export function writeScript({ path, temporaryFolder, content, replaced, sum, lockWaitMs, guard = ':' }: FileWrite): string {
  return `${findFile(path)}
for program in base64 chmod chown dd flock mktemp sha256sum stat; do
  command -v "$program" || exit ${STATUS.noProgram}
done >/dev/null
folder=\${file%/*}
folder=\${folder:-/}
new=${temporaryFolder === undefined ? '$folder' : quote(temporaryFolder)}
[ -d "$new" ] || exit ${STATUS.noTemporaryFolder}
[ -w "$new" ] && [ -w "$folder" ] || exit ${STATUS.readOnly}
[ "$(stat -c %d -- "$new")" = "$(stat -c %d -- "$file")" ] || exit ${STATUS.otherFileSystem}
lock=$folder/.\${file##*/}.lock
[ -e "$lock" ] || (umask 022; : >>"$lock") || exit ${STATUS.readOnly}
if [ -w "$lock" ]; then exec 9>>"$lock"; else exec 9<"$lock"; fi
new=$(mktemp -- "$new/.\${file##*/}.XXXXXX") || exit ${STATUS.halfWritten}
trap 'rm -f -- "$new"' EXIT
trap 'exit 143' HUP INT TERM
printf %s '${content.toString('base64')}' | base64 -d | dd of="$new" conv=fsync 2>/dev/null
sum=$(sha256sum <"$new")
[ "\${sum%% *}" = ${sum} ] || exit ${STATUS.halfWritten}
owner=$(stat -c %u:%g -- "$file")
[ "$owner" = "$(stat -c %u:%g -- "$new")" ] || chown "$owner" -- "$new" || exit ${STATUS.ownerLost}
chmod "$(stat -c %a -- "$file")" -- "$new" || exit ${STATUS.ownerLost}
tries=0
until flock -n -x 9; do
  [ $((tries += 1)) -lt ${Math.ceil(lockWaitMs / LOCK_POLL_MS)} ] || exit ${STATUS.locked}
  sleep ${LOCK_POLL_MS / 1_000}
done
guard() {
${guard}
}
guard || exit ${STATUS.guarded}
[ "$(readlink -f -- ${quote(path)})" = "$file" ] && sum=$(sha256sum <"$file") || exit ${STATUS.changed}
[ "$(${STAT} -- "$file") \${sum%% *}" = ${quote(`${replaced.file} ${replaced.sum}`)} ] || exit ${STATUS.changed}
mv -f -- "$new" "$file" || exit ${STATUS.notRenamed}
${STAT} -- "$file"`
}
