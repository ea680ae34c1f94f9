import type { ReasonFields } from '../../../reasons/reason.ts'
import { advice } from './advice.ts'
import { cleanup } from './cleanup.ts'
import { commands } from './commands.ts'
import { endpoints } from './endpoints.ts'
import { errors } from './errors.ts'
import { explain } from './explain.ts'
import { missing } from './missing.ts'
import { orders } from './orders.ts'
import { plan } from './plan.ts'
import { podEndings } from './pod-endings.ts'
import { podFacts } from './pod-facts.ts'
import { podWaits } from './pod-waits.ts'
import { records } from './records.ts'
import { refusals } from './refusals.ts'
import { resolving } from './resolve.ts'
import { run } from './run.ts'
import type { SamplesOf } from './some.ts'
import { template } from './template.ts'
import { traffic } from './traffic.ts'
import { undo } from './undo.ts'
import { window } from './window.ts'

/** The type requires a sample of each code, so that test/golden/words.txt contains the words of all codes. */
export const reasonSamples: SamplesOf<ReasonFields> = {
  ...podEndings,
  ...podWaits,
  ...podFacts,
  ...traffic,
  ...window,
  ...run,
  ...plan,
  ...refusals,
  ...records,
  ...template,
  ...errors,
  ...orders,
  ...resolving,
  ...undo,
  ...cleanup,
  ...missing,
  ...endpoints,
  ...explain,
}

export { advice as adviceSamples, commands as commandSamples }
