import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import type { SharedObservation } from '../observation/observation.ts'
import type { Random } from '../ports/random.ts'
import type { Kinds } from './kinds/kinds.ts'

export interface OpenOptions {
  client: KubeClient
  kinds: Kinds
  /** The observation of the same client. */
  observation: SharedObservation
  clock: Clock
  random: Random
  /** Called with every error of the watches. `lasting`: the API server has refused a watch for so long that the run has to end. */
  onError: (error: Error, lasting: boolean) => void
  /** Patch the pods of a `pods-alone` workload, although its template then differs from them. Default false. */
  acceptTemplateDrift?: boolean
  /** The time limit of `prepare`, in milliseconds, to write the template and have the controller observe it. Default 60,000. */
  templateDeadlineMs?: number
}
