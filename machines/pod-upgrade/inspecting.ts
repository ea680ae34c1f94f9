import type { From } from './inputs.ts'
import { inspectInput } from './inputs.ts'
import type { InspectInput } from './ports.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Reads the pod's traffic in all load balancers. `judging` names the next state, which decides on the reading. The state that uses this
 * supplies it.
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
