/**
 * The wire of an adapter that makes its changes with scripts: a command prefix (adapters/host) that passes a script on to the shell, and
 * breaks it on demand. A script that contains `effect` counts as a call with effects.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from '../bed.ts'

export interface ScriptWire extends Wire {
  prefix: string[]
  /** Runs all later scripts as the user nobody. Absent if this process has no right to do so. */
  becomeNobody?(): void
}

export const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

/** The wire as a shell script. Arguments: the folder, the text that identifies an effect, and the shell. */
const PROXY = `folder=$1 effect=$2
shift 2
LC_ALL=C
export LC_ALL
fault=$(cat "$folder/fault")
as=$(cat "$folder/as")
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
  reply-lost) printf '%s\\n' "$script" | $as "$@" >/dev/null; exit 255 ;;
  no-answer) printf '%s\\n' "$script" | $as "$@" >/dev/null; exec sleep 600 ;;
  *) printf '%s\\n' "$script" | $as "$@" ;;
esac
`

type Places = [proxy: string, fault: string, effects: string, as: string]

export function createScriptWire(folder: string, effect: string): ScriptWire {
  const [proxy, fault, effects, as] = ['wire.sh', 'fault', 'effects', 'as'].map((name) => join(folder, name)) as Places
  writeFileSync(proxy, PROXY)
  writeFileSync(fault, '')
  writeFileSync(effects, '')
  writeFileSync(as, '')
  return {
    prefix: ['sh', proxy, folder, effect],
    ...(process.getuid?.() === 0 ? { becomeNobody: () => writeFileSync(as, AS_NOBODY.join(' ')) } : {}),
    next: (next) => writeFileSync(fault, next),
    heal: () => writeFileSync(fault, ''),
    effectCalls: () => readFileSync(effects, 'utf8').split('\n').length - 1,
  }
}
