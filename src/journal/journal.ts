import type { RecordProblem } from '../reasons/record-reasons.ts'
import { z } from 'zod'
import type { Journal, PodView, ReadJournal } from '../pods/glossary.ts'
import { digest } from './digest.ts'
import { issueWords } from './issue-words.ts'
import { newerVersion } from './newer-version.ts'

/** See newer-version.ts. */
const VERSION = 1
/** The annotations of a pod share 256 KiB. A journal beyond this limit points to a mistake in the prior state of an adapter. */
export const LONGEST_JOURNAL = 4096

const Baseline = z.tuple([z.string(), z.string(), z.string(), z.string()])
/** The marks of a target: an operator had it out before the drain, or states with `sluice resolve` that it is out, or in. */
const UNTOUCHED = 1
const SAID_OUT = 2
const SAID_IN = 3
const Image = z.tuple([z.string(), z.string()])
const Target = z.tuple([z.string(), z.string(), z.string(), z.unknown(), z.literal([0, UNTOUCHED, SAID_OUT, SAID_IN])])

// Short keys and tuples keep the record small: it is written four times for each pod, and every watcher of the pod receives it.
const Fields = z.object({
  v: z.literal(VERSION),
  /** The uid of the pod, in the annotation alone: a copied manifest carries the annotation to another pod. */
  uid: z.string().optional(),
  run: z.string(),
  origin: z.string().optional(),
  epoch: z.number().int().min(0),
  lease: z.string().optional(),
  attempt: z.number().int().min(1),
  step: z.enum(['drain', 'patched', 'restore', 'closed']),
  gen: z.number().int().min(0).optional(),
  known: z.number().int().min(1).optional(),
  back: z.array(Image).optional(),
  fence: z.number().int().min(1).optional(),
  base: z.array(Baseline).default([]),
  ends: z.array(z.string()).optional(),
  lbs: z.array(Target).default([]),
  /** The names of the containers that change without a drain. */
  not: z.array(z.string()).optional(),
  /** The checksum of all fields before it, see `checksum`. */
  sum: z.string().optional(),
})

/** A record without a drain has no targets, and changes only containers that need no drain. Any other record is invalid. */
const Stored = Fields.refine(
  ({ not: undrained, base, back = [], lbs }) =>
    undrained === undefined || (lbs.length === 0 && [...base, ...back].every(([container]) => undrained.includes(container))),
  { path: ['not'], error: 'mismatch' },
)

/** Returns the journal in force of a pod. Where the annotation or the condition cannot be read, neither of them is trusted. */
export function journalOf({ uid, journal: { annotation, condition } }: Pick<PodView, 'uid' | 'journal'>): ReadJournal {
  // A condition without a message has been emptied by hand, and is unreadable.
  const message = condition && (condition.message ?? '')
  const first = readJournal(annotation, uid)
  const second = message === annotation ? first : readJournal(message, uid)
  if (first.kind === 'unreadable') return unreadable({ code: 'record-in', place: 'annotation', problem: first.problem })
  if (second.kind === 'unreadable') return unreadable({ code: 'record-in', place: 'condition', problem: second.problem })
  return first.kind === 'none' ? second : first
}

/**
 * Reads a journal. A text that cannot be read never counts as a closed journal. A journal with another uid than `uid` counts as none:
 * the pod comes from a copied manifest or a backup, and no run has drained it.
 */
