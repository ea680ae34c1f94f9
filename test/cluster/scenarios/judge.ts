import type { ServerState } from '../haproxy-socket.ts'
import type { RecordedEffect } from '../haproxy-recorder.ts'
import type { TrafficFailure } from '../traffic.ts'

type Standing = Pick<ServerState, 'server' | 'adminState' | 'weight'>

/** The state of the world after one upgrade, with any number of processes of sluice. None of the data comes from sluice. */
export interface History {
  /** The wanted image of the pods. */
  image: string
  /** The pods to upgrade. The servers of HAProxy have the same names. */
  pods: string[]
  /** The commands on the socket of HAProxy meanwhile, in order. */
  effects: Pick<RecordedEffect, 'at' | 'server' | 'kind' | 'effective'>[]
  before: Standing[]
  after: Standing[]
  requests: number
  failures: Pick<TrafficFailure, 'at' | 'kind'>[]
  podsAfter: PodAfter[]
  /** The owner. Undefined where the pods have no owner that counts them. */
  owner?: { updated: number; replicas: number; revision: string }
  /** The ledgers without an end. */
  openLedgers: string[]
  /** The holder of the workload's Lease. Empty where the Lease has no holder. */
  holder: string
}

export interface PodAfter {
  name: string
  /** The image in the spec, and the image that runs. */
  image: string
  running: string
  ready: boolean
  revision: string | undefined
  /** The step in the journal. */
  step: string | undefined
}

export interface Expectation {
  /** The rounds of drain and restore by pod; 1 by default. An interrupted drain is undone, and done again later. */
  rounds?: Record<string, number>
  /** Reports whether a failure is excused, such as a request in flight when the application is killed. */
  excused?: (failure: History['failures'][number]) => boolean
}

/** Returns the broken guarantees. Empty where all were kept. */
export function judge(history: History, { rounds = {}, excused = () => false }: Expectation = {}): string[] {
  return [
    ...judgeEffects(history, rounds),
    ...judgeWindow(history),
    ...judgeTraffic(history, excused),
    ...judgeServers(history),
    ...judgePods(history),
    ...judgeRecords(history),
  ]
}

function judgeEffects({ pods, effects }: History, rounds: Record<string, number>): string[] {
  const effective = effects.filter((effect) => effect.effective)
  const strangers = effective.filter(({ server }) => !pods.includes(server)).map(({ server }) => server)
  return [
    ...strangers.map((server) => `${server} was changed, which was nobody's business`),
    ...pods.flatMap((pod) => {
      const kinds = effective.filter(({ server }) => server === pod).map(({ kind }) => kind)
      const wanted = Array.from({ length: rounds[pod] ?? 1 }, () => ['drain', 'ready']).flat()
      return kinds.join() === wanted.join() ? [] : [`${pod}: effects were [${kinds.join()}], not [${wanted.join()}]`]
    }),
  ]
}

function judgeWindow({ effects }: History): string[] {
  const out = new Set<string>()
  let most = 0
  for (const { server, kind, effective } of effects) {
    if (!effective) continue
    if (kind === 'ready') out.delete(server)
    else out.add(server)
    most = Math.max(most, out.size)
  }
  return most > 1 ? [`${most} pods were out at once`] : []
}

function judgeTraffic({ requests, failures }: History, excused: NonNullable<Expectation['excused']>): string[] {
  if (requests === 0) return ['no request was sent']
  const failed = failures.filter((failure) => !excused(failure))
  if (failed.length === 0) return []
  const kinds = Object.entries(Object.groupBy(failed, ({ kind }) => kind)).map(([kind, some]) => `${some!.length} ${kind}`)
  const at = failed.slice(0, 5).map((failure) => new Date(failure.at).toISOString().slice(11, -1))
  return [`${failed.length} of ${requests} requests failed: ${kinds.join(', ')}; the first at ${at.join(', ')}`]
}

function judgeServers({ before, after }: History): string[] {
  const text = (one: Standing | undefined): string => (one ? `adminState ${one.adminState}, weight ${one.weight}` : 'absent')
  return before.flatMap((was) => {
    const is = after.find(({ server }) => server === was.server)
    return text(was) === text(is) ? [] : [`server ${was.server} was left at ${text(is)}; it was at ${text(was)}`]
  })
}

function judgePods({ pods, podsAfter, image, owner }: History): string[] {
  const problems = pods.flatMap((name) => {
    const pod = podsAfter.find((one) => one.name === name)
    if (!pod) return [`${name} is gone`]
    return [
      ...(pod.image === image ? [] : [`${name} has the image ${pod.image}`]),
      ...(pod.running === image ? [] : [`${name} runs ${pod.running}`]),
      ...(pod.ready ? [] : [`${name} is not ready`]),
      ...(owner && pod.revision !== owner.revision ? [`${name} has the revision ${pod.revision}, not ${owner.revision}`] : []),
    ]
  })
  if (owner && owner.updated !== owner.replicas) problems.push(`its owner counts ${owner.updated} of ${owner.replicas} updated`)
  return problems
}

function judgeRecords({ pods, podsAfter, openLedgers, holder }: History): string[] {
  return [
    ...podsAfter
      .filter(({ name, step }) => pods.includes(name) && step !== 'closed')
      .map(({ name, step }) => `the journal of ${name} is at ${step}`),
    ...openLedgers.map((run) => `the ledger of run ${run} has no end`),
    ...(holder === '' ? [] : [`${holder} still holds the Lease`]),
  ]
}
