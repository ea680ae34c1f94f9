/** The 21 promises of an adapter, and the cases that check each promise. */
import type { CaseName } from './cases/index.ts'

export interface ConformancePromise {
  number: number
  title: string
  /** The cases. Empty if sluice itself keeps the promise for every adapter. */
  cases: readonly CaseName[]
}

export const promises: readonly ConformancePromise[] = [
  { number: 1, title: 'after a drain and its settle time no new request arrives', cases: ['no-new-requests'] },
  { number: 2, title: 'a repeated drain or restore changes nothing', cases: ['repeat-changes-nothing'] },
  {
    number: 3,
    title: 'a restore puts back exactly what was',
    cases: [
      'drain-and-restore',
      'reads-are-stable',
      'prior-weight-returns',
      'operators-maint',
      'maint-comes-back',
      'maint-meanwhile',
      'operators-drain',
      'weight-0',
    ],
  },
  { number: 4, title: 'a request under way survives the drain, and is counted where that is said', cases: ['in-flight'] },
  { number: 5, title: 'a client with a kept connection moves away', cases: ['keep-alive'] },
  { number: 6, title: 'a batch is one call, with a result for each target', cases: ['batch'] },
  {
    number: 7,
    title: 'a connection that breaks before, amid or after a change is told as what it is',
    cases: ['refused', 'cut-before-effect', 'request-lost', 'reply-lost'],
  },
  { number: 8, title: 'a lost answer is ambiguous, and nothing is sent again', cases: ['request-lost', 'reply-lost'] },
  { number: 9, title: 'what a restart of the load balancer does to a drain shows', cases: ['restart-is-seen', 'restart-keeps'] },
  { number: 10, title: 'the settle time is long enough', cases: ['no-new-requests'] },
  { number: 11, title: 'a load balancer that says "later" is asked later, in the same order', cases: [] },
  { number: 12, title: 'what others change meanwhile stays', cases: ['only-the-named', 'maint-meanwhile'] },
  { number: 13, title: 'a job that is done later is waited for', cases: [] },
  { number: 14, title: 'what is not there is not found, by each call', cases: ['not-found', 'absent'] },
  { number: 15, title: 'a former owner changes nothing', cases: ['lower-fence', 'lost-ownership'] },
  { number: 16, title: 'an entry is found by its address and port', cases: ['ports-and-reuse'] },
  { number: 17, title: 'a restored pod that fails its health checks gets no request', cases: ['failing-health'] },
  { number: 18, title: 'a success that is none is seen', cases: ['false-success'] },
  { number: 19, title: 'a missing right is fatal', cases: ['no-permission'] },
  {
    number: 20,
    title: 'the capabilities are true',
    cases: ['others-undisturbed', 'in-flight', 'restart-is-seen', 'restart-keeps', 'batch'],
  },
  { number: 21, title: 'a call ends at its deadline, and when it is closed', cases: ['no-answer', 'close-ends-calls'] },
]
