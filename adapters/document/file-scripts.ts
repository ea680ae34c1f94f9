/** The scripts on the host of a file. They need POSIX `sh`, and the programs of GNU coreutils and util-linux, or of BusyBox. */
import { quote } from '../host/quote.ts'

/** The exit codes of a script that ends early. `unknown` is for all other codes. */
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

/** Identifies an open file: a rename gives another inode, and an edit in place gives another time. */
const STAT = "stat -L -c '%i %z'"

/** Prints the identity of the file on the first line, and then its content. */
export function readScript(path: string): string {
  return `${findFile(path)}
exec <"$file"
${STAT} -- /dev/stdin && exec cat`
}

export interface FileWrite {
  path: string
  temporaryFolder?: string | undefined
  content: Buffer
  /** The file to replace: its identity as `readScript` printed it, and the SHA-256 of its content. */
  replaced: { file: string; sum: string }
  /** The SHA-256 of `content`. */
  sum: string
  lockWaitMs: number
  /** A script that runs under the lock, in the same shell. If it fails, nothing is written. */
  guard?: string | undefined
}

/** The interval between attempts to lock, in milliseconds. The flock of BusyBox has no time limit. */
const LOCK_POLL_MS = 20

/**
 * Writes the new file completely, takes the lock, and renames the file as the last step, so a failed script changes nothing. The lock is a
 * separate file that stays, because each write replaces the document. Prints the new identity of the file.
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
