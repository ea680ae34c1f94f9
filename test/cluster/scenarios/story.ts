import { reasonWords } from '../../../src/report/words/words.ts'
import type { RunEvent } from '../../../src/engine/events.ts'

const MOST_LINES = 40

/** Returns the events of a run, one on each line, for the search for a cause. */
export function storyOf(events: readonly RunEvent[]): string {
  const lines = events.flatMap((event) => {
    const text = wordsOf(event)
    return text === undefined ? [] : [`${event.wallAt.slice(11, -1)}  ${text}`]
  })
  return lines.slice(-MOST_LINES).join('\n')
}

function wordsOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'podState':
      return `${event.pod} ${event.from ?? ''} -> ${event.to}: ${event.waiting ? reasonWords(event.waiting) : ''}`
    case 'podFinished':
      return `${event.result.pod} ended ${event.result.outcome}: ${reasonWords(event.result.reason)}`
    case 'effect':
      return `${event.pod} ${event.effect} ${event.outcome} ${event.said ?? (event.reason ? reasonWords(event.reason) : '')}`
    case 'warning':
      return `warning ${event.pod ?? ''}: ${reasonWords(event.reason)}`
    case 'leaseWaiting':
      return `waits for ${event.holder}`
    case 'started':
      return `started ${event.run}, epoch ${event.epoch}${event.resumed ? ', resumed' : ''}`
    case 'interrupting':
      return 'interrupted'
    case 'finished':
      return `finished ${event.result.outcome}: ${reasonWords(event.result.reason)}`
    default:
      return undefined
  }
}
