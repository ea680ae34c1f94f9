import type { ReasonOf } from '../../reasons/reason.ts'
import type { Occupancy, WindowReasons } from '../../reasons/window-reasons.ts'
import { standing as standingOf } from './pod-facts.ts'
import type { WordsOf, Writing } from './writing.ts'

/** The state of several pods, after their number. */
const OF_MANY: Record<Occupancy, string> = {
  upgrading: 'being upgraded',
  left: 'left half done by another run',
  missing: 'missing',
  'not-ready': 'not ready',
  'ready-too-short': 'Ready for less than minReadySeconds',
  operator: 'out by an operator',
  unserved: 'not known to be in every load balancer',
  starts: 'starting',
}

function ofOne({ standing, because }: ReasonOf<'window-taken'>['pods'][number]): string {
  if (standing === 'not-ready' || standing === 'ready-too-short') return standingOf(because)
  return standing === 'starts' ? 'starts' : `is ${OF_MANY[standing]}`
}

function leaving(pods: ReasonOf<'lacks-pods'>['leaving']): string {
  return pods.length === 0 ? '' : ` (${pods.map(({ pod, because }) => `${pod} ${standingOf(because)}`).join(', ')})`
}

function occupants({ pods, lacking, counts }: Omit<ReasonOf<'window-taken'>, 'code'>): string {
  return [
    ...pods.map((one) => `${one.pod} ${ofOne(one)}`),
    ...lacking.map((one) => `${one.workload} lacks ${one.pods === 1 ? 'a pod' : `${one.pods} pods`}${leaving(one.leaving)}`),
    ...counts.map((one) => `${one.pods} ${OF_MANY[one.standing]}`),
  ].join(', ')
}

/** The words for a workload that lacks pods. */
export function shortage({ workload, present, desired, leaving: going }: Omit<ReasonOf<'lacks-pods'>, 'code'>): string {
  return `${workload} has ${present} of its ${desired} pods${leaving(going)}`
}

export const window: WordsOf<WindowReasons> = {
  'window-taken': (facts) => `${facts.size === undefined ? '' : `the window of ${facts.size} is full: `}${occupants(facts)}`,
  'lacks-pods': (facts) =>
    `${shortage(facts)}${facts.countAsOut ? ': those that are still to be made count as out of rotation' : ''}`,
  'window-stalled': ({ because }, write: Writing) => `no pod may leave in time: ${write.reason(because)}`,
}
