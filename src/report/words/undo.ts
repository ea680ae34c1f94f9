import type { UndoReasons } from '../../reasons/undo-reasons.ts'
import type { WordsOf } from './writing.ts'

/** The words for a run that cannot be undone. */
export const undo: WordsOf<UndoReasons> = {
  'run-unreadable': ({ run, problem }, write) => `the ledger of run ${run} cannot be read: ${write.reason(problem)}`,
  'newest-run-unknown': ({ workloads, unreadable }) =>
    `which run of ${workloads.join(', ')} is the newest cannot be told: these cannot be read: ${unreadable.join(', ')}; name one with --run`,
  'no-images-before': ({ run }) => `run ${run} was recorded by an older sluice, which did not keep the images before it`,
  'nothing-to-undo': ({ workloads, recorded }) => {
    const names = workloads.join(', ')
    return `there is nothing to undo: ${recorded ? `no run of ${names} that is on record has changed anything` : `no run of ${names} is on record`}`
  },
  'no-such-run': ({ run, workloads, known }) =>
    `no run ${run} of ${workloads.join(', ')} is on record (the newest ten are kept, and sluice cleanup removes them); ` +
    (known.length === 0 ? 'none is' : `these are, the newest first: ${known.join(', ')}`),
  'undo-the-workload': ({ pod, workloads }) =>
    `pod/${pod} goes back with the workload that it is of: undo ${workloads.join(', ')}`,
}
