import type { EndpointsKind } from '../cluster/cluster-view.ts'
import type { TouchWay } from './review-object.ts'

interface OfObject {
  readonly kind: EndpointsKind
  readonly namespace: string
  readonly name: string
  readonly service: string
}

/** What second looks tell, for the log and the metrics. */
export type TouchEvent =
  /** The write was made. `attempt` counts from 1, until the endpoints have stayed right for a while. */
  | (OfObject & { readonly type: 'touched'; readonly way: TouchWay; readonly attempt: number; readonly wrong: number })
  | (OfObject & {
      readonly type: 'touch-failed'
      readonly way: TouchWay
      readonly attempt: number
      /** The failed writes of this object in a row. */
      readonly failures: number
      /** The API server has refused the write, as it does where another writer came before it. The next look decides anew. */
      readonly mayBeOld: boolean
      readonly error: Error
    })
  /** The object is as the rules want it, after that many touches. */
  | (OfObject & { readonly type: 'righted'; readonly attempts: number; readonly afterMs: number })
  /** The object stays wrong, or becomes wrong again and again. Told once for the objects of a kind of a Service, until they were right for a while. */
  | (OfObject & { readonly type: 'touches-without-effect'; readonly attempts: number; readonly sinceMs: number })
  /** The object could not be looked at. */
  | { readonly type: 'look-failed'; readonly namespace: string; readonly service: string; readonly error: Error }
