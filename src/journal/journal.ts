import type { RecordProblem } from '../reasons/record-reasons.ts'
import { z } from 'zod'
import type { Journal, PodView, ReadJournal } from '../pods/glossary.ts'
import { digest } from './digest.ts'
import { issueWords } from './issue-words.ts'
import { newerVersion } from './newer-version.ts'

/** See newer-version.ts. */
const VERSION = 1
/** A pod's annotations share 256 KiB; a journal that grows past this is a mistake in an adapter's prior state. */
export const LONGEST_JOURNAL = 4096

const Baseline = z.tuple([z.string(), z.string(), z.string(), z.string()])
/** Of a target: an operator had it out before the drain; a person says that it is out, or in. */
const UNTOUCHED = 1
const SAID_OUT = 2
const SAID_IN = 3
const Image = z.tuple([z.string(), z.string()])
const Target = z.tuple([z.string(), z.string(), z.string(), z.unknown(), z.literal([0, UNTOUCHED, SAID_OUT, SAID_IN])])

// Short keys and tuples: the record is written four times a pod, and every watcher of the pod receives it.
const Fields = z.object({
  v: z.literal(VERSION),
  /** Of the pod, in the annotation alone: whoever copies a manifest copies that with it. */
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
  /** Names of containers. */
  not: z.array(z.string()).optional(),
  /** Of all before it, see `checksum`. */
  sum: z.string().optional(),
})

/** Without a drain no other container is changed, whatever has written the record. */
const Stored = Fields.refine(
  ({ not: undrained, base, back = [], lbs }) =>
    undrained === undefined || (lbs.length === 0 && [...base, ...back].every(([container]) => undrained.includes(container))),
  { path: ['not'], error: 'mismatch' },
)

/** Reads the journal of a pod: the record in force. Where either of its places cannot be read, neither is trusted. */
export function journalOf({ uid, journal: { annotation, condition } }: Pick<PodView, 'uid' | 'journal'>): ReadJournal {
  // A condition without a message is one that somebody has emptied.
  const message = condition && (condition.message ?? '')
  const first = readJournal(annotation, uid)
  const second = message === annotation ? first : readJournal(message, uid)
  if (first.kind === 'unreadable') return unreadable({ code: 'record-in', place: 'annotation', problem: first.problem })
  if (second.kind === 'unreadable') return unreadable({ code: 'record-in', place: 'condition', problem: second.problem })
  return first.kind === 'none' ? second : first
}

/**
 * Reads one text. What cannot be read is never taken for "nothing open"; what names another pod than that of `uid` is: a pod that
 * was made from a manifest of one half done, by hand or from a backup, has been drained by nobody.
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
 * Writes a journal for either of its places: with the pod's uid for the annotation. A closed one keeps only what fences a stale
 * owner, and the generation that is proven.
 * @throws RangeError above 4 KB
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
 * Found by trial: who had edited the targets of a pod that was out, so that they could be read, had those of another drained and
 * restored for it, and its own stayed out. It is no protection against who means it, and need not be.
 */
function checksum(stored: z.input<typeof Stored>): string {
  // A key without a value is not in the text.
  return digest(JSON.stringify({ ...stored, sum: undefined }))
}
