import type { KubeClient } from '../../kube/client.ts'
import { apiReason, KubeError } from '../../kube/errors.ts'
import { field, stringField } from '../../kube/json.ts'
import { backoffMs, pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reason } from '../../reasons/reason.ts'
import { createOffsetEstimate, type Offset } from './clock-offset.ts'

/** Tells which cluster answers, and what its clock is. */
export interface Identity {
  /** The UID of the namespace kube-system, and the instant since which the cluster has it. Undefined where it is not known. */
  cluster(): { readonly uid: string; readonly sinceAt: number } | undefined
  /** The reason for which this user cannot learn the UID. */
  refusal(): Reason | undefined
  /** True where an answer, or a refusal, is to a request that was sent after the instant. */
  isKnownSince(at: number): boolean
  /** Has a request sent soon, if none was sent after the instant. */
  ask(since: number): void
  offset(): Offset | undefined
  ended: Promise<void>
}

export interface IdentityPorts {
  client: KubeClient
  clock: Clock
  random: Random
  signal: AbortSignal
  /** Called after each answer and each refusal. */
  onKnown(): void
  /** Called, before `onKnown`, where another cluster answers than before. */
  onReplaced(): void
}

const KUBE_SYSTEM = '/api/v1/namespaces/kube-system'
/** The pauses between the first requests. Requests at different parts of a second narrow down the offset of the clock. */
const FIRST_PAUSES_MS = [310, 620, 1_130, 2_270, 4_190]
const PAUSE_MS = 60_000

/** A refusal for so long is no start of a cluster. */
const REFUSED_FOR_MS = 30_000

export function watchIdentity({ client, clock, random, signal, onKnown, onReplaced }: IdentityPorts): Identity {
  const estimate = createOffsetEstimate(clock)
  let known: { uid: string; sinceAt: number } | undefined
  let refusal: Reason | undefined
  let refusedSince: number | undefined
  /** The instant at which the request left that is under way. */
  let sentAt: number | undefined
  /** The instant at which the last request left that was answered. */
  let answeredFor: number | undefined
  let isAsked = false
  let hurry = (): void => {}

  async function ask(): Promise<void> {
    isAsked = false
    const askedAt = clock.now()
    sentAt = askedAt
    const wallBefore = clock.wallNow()
    try {
      const answer = await client.get(KUBE_SYSTEM, {
        signal,
        onHeaders: ({ date }) => estimate.take(date, wallBefore, clock.wallNow()),
      })
      const uid = stringField(field(answer, 'metadata'), 'uid')
      if (uid !== undefined && uid !== known?.uid) {
        const isOther = known !== undefined
        known = { uid, sinceAt: clock.now() }
        if (isOther) onReplaced()
      }
      refusal = undefined
      refusedSince = undefined
    } catch (error) {
      if (!isRefusal(error)) throw error
      refusedSince ??= askedAt
      // A cluster that starts refuses for a moment. Its lists must not be taken for those of the cluster that is known.
      if (known !== undefined && clock.now() - refusedSince < REFUSED_FOR_MS) throw error
      refusal = apiReason(error)
    } finally {
      sentAt = undefined
    }
    answeredFor = askedAt
    if (!signal.aborted) onKnown()
  }

  async function run(): Promise<void> {
    let failures = 0
    for (let count = 0; !signal.aborted; count += 1) {
      let pauseMs = FIRST_PAUSES_MS[count] ?? PAUSE_MS
      try {
        await ask()
        failures = 0
      } catch {
        failures += 1
        pauseMs = backoffMs(random, failures)
      }
      await sleep(isAsked && failures === 0 ? 0 : pauseMs)
    }
  }

  async function sleep(ms: number): Promise<void> {
    const over = new AbortController()
    const stop = (): void => over.abort()
    hurry = stop
    signal.addEventListener('abort', stop)
    await pause(clock, ms, over.signal)
    signal.removeEventListener('abort', stop)
    hurry = () => {}
  }

  const ended = run()
  return {
    cluster: () => known,
    refusal: () => refusal,
    isKnownSince: (at) => answeredFor !== undefined && answeredFor >= at,
    ask(since) {
      if ((sentAt ?? answeredFor ?? Number.NEGATIVE_INFINITY) >= since) return
      isAsked = true
      hurry()
    },
    offset: estimate.now,
    ended,
  }
}

/** A cluster without the namespace kube-system has just begun, and makes it within a moment. */
function isRefusal(error: unknown): error is KubeError {
  if (error instanceof KubeError && error.status === 404) return false
  return error instanceof KubeError && error.kind === 'definite' && error.status !== undefined && error.status < 500
}
