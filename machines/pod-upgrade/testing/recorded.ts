import type { ReasonOf } from '../../../src/reasons/reason.ts'
import type { EntryReading } from '../../../src/reasons/fields.ts'
import type { Journal, ReadJournal, TrafficReading } from '../../../src/pods/glossary.ts'
import { TARGET, V1 } from './world.ts'

/* The records and answers of most tests of the machine. */

/** A record of the machine under test, which has epoch 2, so that nothing needs a claim. `{ epoch: 1 }` makes it an earlier owner's. */
export function recorded(step: Journal['step'], change: Partial<Journal> = {}): Extract<ReadJournal, { kind: 'read' }> {
  const baseline = [{ name: 'app', image: V1, containerId: 'c1', imageId: `sha256:${V1}` }]
  const patched = step === 'drain' ? {} : { generation: 2 }
  return {
    kind: 'read',
    journal: { run: 'run-1', epoch: 2, attempt: 1, step, baseline, targets: [TARGET], ...patched, ...change },
  }
}

/** A text of a load balancer or of the API server, as a reason. */
export function said(words: string): ReasonOf<'error'> {
  return { code: 'error', said: words }
}

export const OUT: TrafficReading = { state: 'out', inFlight: 0, detail: said('out') }
export const IN: TrafficReading = { state: 'in', inFlight: 1, detail: said('in') }
export const UNREAD: TrafficReading = { state: 'unknown', inFlight: null, detail: said('no answer') }

/** An entry that an operator had out, and has put back. */
export const PUT_BACK: EntryReading = { loadBalancer: 'inner', target: 'web-0', admin: 'in', inFlight: 0 }

/** The answer to a call that may have arrived. */
export const UNKNOWN = { kind: 'unknown', reason: said('no answer') } as const
/** The answer to a write that was rejected. */
export const REJECTED = { kind: 'rejected', reason: said('test failed') } as const
