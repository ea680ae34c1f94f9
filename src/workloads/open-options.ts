import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

export interface OpenOptions {
  client: KubeClient
  clock: Clock
  random: Random
  /** Every error of the watches, also those that they survive; after a fatal one, drift is no longer seen. */
  onError: (error: Error, fatal: boolean) => void
  /** Pods of a Deployment may be patched though its template then differs. Default false. */
  acceptTemplateDrift?: boolean
  /** Milliseconds for `prepare`: to write the template and have the controller observe it. Default 60,000. */
  templateDeadlineMs?: number
}
