import type { KubeClient } from '../kube/client.ts'
import { numbersOfVersion } from '../endpoints/frozen-updates.ts'
import { KubeError } from '../kube/errors.ts'
import { stringField } from '../kube/json.ts'
import type { Clock } from '../ports/clock.ts'
import type { Server } from './gathered.ts'

/** The resolution of a Date header: its value may be up to a second older than the instant at which it was written. */
const DATE_STEP_MS = 1_000

/** Reads the version and the clock of the API server. Rejects with a KubeError where the API server does not answer. */
export async function readServer(client: KubeClient, clock: Clock): Promise<Server> {
  let date: string | undefined
  const [begunAt, begunWallAt] = [clock.now(), clock.wallNow()]
  const said = await client.get('/version', {
    onHeaders: (headers) => {
      date = headers['date']
    },
  })
  const tookMs = clock.now() - begunAt
  const version = stringField(said, 'gitVersion')
  if (version === undefined) {
    const [method, path] = ['GET', '/version'] as const
    throw new KubeError(`${method} ${path}: the answer has no gitVersion`, { kind: 'ambiguous', method, path })
  }
  return { version, ...numbersOfVersion(version), ...clockOf(date, begunWallAt, tookMs) }
}

/** Takes the middle of the possible range, because the server writes the header at some instant of the call. */
function clockOf(date: string | undefined, begunWallAt: number, tookMs: number): Pick<Server, 'clock'> {
  const serverAt = date === undefined ? Number.NaN : Date.parse(date)
  if (Number.isNaN(serverAt)) return {}
  const aheadMs = Math.round(begunWallAt + tookMs / 2 - (serverAt + DATE_STEP_MS / 2))
  return { clock: { aheadMs, uncertaintyMs: Math.ceil((tookMs + DATE_STEP_MS) / 2) } }
}