export function readJournal(stored: string | undefined, uid?: string): ReadJournal {
  if (stored === undefined) return { kind: 'none' }
  let raw: unknown
  try {
    raw = JSON.parse(stored)
  } catch {
    return unreadable({ code: 'record-not-json' })
  }
  const newer = newerVersion(raw, VERSION)
  if (newer) return unreadable(newer)
  const parsed = Stored.safeParse(raw)
  if (!parsed.success) return unreadable({ code: 'record-invalid', issues: issueWords(parsed.error) })
  const { run, origin, epoch, lease, attempt, step, gen, known, back, fence, base, ends, lbs, not: undrained, sum } = parsed.data
  if (uid !== undefined && parsed.data.uid !== undefined && parsed.data.uid !== uid) return { kind: 'none' }
  if (sum !== undefined && sum !== checksum(raw as z.input<typeof Stored>)) return unreadable({ code: 'record-edited' })
  return {
    kind: 'read',
    journal: {
      run,
      ...(origin === undefined ? {} : { origin }),
      epoch,
      ...(lease === undefined ? {} : { lease }),
      attempt,
      step,
      ...(gen === undefined ? {} : { generation: gen }),
      ...(known === undefined ? {} : { proven: known }),
      ...(back === undefined ? {} : { rollback: back.map(([container, image]) => ({ container, image })) }),
      ...(fence === undefined ? {} : { fence }),
      baseline: base.map(([name, image, containerId, imageId]) => ({
        name,
        image,
        ...(containerId ? { containerId } : {}),
        ...(imageId ? { imageId } : {}),
      })),
      ...(ends === undefined ? {} : { endpoints: ends }),
      targets: lbs.map(([loadBalancer, target, scope, prior, mark]) => ({
        loadBalancer,
        target,
        scope,
        prior,
        untouched: mark === UNTOUCHED,
        ...(mark === SAID_OUT ? { said: 'out' as const } : {}),
        ...(mark === SAID_IN ? { said: 'in' as const } : {}),
      })),
      ...(undrained === undefined ? {} : { undrained }),
    },
  }
}

function unreadable(problem: RecordProblem): ReadJournal {
  return { kind: 'unreadable', problem }
}

/**
 * Writes a journal for the condition, or with the uid of the pod for the annotation. A closed journal keeps only the fields that fence a
 * stale owner, and the proven generation.
 * @throws RangeError for a journal above 4 KB
 */
export function writeJournal(journal: Journal, uid?: string): string {
  const { run, origin, epoch, lease, attempt, step, generation, proven, rollback, fence, baseline } = journal
  const { endpoints, targets, undrained } = journal
  const open = step !== 'closed'
  const stored: z.input<typeof Stored> = {
    v: VERSION,
    ...(uid === undefined ? {} : { uid }),
    run,
    ...(open && origin !== undefined && origin !== run ? { origin } : {}),
    epoch,
    ...(step === 'drain' && lease !== undefined ? { lease } : {}),
    attempt,
    step,
    ...(open && generation !== undefined ? { gen: generation } : {}),
    ...(proven === undefined ? {} : { known: proven }),
    ...(open && rollback !== undefined
      ? { back: rollback.map(({ container, image }): z.infer<typeof Image> => [container, image]) }
      : {}),
    ...(open && fence !== undefined ? { fence } : {}),
    ...(open
      ? {
          base: baseline.map(({ name, image, containerId, imageId }): z.infer<typeof Baseline> => [
            name,
            image,
            containerId ?? '',
            imageId ?? '',
          ]),
          ...(endpoints === undefined || endpoints.length === 0 ? {} : { ends: endpoints }),
          lbs: targets.map(({ loadBalancer, target, scope, prior, untouched, said }): z.infer<typeof Target> => [
            loadBalancer,
            target,
            scope,
            prior,
            untouched ? UNTOUCHED : said === undefined ? 0 : said === 'out' ? SAID_OUT : SAID_IN,
          ]),
          ...(undrained === undefined ? {} : { not: undrained }),
        }
      : {}),
  }
  const text = JSON.stringify({ ...stored, sum: checksum(stored) })
  const bytes = new TextEncoder().encode(text).length
  if (bytes > LONGEST_JOURNAL) {
    throw new RangeError(
      `the journal of this pod takes ${bytes} bytes, more than ${LONGEST_JOURNAL}: it has ${targets.length} targets, and endpoints of ${endpoints?.length ?? 0} Services`,
    )
  }
  return text
}

/**
 * Detects targets that were edited by hand: a run would drain and restore the targets of another pod, and leave those of this pod out.
 * The checksum does not protect against deliberate changes, and need not.
 */
function checksum(stored: z.input<typeof Stored>): string {
  // JSON.stringify leaves out a key without a value.
  return digest(JSON.stringify({ ...stored, sum: undefined }))
}
