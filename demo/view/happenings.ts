import type { ActResult } from '../acts/result.ts'
import { byKind, byPod, secondsOf } from '../traffic/tally.ts'

export interface Happening {
  /** Milliseconds since the start of the act. */
  at: number
  text: string
  isFailure: boolean
}

/** Returns the events of an act in order: each drain and admission, each second with failed requests, a late heartbeat. */
export function happenings({ startedAt, changes, failures, silences }: ActResult): Happening[] {
  const calm = (at: number, text: string): Happening => ({ at: at - startedAt, text, isFailure: false })
  return [
    ...changes.map(({ at, pod, isIn }) => calm(at, `${pod} ${isIn ? 'admitted' : 'drained'}`)),
    ...silences.map(({ from }) => calm(from, 'the node is late with its heartbeat; its pods serve on')),
    ...silences.flatMap(({ to }) => (to === undefined ? [] : [calm(to, 'the node reports again')])),
    ...secondsOf(failures, startedAt).map(([second, own]) => ({ at: second * 1_000, text: failed(own), isFailure: true })),
  ].sort((a, b) => a.at - b.at)
}

function failed(failures: ActResult['failures']): string {
  const kinds = byKind(failures).map(([kind, count]) => `${kind}: ${count}`)
  const pods = byPod(failures).map(([pod, count]) => `${pod === '' ? 'no pod' : pod} ${count}`)
  return `${failures.length} failed (${kinds.join(', ')}) at ${pods.join(', ')}`
}
