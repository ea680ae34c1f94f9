import { inspectInput } from './inputs.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/** Reads the pod's traffic in all load balancers; `judging` (given by the state that uses this) goes by what was read. */
export function inspecting() {
  return podSetup.createStateConfig({
    invoke: {
      id: 'inspect',
      src: 'inspect',
      input: inspectInput,
      onDone: { target: 'judging', actions: 'takeReading' },
      onError: BUG,
    },
  })
}
