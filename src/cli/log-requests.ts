import type { Logger } from 'pino'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'

/** Wraps a client, and logs each of its requests to the API server with the result. */
export function logRequests(client: KubeClient, logger: Logger, clock: Clock): KubeClient {
  async function told<Answer>(method: keyof KubeClient, path: string, call: Promise<Answer>): Promise<Answer> {
    const since = clock.now()
    const facts = (): object => ({ method, path, ms: Math.round(clock.now() - since) })
    try {
      const answer = await call
      logger.debug(facts(), 'Request answered')
      return answer
    } catch (error) {
      logger.debug({ ...facts(), error: error instanceof Error ? error.message : String(error) }, 'Request failed')
      throw error
    }
  }
  return {
    get: (path, options) => told('get', path, client.get(path, options)),
    create: (path, body, options) => told('create', path, client.create(path, body, options)),
    replace: (path, body, options) => told('replace', path, client.replace(path, body, options)),
    patch: (path, operations, options) => told('patch', path, client.patch(path, operations, options)),
    delete: (path, options) => told('delete', path, client.delete(path, options)),
    watch: (path, options) => told('watch', path, client.watch(path, options)),
  }
}
