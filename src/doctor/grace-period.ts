import { goDurationMs } from './ages.ts'
import type { Gathered } from './gathered.ts'
import type { Pod } from './objects.ts'

/** The default grace period: 50 s since Kubernetes 1.32, and 40 s before. */
const GRACE_MS = 50_000
const FORMER_GRACE_MS = 40_000
const GRACE_SINCE = 32
const GRACE_FLAG = '--node-monitor-grace-period'

/** The grace period for a silent node: the flag of the controller manager where it runs as a pod, or the default of the version. */
export function graceOf({ listed: { controllerManagers }, server }: Pick<Gathered, 'listed' | 'server'>): number {
  const told = controllerManagers.ok ? controllerManagers.value.flatMap(toldGrace) : []
  if (told.length > 0) return Math.min(...told)
  const minor = server.ok ? (server.value.minor ?? GRACE_SINCE) : GRACE_SINCE
  return minor >= GRACE_SINCE ? GRACE_MS : FORMER_GRACE_MS
}

function toldGrace({ spec: { containers } }: Pod): number[] {
  const words = containers.flatMap((one) => {
    const { command = [], args = [] } = one as { command?: string[]; args?: string[] }
    return [...command, ...args]
  })
  return words.flatMap((word, index) => {
    const text =
      word === GRACE_FLAG ? words[index + 1] : word.startsWith(`${GRACE_FLAG}=`) ? word.slice(GRACE_FLAG.length + 1) : undefined
    const ms = text === undefined ? undefined : goDurationMs(text)
    return ms === undefined ? [] : [ms]
  })
}
