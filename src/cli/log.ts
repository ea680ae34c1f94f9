import type { Logger } from 'pino'
import type { RunEvent } from '../engine/events.ts'
import { worded } from '../report/words/document.ts'
import type { Writing } from '../report/words/writing.ts'
import { inertJsonText } from './output/inert.ts'
import type { Terminal } from './terminal.ts'
import { assertLogLevel, logLevel } from './log-level.ts'

/** Creates the logger that -v (debug) or SLUICE_LOG=LEVEL asks for. Logs go to stderr, since stdout is for results. */
export async function createLogger(verbose: boolean, terminal: Pick<Terminal, 'env' | 'err'>): Promise<Logger | undefined> {
  const level = logLevel(verbose, terminal.env)
  return level === undefined ? undefined : loggerOf(level, terminal)
}

/** Creates the logger of a server, which logs without being asked. */
export function createServerLogger(verbose: boolean, terminal: Pick<Terminal, 'env' | 'err'>): Promise<Logger> {
  return loggerOf(logLevel(verbose, terminal.env) ?? 'info', terminal)
}

async function loggerOf(level: string, { env, err }: Pick<Terminal, 'env' | 'err'>): Promise<Logger> {
  assertLogLevel(env)
  const { pino } = await import('pino')
  // The destination of pino is not used: on a full disk or a lost terminal it throws into the engine, and without a reader it blocks the
  // event loop.
  return pino({ level, base: null }, { write: (line) => err.write(inertJsonText(line)) })
}

/** Logs a static message with the fields of the event, and their English. */
export function logEvent(logger: Logger, event: RunEvent, write: Writing): void {
  const { type, wallAt: _wallAt, ...rest } = event
  const facts = worded(rest, write) as object
  switch (type) {
    case 'warning':
      logger.warn(facts, 'Warning')
      return
    case 'effect':
      logger[event.outcome === 'applied' ? 'info' : 'warn'](facts, 'Effect resolved')
      return
    case 'apiCall':
      logger.trace(facts, 'API server called')
      return
    case 'podDetail':
      logger.trace(facts, 'Pod detail changed')
      return
    case 'planned':
      logger.debug({ pods: event.plan.pods.length, window: event.plan.window }, 'Run planned')
      return
    case 'leaseWaiting':
      logger.info(facts, 'Waiting for the Lease')
      return
    case 'started':
      logger.info({ ...rest, pods: event.pods.length }, 'Run started')
      return
    case 'template':
      logger.info(facts, 'Template handled')
      return
    case 'podState':
      logger.info(facts, 'Pod changed its state')
      return
    case 'podFinished':
      logger.info(facts, 'Pod finished')
      return
    case 'interrupting':
      logger.warn(facts, 'Run interrupted')
      return
    case 'ordered':
      logger.info(facts, 'Order found')
      return
    case 'paused':
      logger.info(facts, 'Run paused')
      return
    case 'finished':
      logger.info({ outcome: event.result.outcome, reason: worded(event.result.reason, write) }, 'Run finished')
      return
    default:
      // An event without a case above does not compile.
      return type satisfies never
  }
}
