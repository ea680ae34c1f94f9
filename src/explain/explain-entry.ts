import type { EntryReading } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'
import type { Place } from './explanation.ts'
import type { ObservedEntry, RunFacts } from './observed.ts'

type FoundEntry = Extract<ObservedEntry, { found: true }>

/** Describes the entry of a pod as a place, with the reasons to report. */
export function explainEntry(
  entry: ObservedEntry,
  { isFit, run }: { isFit: boolean; run: RunFacts | undefined },
): { place: Place; reasons: Reason[] } {
  const { loadBalancer } = entry
  if (!entry.found) return { place: { in: 'no-entry', loadBalancer, because: entry.because }, reasons: [entry.because] }
  const { target, admin, routable, weight, inFlight, said, by } = entry
  const isOut = admin === 'out' || admin === 'draining' || admin === 'absent'
  const recorded = run?.targets.find((one) => one.loadBalancer === loadBalancer && one.target === target)
  const byRun = isOut && recorded !== undefined && !recorded.untouched
  const place: Place = {
    in: 'load-balancer',
    loadBalancer,
    target,
    admin,
    routable,
    ...(weight === undefined ? {} : { weight }),
    inFlight,
    ...(said ? { said } : {}),
    ...(isOut ? { outBy: byRun ? 'run' : 'others' } : {}),
    ...(byRun && recorded.drainedAt !== undefined ? { since: recorded.drainedAt } : {}),
    ...(by === undefined ? {} : { by }),
  }
  const reading = readingOf(entry)
  if (isOut) return { place, reasons: [outBecause(reading, { byRun, wasOut: recorded?.untouched === true, run })] }
  if (admin !== 'in') return { place, reasons: [] }
  if (!routable) return { place, reasons: [{ code: 'entry-fails-check', entry: reading }] }
  return { place, reasons: isFit ? [] : [{ code: 'entry-in-and-pod-not-ready', entry: reading }] }
}

function outBecause(
  entry: EntryReading,
  { byRun, wasOut, run }: { byRun: boolean; wasOut: boolean; run: RunFacts | undefined },
): Reason {
  if (run !== undefined && byRun) return { code: 'entry-out-by-run', entry, run: run.run }
  if (run !== undefined && wasOut) return { code: 'entry-out-before-run', entry, run: run.run }
  return { code: 'entry-out-by-others', entry }
}

function readingOf({ loadBalancer, target, admin, inFlight, said, by }: FoundEntry): EntryReading {
  return { loadBalancer, target, admin, inFlight, ...(said ? { said } : {}), ...(by === undefined ? {} : { by }) }
}
