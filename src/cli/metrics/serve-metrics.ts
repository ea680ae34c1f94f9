import type { ServeOptions, ServerEvent } from '../../server/serve.ts'
import type { MetricsAddress } from './metrics-address.ts'

/** At the end, a request under way has this long to be answered. */
const CLOSES_WITHIN_MS = 2_000

/** Serves metrics and readiness at the address of `--metrics-listen`. Rejects with a ServerError. */
export async function serveMetrics(
  address: MetricsAddress,
  content: Pick<ServeOptions, 'metrics' | 'notReady'>,
  say: (line: string) => void,
): Promise<{ close(): Promise<unknown> }> {
  const { serve } = await import('../../server/serve.ts')
  const served = await serve({ ...address, ...content, onEvent: (event) => say(eventWords(event)) })
  say(`metrics at ${served.url}/metrics`)
  return { close: () => served.close({ graceMs: CLOSES_WITHIN_MS }) }
}

function eventWords(event: ServerEvent): string {
  switch (event.type) {
    case 'certificateRenewed':
      return `the certificate${event.certFile === undefined ? '' : ` of ${event.certFile}`} is new, and in use until ${new Date(event.endsAt).toISOString()}`
    case 'certificateRefused':
      return `${event.error.message}; the one in use stays`
    case 'requestFailed':
      return `a request of ${event.path} has failed: ${event.error instanceof Error ? event.error.message : String(event.error)}`
  }
}
