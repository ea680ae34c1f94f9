/** What the engine tells, with the commands in its words made complete by `complete`. */
import type { PodResult, RunEvent, RunResult } from '../../engine/events.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Failure } from '../failures.ts'

export type Complete = (text: string) => string

/** Once, before the event goes to all who hear it: what is shown, logged and reported is the same. */
export function completeEvent(event: RunEvent, complete: Complete): RunEvent {
  switch (event.type) {
    case 'planned':
      return { ...event, plan: completePlan(event.plan, complete) }
    case 'podFinished':
      return { ...event, result: completePod(event.result, complete) }
    case 'finished':
      return { ...event, result: completeResult(event.result, complete) }
    case 'template':
    case 'warning':
      return { ...event, message: complete(event.message) }
    case 'podState':
      return { ...event, reason: complete(event.reason) }
    case 'podDetail':
      return { ...event, detail: complete(event.detail) }
    case 'effect':
    case 'leaseWaiting':
    case 'started':
    case 'interrupting':
    case 'ordered':
    case 'paused':
      return event
  }
}

export function completeResult(result: RunResult, complete: Complete): RunResult {
  return { ...result, reason: complete(result.reason), pods: result.pods.map((pod) => completePod(pod, complete)) }
}

export function completePlan(plan: Plan, complete: Complete): Plan {
  const refusals = plan.refusals.map((refusal) => ({
    ...refusal,
    message: complete(refusal.message),
    hint: complete(refusal.hint),
    ...(refusal.command === undefined ? {} : { command: complete(refusal.command) }),
  }))
  return { ...plan, refusals, warnings: plan.warnings.map(complete) }
}

export function completeFailure(failure: Failure, complete: Complete): Failure {
  return { ...failure, lines: failure.lines.map(complete) }
}

function completePod(pod: PodResult, complete: Complete): PodResult {
  const reason = complete(pod.reason)
  return { ...pod, reason, ...(pod.instructions === undefined ? {} : { instructions: complete(pod.instructions) }) }
}
