import type { LostAccounts } from '../journal/account.ts'
import { KEPT_OF_POD, KEPT_PROCESSES } from '../journal/kept-accounts.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { PodRecord, RunRecord } from './run-record.ts'

/** The accounts of a pod that its ledger has not kept, with a reason for the report. */
export function lostOf({ accounts }: PodRecord): LostAccounts & { reason?: ReasonOf<'earlier-not-kept'> } {
  const { doing, telling } = accounts.findLast(({ lost }) => lost)?.lost ?? { doing: 0, telling: 0 }
  if (doing > 0) return { doing, telling, reason: { code: 'earlier-not-kept', what: 'done', processes: doing } }
  if (telling > 0) return { doing, telling, reason: { code: 'earlier-not-kept', what: 'told', processes: telling } }
  return { doing, telling }
}

type NotKept = ReasonOf<'processes-not-kept' | 'told-not-kept' | 'no-room-for-accounts'>

/** The gaps in the ledger of a run. */
export function notKept({ processes: all, pods }: RunRecord): NotKept[] {
  const lost = pods.map((record) => ({ pod: record.pod, ...lostOf(record) }))
  const done = lost.flatMap((one) => (one.doing > 0 ? [one.pod] : []))
  const told = lost.flatMap((one) => (one.doing === 0 && one.telling > 0 ? [one.pod] : []))
  const processes = all.findLast((one) => one.lost)?.lost ?? 0
  return [
    ...(processes > 0 ? [{ code: 'processes-not-kept', processes, kept: KEPT_PROCESSES } as const] : []),
    ...(done.length > 0 ? [{ code: 'told-not-kept', what: 'done', pods: done, kept: KEPT_OF_POD.doing } as const] : []),
    ...(told.length > 0 ? [{ code: 'told-not-kept', what: 'told', pods: told, kept: KEPT_OF_POD.telling } as const] : []),
    ...all.flatMap(({ withoutRoom: count = 0, endedAt }) =>
      count > 0 ? [{ code: 'no-room-for-accounts', pods: count, until: endedAt } as const] : [],
    ),
  ]
}
