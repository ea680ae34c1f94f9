/** What runs on a host of nginx: POSIX `sh`, Linux with /proc, and flock. */
import { STATUS as FILE_STATUS } from '../document/file-scripts.ts'
import { quote, quoteAll } from '../host/quote.ts'

/** Why a script has ended before its work was done. */
export const STATUS = { noMaster: 40, noWorkers: 41, refused: 42, notReloaded: 43, upgrade: 44 } as const

/**
 * Sets `oldest` and `newest`: when the workers that take requests have started, in ticks since boot. Fails where there are none. An old
 * worker goes on to take requests for some 100 ms after new ones are there, until its title says that it is shutting down. No reload
 * reaches the workers of the old master of an upgrade (USR2): while that lives, the script ends.
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

/** Prints what this boot is known by, and the starts of the oldest and of the newest worker that takes requests. */
export function workersScript(pidFile: string): string {
  return `${findWorkers(pidFile)}
find_workers || exit ${STATUS.noWorkers}
read -r boot </proc/sys/kernel/random/boot_id || exit 1
echo "${'$'}{boot%%-*} $oldest $newest"`
}

/** Some four seconds. */
const LOCK_TRIES = 200

/** Until the script ends, no other one reloads: when the lock of the pid file is there, all workers of the last reload are, too. */
const lockReloads = `exec 8<"$pid_file"
tries=0
until flock -n -x 8; do
  [ $((tries += 1)) -lt ${LOCK_TRIES} ] || exit ${FILE_STATUS.locked}
  sleep 0.02
done`

/**
 * Fails where a worker has started since the mark of a line was made: it may serve by the file without that line, and be newer than
 * the mark. A guard of a write.
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

/** Tests the files, reloads, and waits until they are in effect: until all workers that take requests have started after the reload. */
export function loadScript({ pidFile, test, reload }: Load): string {
  return `${findWorkers(pidFile)}
${lockReloads}
words=$(${quoteAll(test)} 2>&1 8<&-) || { status=$?; printf '%s\\n' "$status $words"; exit ${STATUS.refused}; }
find_workers || exit ${STATUS.noWorkers}
since=$newest
${quoteAll(reload)} 8<&- || { echo "exit code $?"; exit ${STATUS.notReloaded}; }
until find_workers && [ "$oldest" -gt "$since" ]; do sleep 0.01; done`
}
