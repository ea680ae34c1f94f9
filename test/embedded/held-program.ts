/**
 * A command prefix that holds one program of an adapter, once: until it is let go, as a machine does that stands still. The process that has
 * started the program waits for its answer, or is stopped meanwhile.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'

export interface HeldProgram {
  prefix: string[]
  /** From now on the next one that fits is held. */
  arm(): void
  /** Resolves once it is held. */
  held(): Promise<void>
  /** Lets it go; resolves with its output once it has ended, where a signal has not done so before. */
  letGo(): Promise<string>
  hasEnded(): boolean
  /** What was on its standard input. */
  input(): string
}

const RUN = `run "$@" >"$folder/output"`
/** It ends with the folder of its test, where that has failed. */
const WAIT = `: >"$folder/ready"
until [ -e "$folder/go" ]; do
  [ -d "$folder" ] || exit
  sleep 0.02
done`

const ENDS = `trap ': >"$folder/over"; exit 143' TERM`

/** `steps`: what becomes of the one that is held. */
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
  /** A script for a shell that says first that it is there (adapters/host): it is held before it runs. */
  script: holding('IFS= read -r hello; echo "${hello##* }"', [WAIT, RUN]),
  /** A program with a document on its input: it is held after it has run, before its answer. A signal ends it, as any program. */
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
