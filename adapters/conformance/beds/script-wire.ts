/**
 * The wire of an adapter whose changes are scripts: a command prefix (adapters/host) that passes a script on to the shell, and breaks
 * what it is told to. A script with `effect` in it counts as a call with effects.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from '../bed.ts'

export interface ScriptWire extends Wire {
  prefix: string[]
}

/** Arguments: the folder, what an effect is known by, and the shell. */
const PROXY = `folder=$1 effect=$2
shift 2
LC_ALL=C
export LC_ALL
fault=$(cat "$folder/fault")
case $fault in
  refused) exit 255 ;;
  cut-before-effect) : >"$folder/fault"; exit 255 ;;
esac
IFS= read -r hello
mark=\${hello##* }
echo "$mark"
script=$(cat)
case $script in
  *"$effect"*) echo effect >>"$folder/effects"; : >"$folder/fault" ;;
  *) fault= ;;
esac
case $fault in
  request-lost) exit 255 ;;
  false-success) printf '\\n%s 0\\n' "$mark" ;;
  reply-lost) printf '%s\\n' "$script" | "$@" >/dev/null; exit 255 ;;
  no-answer) printf '%s\\n' "$script" | "$@" >/dev/null; exec sleep 600 ;;
  *) printf '%s\\n' "$script" | "$@" ;;
esac
`

export function createScriptWire(folder: string, effect: string): ScriptWire {
  const [proxy, fault, effects] = ['wire.sh', 'fault', 'effects'].map((name) => join(folder, name)) as [string, string, string]
  writeFileSync(proxy, PROXY)
  writeFileSync(fault, '')
  writeFileSync(effects, '')
  return {
    prefix: ['sh', proxy, folder, effect],
    next: (next) => writeFileSync(fault, next),
    heal: () => writeFileSync(fault, ''),
    effectCalls: () => readFileSync(effects, 'utf8').split('\n').length - 1,
  }
}
