import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import type { SharedObservation } from '../observation/observation.ts'
import type { Random } from '../ports/random.ts'
import type { Kinds } from './kinds/kinds.ts'

export interface OpenOptions {
  client: KubeClient
  kinds: Kinds
  /** Of the same client. */
  observation: SharedObservation
  clock: Clock
  random: Random
  /** Every error of the watches. `lasting`: the API server has refused one for so long that a run is to end. */
  onError: (error: Error, lasting: boolean) => void
  /** Pods alone may be patched though its template then differs. Default false. */
  acceptTemplateDrift?: boolean
  /** Milliseconds for `prepare`: to write the template and have the controller observe it. Default 60,000. */
  templateDeadlineMs?: number
}
