import type { Clock } from '../ports/clock.ts'
import type { KubeClient } from './client.ts'
import { KubeError, type KubeErrorKind } from './errors.ts'

/** One call to the API server that was answered or given up. The duration of a throttled call includes its waits. */
export interface TimedCall {
  verb: 'get' | 'create' | 'replace' | 'patch' | 'delete'
  /** The path without the query. */
  path: string
  /** `ok`, or the kind of the failure. */
  outcome: 'ok' | KubeErrorKind
  /** HTTP status of a failure, if there was an answer. */
  status?: number
  durationMs: number
}

/** A client that reports the duration of each call. Watches are not reported, because they last as long as they are needed. */
export function timedClient(client: KubeClient, clock: Clock, onCall: (call: TimedCall) => void): KubeClient {
  async function timed(verb: TimedCall['verb'], path: string, call: () => Promise<unknown>): Promise<unknown> {
    const beganAt = clock.now()
    const tell = (outcome: TimedCall['outcome'], status?: number): void =>
      onCall({
        verb,
        path: path.split('?')[0]!,
        outcome,
        ...(status === undefined ? {} : { status }),
        durationMs: Math.round(clock.now() - beganAt),
      })
    try {
      const answer = await call()
      tell('ok')
      return answer
    } catch (error) {
      if (error instanceof KubeError) tell(error.kind, error.status)
      throw error
    }
  }

  return {
    get: (path, options) => timed('get', path, () => client.get(path, options)),
    create: (path, body, options) => timed('create', path, () => client.create(path, body, options)),
    replace: (path, body, options) => timed('replace', path, () => client.replace(path, body, options)),
    patch: (path, operations, options) => timed('patch', path, () => client.patch(path, operations, options)),
    delete: (path, options) => timed('delete', path, () => client.delete(path, options)),
    watch: (path, options) => client.watch(path, options),
  }
}
