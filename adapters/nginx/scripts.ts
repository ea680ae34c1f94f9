/** The scripts on a host of nginx. They need POSIX `sh`, Linux with /proc, and flock. */
import { STATUS as FILE_STATUS } from '../document/file-scripts.ts'
import { quote, quoteAll } from '../host/quote.ts'

/** The exit codes of a script that ends early. */
export const STATUS = { noMaster: 40, noWorkers: 41, refused: 42, notReloaded: 43, upgrade: 44 } as const

/**
 * Shell code that sets `oldest` and `newest` to the start times, in ticks since boot, of the workers that accept requests; it fails if
 * there are none. An old worker accepts requests for about 100 ms more, until its title says that it is shutting down.
 * The script ends during an upgrade (USR2), because a reload does not reach the workers of the old master.
 */
const findWorkers = (pidFile: string): string => `pid_file=${quote(pidFile)}
refuse_upgrade() {
  [ -r "$pid_file.oldbin" ] && read -r old <"$pid_file.oldbin" || return 0
  case $(tr '\\0' ' ' 2>/dev/null <"/proc/$old/cmdline") in *': master process'*) exit ${STATUS.upgrade} ;; esac
}
[ -r "$pid_file" ] || { refuse_upgrade; exit ${STATUS.noMaster}; }
find_workers() {
  oldest= newest=
  read -r master <"$pid_file" || return 1
  for status in $(grep -ls "^PPid:[[:space:]]*$master\\$" /proc/[0-9]*/status); do
    title=$(tr '\\0' ' ' 2>/dev/null <"\${status%/status}/cmdline") && stat=$(cat "\${status%/status}/stat" 2>/dev/null) || continue
    case $title in
      *': worker process is shutting down'*) continue ;;
      *': worker process'*) ;;
      *) continue ;;
    esac
    set -- \${stat##*) }
    [ "\${oldest:-\${20}}" -lt "\${20}" ] || oldest=\${20}
    [ "\${newest:-\${20}}" -gt "\${20}" ] || newest=\${20}
  done
  refuse_upgrade
  [ -n "$oldest" ]
}`

/** Prints the id of the boot, and the start times of the oldest and the newest worker that accept requests. */
export function workersScript(pidFile: string): string {
  return `${findWorkers(pidFile)}
find_workers || exit ${STATUS.noWorkers}
read -r boot </proc/sys/kernel/random/boot_id || exit 1
echo "${'$'}{boot%%-*} $oldest $newest"`
}

/** The number of attempts to get the lock, about four seconds in total. */
const LOCK_TRIES = 200

/**
 * Shell code that prevents other reloads until the script ends. When the script gets the lock of the pid file, all workers of the last
 * reload have started.
 */
const lockReloads = `exec 8<"$pid_file"
tries=0
until flock -n -x 8; do
  [ $((tries += 1)) -lt ${LOCK_TRIES} ] || exit ${FILE_STATUS.locked}
  sleep 0.02
done`

/**
 * A guard of a write. It fails if a worker has started since the mark of a line was made: that worker may serve the file without the line,
 * although it is newer than the mark.
 */
export function noNewerWorkers(pidFile: string, newestTicks: number): string {
  return `${findWorkers(pidFile)}
${lockReloads}
(find_workers && [ "$newest" = ${newestTicks} ])`
}

export interface Load {
  pidFile: string
  test: readonly string[]
  reload: readonly string[]
}

/**
 * Tests the files, reloads nginx, and waits until the files are in effect: all workers that accept requests have started after the reload.
 */
export function loadScript({ pidFile, test, reload }: Load): string {
  return `${findWorkers(pidFile)}
${lockReloads}
words=$(${quoteAll(test)} 2>&1 8<&-) || { status=$?; printf '%s\\n' "$status $words"; exit ${STATUS.refused}; }
find_workers || exit ${STATUS.noWorkers}
since=$newest
${quoteAll(reload)} 8<&- || { echo "exit code $?"; exit ${STATUS.notReloaded}; }
until find_workers && [ "$oldest" -gt "$since" ]; do sleep 0.01; done`
}
