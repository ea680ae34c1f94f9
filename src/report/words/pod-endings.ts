import type { Because } from '../../reasons/fields.ts'
import type { PodEndings } from '../../reasons/pod-endings.ts'
import type { Reason } from '../../reasons/reason.ts'
import { imageWords } from './images.ts'
import { agreeing, cause, entries, entryReading, type WordsOf, type Writing } from './writing.ts'

const NOT_READ = 'the load balancer could not be read'

function traffic(detail: Reason | undefined, write: Writing): string {
  return detail === undefined ? NOT_READ : write.reason(detail)
}

/** The failure that sent the pod back to its former images, at the beginning of the description. */
function after(failure: Reason | undefined, write: Writing): string {
  return failure === undefined ? '' : `${write.reason(failure)}; and back on its former images: `
}

function untold(told: Because | undefined, write: Writing): string {
  return told === undefined ? '' : `; the ledger could not be told so, which the next run does${cause(told.because, write)}`
}

/** The words for the end of a pod's upgrade. */
export const podEndings: WordsOf<PodEndings> = {
  upgraded: ({ rotation }) =>
    ({
      none: 'on its new images, in no load balancer',
      operator: 'on its new images; an operator had it out of rotation, and it is left as it stands',
      in: 'back in rotation on its new images',
      kept: 'on its new images, without a drain',
    })[rotation],
  'runs-wanted-images': ({ ready }) =>
    ready ? 'it runs the wanted images already' : 'it has the wanted images already, and is not ready',
  'nothing-asked': () => 'nothing is asked of it',
  'not-started': () => 'not started',
  'gone-before-turn': () => 'the pod was deleted, or let go of by its workload, before its turn; nothing was drained for it',
  'settled-before': ({ unclosed }, write) => {
    const words = 'gone, and its targets were settled by an earlier run or process'
    if (unclosed === undefined) return words
    return `${words}; its journal could not be closed, which the next run does${cause(unclosed.because, write)}`
  },
  'interrupted-before-patch': () => 'interrupted before the patch',
  'left-as-is': () => 'left where it is: the same command goes on from there',
  'kept-earlier-patch': () => 'back in rotation on the images that an earlier run has given it',
  'failed-and-put-back': ({ failure }, write) => `${write.reason(failure)}; back in rotation on its old images`,

  'journal-unreadable': ({ problem }, write) => `its journal cannot be read: ${write.reason(problem)}`,
  'journal-usurped': () => 'another owner has written the journal of this pod',
  'record-not-taken-over': ({ because }, write) =>
    `the record of an earlier owner could not be taken over${cause(because, write)}`,
  'not-drainable': ({ because }, write) => `it cannot be drained${cause(because, write)}`,
  'not-checked-in-time': ({ because }, write) => `it could not be checked in time${cause(because, write)}`,
  'patch-refused': ({ because }, write) => `the API server refuses the patch${cause(because, write)}`,
  'drain-intent-not-written': ({ because }, write) => `the drain intent could not be written${cause(because, write)}`,
  'drain-refused': ({ because }, write) => `the load balancer refuses the drain${cause(because, write)}`,
  'drain-not-confirmed': ({ because }, write) => `the drain could not be confirmed in time${cause(because, write)}`,
  reclaimed: ({ entry }, write) =>
    `an operator had it out of rotation in part, and has put it back meanwhile: ${entryReading(entry, write)}`,
  'not-empty': ({ readsAsIn, traffic: detail }, write) => {
    const again = readsAsIn ? 'it was drained, and reads as in rotation all the same: ' : ''
    return `not empty in time: ${again}${traffic(detail, write)}`
  },
  'back-before-patch': ({ traffic: detail }, write) =>
    `it was put back while its images could not be patched: ${traffic(detail, write)}`,
  'images-not-patched': ({ because, after: failure }, write) =>
    `${after(failure, write)}the images could not be patched${cause(because, write)}`,
  'images-rewritten': ({ images: stored, after: failure }, write) =>
    `${after(failure, write)}the stored images are not the ones asked for (${imageWords(stored, ', ')}): an admission webhook or somebody else has rewritten them`,
  'restart-not-proven': ({ because, after: failure }, write) =>
    `${after(failure, write)}no proof of the restart in time${cause(because, write)}`,
  'not-read-as-out': ({ traffic: detail, after: failure }, write) =>
    `${after(failure, write)}it was restarted, and could not be read as out in time: ${traffic(detail, write)}`,
  'image-cannot-start': ({ because }, write) => `the image cannot be started${cause(because, write)}`,
  'not-ready-in-time': ({ because, after: failure }, write) =>
    `${after(failure, write)}not ready in time: ${because === undefined ? 'it has become ready only just now' : write.reason(because)}`,
  'rolling-back': () => 'it had failed, and was on its way back to its former images',
  'restore-intent-not-written': ({ because }, write) => `the restore intent could not be written${cause(because, write)}`,
  'restore-refused': ({ because }, write) => `the load balancer refuses to put it back${cause(because, write)}`,
  'not-fit-for-restore': ({ traffic: detail }, write) =>
    `it was not ready to be put back in time, and stays out of rotation: ${traffic(detail, write)}`,
  'restore-not-confirmed': ({ because }, write) => `the restore could not be confirmed in time${cause(because, write)}`,
  'patched-elsewhere': ({ images: stored }) =>
    `somebody has given it other images while it was out (${imageWords(stored, ', ')}): ` +
    'nothing has proven what runs now, and it is not put back so',
  'baseline-not-ready': () => 'drained and not patched, and it did not get ready in time to be put back',
  'effect-in-doubt': ({ entries: some, effect, because }, write) =>
    `${entries(some)} cannot be read back, and whether the ${effect} has arrived there is not known${cause(because, write)}`,
  'restored-differently': ({ because }, write) => `it is back, but not as it was before${cause(because, write)}`,
  'journal-not-closed': ({ because }, write) =>
    `it is back in rotation, but its journal could not be closed${cause(because, write)}`,

  'settled-by-removal': (facts, write) => `gone, and its entry was removed from the load balancer${untold(facts.untold, write)}`,
  'settled-unchanged': (facts, write) => `gone, and its targets are as they were before${untold(facts.untold, write)}`,
  'settled-elsewhere': ({ replacement, address, entries: some, ...facts }, write) =>
    `replaced by ${replacement} at another address (${address ?? 'none yet'}), and ${agreeing(some, 'its entry is in rotation as it was', 'its entries are in rotation as they were')}: ${entries(some)}${untold(facts.untold, write)}`,
  'settled-by-drained-replacement': ({ replacement, ...facts }, write) =>
    `replaced by ${replacement}, which is drained by a record of its own${untold(facts.untold, write)}`,
  'settled-by-replacement': ({ replacement, ...facts }, write) =>
    `replaced by ${replacement}, which is back in rotation in its place${untold(facts.untold, write)}`,
  'left-out': ({ entries: some, byRecord, ...facts }, write) =>
    `gone for good; ${entries(some)} ${agreeing(some, 'stays', 'stay')} out of rotation${byRecord ? ', as its record says' : ''}${untold(facts.untold, write)}`,
  'no-replacement-in-time': ({ pod, entries: some }) =>
    `${entries(some)} ${agreeing(some, 'was', 'were')} drained for ${pod}, and no ready pod of the same controller has come to its address in time`,
  abandoned: ({ pod, entries: some, because }, write) =>
    `${entries(some)} ${agreeing(some, 'was', 'were')} drained for ${pod} and ${agreeing(some, 'is', 'are')} never put back by guess${cause(because, write)}`,
  'left-out-and-replaced': ({ entries: some, because }, write) =>
    `${entries(some)} ${agreeing(some, 'was', 'were')} drained for it, and left out since nothing was to come in its place${cause(because, write)}`,
  bug: ({ error }) => `a bug in sluice${error === '' ? '' : `: ${error}`}`,
}
