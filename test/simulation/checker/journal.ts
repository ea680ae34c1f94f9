/**
 * The journal as it lies on the pod, read anew here: in the annotation `sluice.dev/journal` (patched, restore), or in the
 * message of the condition of that type (drain, closed). Only what the judgement needs.
 */
const KEY = 'sluice.dev/journal'

export type Step = 'drain' | 'patched' | 'restore' | 'closed'

export interface JournalText {
  run: string
  epoch: number
  /** The uid of the Lease that the epoch is of, where it says so. */
  lease: string | undefined
  attempt: number
  step: Step
  /** It was an earlier run's, or a person has said that the pod is out. */
  isClaim: boolean
  /** `said`: a person says that it is out. */
  targets: { balancer: string; target: string; untouched: boolean; said: boolean }[]
  /** It says that nothing is to be drained. */
  isUndrained: boolean
}

interface Journaled {
  metadata?: { annotations?: Record<string, string> }
  status?: { conditions?: { type: string; message?: string }[] }
}

function textsOf(object: unknown): [string | undefined, string | undefined] {
  const { metadata, status } = (object ?? {}) as Journaled
  return [metadata?.annotations?.[KEY], status?.conditions?.find(({ type }) => type === KEY)?.message]
}

/**
 * What a write of the pod did to its journal: a record, `unreadable` where it left one that makes no sense, `removed` where
 * nothing is left; undefined where it did nothing.
 */
export function journalWrite(before: unknown, after: unknown): JournalText | 'unreadable' | 'removed' | undefined {
  const [annotation, condition] = textsOf(after)
  const [oldAnnotation, oldCondition] = textsOf(before)
  const isNew = annotation !== oldAnnotation && annotation !== undefined
  if (isNew || (condition !== oldCondition && condition !== undefined)) return parse((isNew ? annotation : condition)!)
  if (annotation === oldAnnotation && condition === oldCondition) return undefined
  return annotation === undefined && condition === undefined ? 'removed' : parse((annotation ?? condition)!)
}

function parse(text: string): JournalText | 'unreadable' {
  try {
    const {
      run,
      origin,
      epoch,
      lease,
      attempt,
      step,
      lbs = [],
      not,
    } = JSON.parse(text) as Record<string, unknown> & {
      lbs?: [string, string, string, unknown, 0 | 1 | 2 | 3][]
    }
    const isLease = lease === undefined || typeof lease === 'string'
    if (!isLease || typeof run !== 'string' || typeof epoch !== 'number' || typeof attempt !== 'number') return 'unreadable'
    const targets = lbs.map(([balancer, target, , , mark]) => ({
      balancer,
      target: entryName(target),
      untouched: mark === 1,
      said: mark === 2,
    }))
    return {
      run,
      epoch,
      lease,
      attempt,
      step: step as Step,
      isClaim: origin !== undefined || targets.some(({ said }) => said),
      targets,
      isUndrained: not !== undefined,
    }
  } catch {
    return 'unreadable'
  }
}

/** The address that a target's id means, where it says one. */
export function addressOf(target: string): string | undefined {
  const at = target.lastIndexOf('@')
  return at === -1 ? undefined : target.slice(at + 1).replace(/:\d+$/, '')
}

/** A target's id ends with the address that is meant; the history goes by the entry alone. */
export function entryName(target: string): string {
  const at = target.lastIndexOf('@')
  return at === -1 ? target : target.slice(0, at)
}
