import type { From } from './inputs.ts'
import { inspectInput } from './inputs.ts'
import type { InspectInput } from './ports.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Reads the pod's traffic in all load balancers; the state `judging`, or of another name where there are two, goes by what was
 * read. It is given by the state that uses this.
 */
export function inspecting(input: (from: From) => InspectInput = inspectInput, judging = 'judging') {
  return podSetup.createStateConfig({
    invoke: {
      id: 'inspect',
      src: 'inspect',
      input,
      onDone: { target: judging, actions: 'takeReading' },
      onError: BUG,
    },
  })
}
