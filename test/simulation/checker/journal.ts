/**
 * Reads the journal of a pod independently of sluice: from the annotation `sluice.dev/journal` (patched, restore), or from the message of
 * the condition of that type (drain, closed). It reads only the fields that the rules need.
 */
const KEY = 'sluice.dev/journal'

export type Step = 'drain' | 'patched' | 'restore' | 'closed'

export interface JournalText {
  run: string
  epoch: number
  /** The uid of the Lease of the epoch, where the journal has it. */
  lease: string | undefined
  attempt: number
  step: Step
  /** True where the intent belonged to an earlier run, or an operator has said that the pod is out. */
  isClaim: boolean
  /** `said`: an operator has said that the target is out. */
  targets: { balancer: string; target: string; untouched: boolean; said: boolean }[]
  /** True where the journal says that nothing is to be drained. */
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
 * Returns the effect of a write on the journal of the pod: a record; `unreadable` after an invalid record; `removed` where no record is
 * left; undefined where the journal is unchanged.
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

/** Returns the address in the ID of a target, if it has one. */
export function addressOf(target: string): string | undefined {
  const at = target.lastIndexOf('@')
  return at === -1 ? undefined : target.slice(at + 1).replace(/:\d+$/, '')
}

/** Returns the name of the entry, which the history uses. The ID of a target also has the address. */
export function entryName(target: string): string {
  const at = target.lastIndexOf('@')
  return at === -1 ? target : target.slice(0, at)
}
