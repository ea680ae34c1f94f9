/**
 * A command prefix that holds one program of an adapter once, until it is released, as on a machine that stands still. The process that has
 * started the program waits for its answer, or is stopped meanwhile.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'

export interface HeldProgram {
  prefix: string[]
  /** Holds the next matching program. */
  arm(): void
  /** Resolves once the program is held. */
  held(): Promise<void>
  /** Releases the program. Resolves with its output after its end, unless a signal has ended it before. */
  letGo(): Promise<string>
  hasEnded(): boolean
  /** Returns the text on its standard input. */
  input(): string
}

const RUN = `run "$@" >"$folder/output"`
/** The program ends with the folder of its test, where the test has failed. */
const WAIT = `: >"$folder/ready"
until [ -e "$folder/go" ]; do
  [ -d "$folder" ] || exit
  sleep 0.02
done`

const ENDS = `trap ': >"$folder/over"; exit 143' TERM`

/** Returns a script. `steps` are the steps of the held program. */
const holding = (first: string, steps: readonly string[]): string => `folder=$1 pattern=$2
shift 2
${first}
input=$(cat)
run() { printf '%s\\n' "$input" | "$@"; }
is_held() {
  case $input in *"$pattern"*) [ -e "$folder/armed" ] && mkdir "$folder/held" 2>/dev/null ;; *) false ;; esac
}
is_held || { run "$@"; exit; }
printf '%s\\n' "$input" >"$folder/input"
${steps.join('\n')}
: >"$folder/over"
cat "$folder/output"
`

const PROGRAMS = {
  /** A script for a shell that first reports its presence (adapters/host). It is held before it runs. */
  script: holding('IFS= read -r hello; echo "${hello##* }"', [WAIT, RUN]),
  /** A program with a document on its input. It is held after it has run and before its answer. A signal ends it, as any program. */
  answer: holding('', [ENDS, RUN, WAIT]),
}

export function holdProgram(folder: string, what: keyof typeof PROGRAMS, pattern: string, index = 0): HeldProgram {
  const own = join(folder, `held-${what}-${index}`)
  mkdirSync(own)
  const at = (name: string): string => join(own, name)
  writeFileSync(at('hold.sh'), PROGRAMS[what])
  const appears = (name: string) =>
    vi.waitUntil(() => existsSync(at(name)), { timeout: 60_000, interval: 20 }).then(() => undefined)
  return {
    prefix: ['/bin/sh', at('hold.sh'), own, pattern],
    arm: () => writeFileSync(at('armed'), ''),
    held: () => appears('ready'),
    async letGo() {
      writeFileSync(at('go'), '')
      await appears('over')
      return readFileSync(at('output'), 'utf8')
    },
    hasEnded: () => existsSync(at('over')),
    input: () => readFileSync(at('input'), 'utf8'),
  }
}
