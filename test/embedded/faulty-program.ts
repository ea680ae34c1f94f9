/** A program in front of a plugin that does one thing wrong in a drain, each time or only the first time. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The faults. `run` runs the correct plugin with the document; `$deadline` is its time in seconds. */
const FAULTS = {
  hangs: 'exec sleep 600',
  'prints garbage': 'echo drained',
  'exits with 1': 'echo the disk is full >&2; exit 1',
  'exits with 1 after it has drained': 'run >/dev/null; echo the disk is full >&2; exit 1',
  'prints 100 MB': 'exec head -c 104857600 /dev/zero',
  'leaves a child that drains 8 s after the kill':
    'setsid sh -c "$LATE" sh "$((deadline + 8))" "$request" "$@" </dev/null >/dev/null 2>&1 & exec sleep 600',
}

export type Fault = keyof typeof FAULTS

export const faultNames = Object.keys(FAULTS) as Fault[]

const LATE = `sleep "$1"; request=$2; shift 2; printf %s "$request" | "$@"`

const program = (fault: Fault): string => `folder=$1 times=$2
shift 2
LATE='${LATE}'
request=$(cat)
run() { printf %s "$request" | "$@"; }
is_faulty() {
  case $request in *'"call":"drain"'*) [ "$times" = always ] || mkdir "$folder/first" 2>/dev/null ;; *) false ;; esac
}
is_faulty || { run "$@"; exit; }
deadline=\${request#*'"deadlineMs":'}
deadline=$((\${deadline%%,*} / 1000))
${FAULTS[fault].replace('run >', 'run "$@" >')}
`

/** Returns the beginning of a command. The plugin follows. */
export function faultyProgram(folder: string, fault: Fault, times: 'once' | 'always'): string[] {
  const own = mkdtempSync(join(folder, 'faulty-'))
  writeFileSync(join(own, 'faulty.sh'), program(fault))
  return ['/bin/sh', join(own, 'faulty.sh'), own, times]
}
