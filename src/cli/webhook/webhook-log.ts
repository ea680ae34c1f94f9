import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../ports/clock.ts'
import { rulesChangeWords } from '../../report/words/live-rules.ts'
import type { Answered } from '../../webhook/admission/admission-event.ts'
import type { RulesChange } from '../../webhook/sources/rules-source.ts'
import type { WebhookEvent } from '../../webhook/start-webhook.ts'

/** A second has at most so many lines about decisions that change nothing. */
const QUIET_A_SECOND = 1
const QUIET_AT_ONCE = 10
/** The objects whose last decision is known. */
const MOST_OBJECTS = 20_000
/** Stands for a decision in which no rule has a say. */
const NO_SAY = ''
/** The endpoints in one line. The metrics count all of them. */
const MOST_ENDPOINTS = 20

/** Logs each event as one line of codes and fields. Decisions that change nothing are logged at a rate. */
export function createWebhookLog(logger: Logger, clock: Pick<Clock, 'now'>): (event: WebhookEvent) => void {
  const lastDecisions = new Map<string, string>()
  const quiet = createRate(clock)

  function answered({ result, tookMs, request, skipped, waited, decision, isMoved, error }: Answered): void {
    const facts = {
      result,
      ms: Math.round(tookMs * 10) / 10,
      ...request,
      ...(skipped !== undefined && { skipped }),
      ...(waited !== undefined && { waited }),
      ...(isMoved === true && { isMoved }),
      ...(error !== undefined && { error: messageOf(error) }),
    }
    if (decision === undefined) {
      // Nothing was decided: the metrics count these.
      if (result === 'skipped') return logger.debug(facts, 'Request skipped')
      return quiet((suppressed) => logger.warn({ ...facts, suppressed }, 'Request not decided'))
    }
    const { ruleSet, mode, service, total, unseenPods, againAt, endpoints } = decision
    const line = {
      ...facts,
      ruleSet,
      mode,
      service,
      total,
      unseenPods,
      ...(againAt !== undefined && { againAt: new Date(againAt).toISOString() }),
      decided: endpoints.length,
      endpoints: endpoints.slice(0, MOST_ENDPOINTS),
    }
    const object = digestOf([decision.kind, decision.namespace, decision.name])
    if (isNews(object, endpoints.length === 0 ? NO_SAY : digestOf([ruleSet, mode, endpoints])))
      return logger.info(line, 'Decided')
    quiet((suppressed) => logger.info({ ...line, suppressed }, 'Decided'))
  }

  /** Whether the decision differs from the last one about the object. No rule having a say is the usual decision. */
  function isNews(object: string, now: string): boolean {
    const before = lastDecisions.get(object)
    lastDecisions.delete(object)
    lastDecisions.set(object, now)
    if (lastDecisions.size > MOST_OBJECTS) lastDecisions.delete(lastDecisions.keys().next().value!)
    return before === undefined ? now !== NO_SAY : before !== now
  }

  return (event) => {
    switch (event.type) {
      case 'answered':
        return answered(event)
      case 'rules':
        return logger[isRulesTrouble(event.change) ? 'warn' : 'info'](event.change, rulesChangeWords(event.change))
      case 'kind': {
        const { because, ...state } = event.state
        const facts = { ...state, ...(because !== undefined && { because: because.message }) }
        return logger[state.is === 'broken' || state.is === 'refused' ? 'warn' : 'info'](facts, 'Kind')
      }
      case 'certificates-made':
      case 'certificates-restored':
      case 'certificates-rotated':
      case 'ca-bundle-written': {
        const { type: code, ...facts } = event
        return logger.info({ code, ...facts }, 'Certificate')
      }
      case 'certificate-in-use':
        return logger.info({ endsAt: new Date(event.endsAt).toISOString() }, 'Certificate in use')
      case 'certificateRenewed':
        return
      case 'certificate-trouble':
      case 'certificateRefused':
        return logger.warn({ error: event.error.message }, 'Certificate trouble')
      case 'requestFailed':
        return logger.error({ path: event.path, error: messageOf(event.error) }, 'Request failed')
      case 'trouble':
        return logger.warn({ part: event.part, error: event.error.message }, 'Trouble')
      case 'leading':
        return logger.info({ isLeader: event.isLeader }, 'Leader')
      case 'api-server-version':
        return logger.info({ version: event.version, freezesUntil: event.fixedIn }, 'API server')
      case 'touched':
      case 'righted': {
        const { type: code, ...facts } = event
        return logger.info({ code, ...facts }, 'Second look')
      }
      case 'touches-without-effect': {
        const { type: code, ...facts } = event
        return logger.warn({ code, ...facts }, 'Second look')
      }
      case 'touch-failed': {
        const { type: code, error, mayBeOld, ...facts } = event
        // A write of a controller between the look and the touch is usual.
        const level = mayBeOld && facts.failures === 1 ? 'info' : 'warn'
        return logger[level]({ code, ...facts, error: messageOf(error) }, 'Second look')
      }
      case 'look-failed': {
        const { type: code, error, ...facts } = event
        return logger.warn({ code, ...facts, error: messageOf(error) }, 'Second look')
      }
      case 'listening':
        return logger.info({ url: event.url }, 'Listening')
      case 'leaving':
        return logger.info('Leaving')
    }
  }
}

function isRulesTrouble({ code }: RulesChange): boolean {
  return code === 'rules-problem' || code === 'rules-etag-wrong'
}

/** Lets a burst through, and then some lines a second, each with the number of those before it that were left out. */
function createRate({ now }: Pick<Clock, 'now'>): (log: (suppressed: number | undefined) => void) => void {
  let [left, at, suppressed] = [QUIET_AT_ONCE, now(), 0]
  return (log) => {
    left = Math.min(QUIET_AT_ONCE, left + ((now() - at) / 1_000) * QUIET_A_SECOND)
    at = now()
    if (left < 1) return void suppressed++
    left -= 1
    log(suppressed === 0 ? undefined : suppressed)
    suppressed = 0
  }
}

/** Anybody may call the server, so what is kept of an object has a fixed size. */
function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
