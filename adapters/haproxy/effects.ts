/** The commands of an effect, and the meaning of their replies. */
import { AdapterError, type EffectResult } from '../contract.ts'
import { type RuntimeSession, splitIntoWrites } from './connection.ts'
import { forcedState, type Prior, priorOf, type ServerAdmin, type ServerState } from './servers-state.ts'

/** The change of one target: commands, no commands because it is done already, or the error that prevents it. */
export interface Change {
  id: string
  commands: string[] | AdapterError
}

export interface Server {
  component: string
  backend: string
}

/** The commands of a drain, which keeps the weight. The drain refuses a server in maint, because `state drain` would end the maint. */
export function drainCommands({ component, backend }: Server, server: ServerState): string[] | AdapterError {
  const state = forcedState(server)
  if (state === 'drain') return []
  if (state === 'maint') {
    return new AdapterError(component, 'conflict', `${backend}/${server.name} is in maint, which a drain would end`)
  }
  return [setState(backend, server, 'drain')]
}

/** The commands of a restore. The weight comes first, so that the server never gets traffic with a wrong weight. */
export function restoreCommands({ component, backend }: Server, server: ServerState, prior: Prior): string[] | AdapterError {
  const { state, weight } = priorOf(server)
  if (state === 'maint' && prior.state !== 'maint') {
    const message = `${backend}/${server.name} was put in maint meanwhile, which a restore to ${prior.state} would end`
    return new AdapterError(component, 'conflict', message)
  }
  const commands: string[] = []
  // 100% is the configured weight, also after a reload with another one.
  if (weight !== prior.weight) commands.push(`set server ${backend}/${server.name} weight ${prior.weight ?? '100%'}`)
  if (state !== prior.state) commands.push(setState(backend, server, prior.state))
  return commands
}

/** The change of weight by a restore, for the operator: an operator set another weight in the meantime, or a reload lost it. */
export function weightChange(server: ServerState, { weight }: Prior): string | undefined {
  const wanted = weight ?? server.configuredWeight
  return server.weight === wanted || priorOf(server).weight === weight ? undefined : `weight ${server.weight} → ${wanted}`
}

function setState(backend: string, server: ServerState, state: ServerAdmin): string {
  return `set server ${backend}/${server.name} state ${state}`
}

const ADMIN_WANTED = 'give the stats socket level admin'

/** The error for a socket that accepts no changes, from its reply to `show cli level`. A reply without a level is no error. */
export function levelError(component: string, socket: string, reply: string): AdapterError | undefined {
  if (reply !== 'user' && reply !== 'operator') return undefined
  const message = `the socket ${socket} has level ${reply}, and takes no change: ${ADMIN_WANTED} (stats socket ${socket} level admin)`
  return new AdapterError(component, 'fatal', message)
}

/** The error for the reply to a change. An empty reply means success. */
export function replyError(component: string, reply: string): AdapterError | undefined {
  if (reply === '') return undefined
  if (reply.startsWith('Permission denied')) {
    return new AdapterError(component, 'fatal', `permission denied: ${ADMIN_WANTED} (stats socket PATH level admin)`)
  }
  if (/^No such (server|backend)/.test(reply)) return new AdapterError(component, 'not-found', reply)
  if (reply.startsWith('Proxy is disabled')) {
    return new AdapterError(component, 'retryable', 'the backend is disabled, or this worker was just replaced by a reload')
  }
  return new AdapterError(component, 'fatal', `HAProxy says: ${reply.split('\n', 1)[0]}`)
}

/**
 * Sends the changes in several writes. An error in the first write is thrown. After that, the outcomes of the targets differ, so each
 * target gets its own result.
 */
export async function applyChanges(
  component: string,
  session: RuntimeSession,
  changes: readonly Change[],
): Promise<Map<string, EffectResult>> {
  const results = new Map<string, EffectResult>()
  const toSend: { id: string; commands: string[] }[] = []
  for (const { id, commands } of changes) {
    if (commands instanceof AdapterError) results.set(id, { outcome: 'failed', error: commands })
    else if (commands.length === 0) results.set(id, { outcome: 'applied' })
    else toSend.push({ id, commands })
  }
  let broken: AdapterError | undefined
  for (const [index, write] of splitIntoWrites(toSend, (change) => change.commands).entries()) {
    let replies: string[] = []
    let failure: AdapterError | undefined = broken
    try {
      if (broken === undefined) replies = await session.write(write.flatMap(({ commands }) => commands))
    } catch (error) {
      if (index === 0 || !(error instanceof AdapterError)) throw error
      failure = error
      broken = new AdapterError(component, 'retryable', 'not sent: the connection broke before', { cause: error })
    }
    for (const { id, commands } of write) {
      const own = replies.splice(0, commands.length).map((reply) => replyError(component, reply))
      const error = failure ?? own.find((replied) => replied !== undefined)
      results.set(id, error === undefined ? { outcome: 'applied' } : { outcome: 'failed', error })
    }
  }
  return results
}
