/** A process that drains one pod and restores it several times. It retries after a conflict, as the engine does. */
import { type Adapter, AdapterError, type EffectCall, type EffectResult, type Endpoint, type Target } from '../../contract.ts'
import { get } from 'node:http'
import { nginx } from '../index.ts'

const [options = '', endpoint = '', turns = '', front = ''] = process.argv.slice(2)
/**
 * A number of requests that reaches each server. Each of the two workers balances independently, and one of them gets at least half of the
 * requests.
 */
const ENOUGH = 12
const adapter = nginx.create(nginx.options.parse(JSON.parse(options)), { name: 'edge' })

function callOf(target: Target): EffectCall {
  return { deadlineMs: 10_000, assertLive: () => {}, operationIds: new Map([[target.id, 'f00d']]), fence: 1 }
}

async function resultOf(called: Promise<Map<string, EffectResult>>, { id }: Target): Promise<EffectResult> {
  try {
    return (await called).get(id)!
  } catch (error) {
    if (error instanceof AdapterError) return { outcome: 'failed', error }
    throw error
  }
}

/** The limit of conflicts. Two writers of one file conflict sometimes. */
const MOST_CONFLICTS = 500
const parent = process.ppid

async function untilApplied(send: () => Promise<EffectResult>): Promise<number> {
  for (let conflicts = 0; ;) {
    // The process ends with the test that started it.
    if (process.ppid !== parent) throw new Error('the test has ended')
    const result = await send()
    if (result.outcome === 'applied') return conflicts
    if (result.outcome !== 'failed' || !['conflict', 'retryable'].includes(result.error.kind))
      throw new Error(JSON.stringify(result))
    conflicts += 1
    if (conflicts > MOST_CONFLICTS) throw new Error(`no turn in ${conflicts} tries: ${JSON.stringify(result)}`)
  }
}

async function expectAdmin(of: Adapter, target: Target, wanted: string): Promise<void> {
  const observed = (await of.inspect([target], callOf(target))).get(target.id)
  if (observed?.admin !== wanted) throw new Error(`${target.id} is ${observed?.admin}, not ${wanted}: ${observed?.detail}`)
}

/** The pod that answers a request through nginx, from its header. */
function request(): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath: front, agent: false }, (response) => {
      response.resume()
      resolve(String(response.headers['x-pod']))
    }).once('error', reject)
  })
}

async function expectReached(wanted: boolean): Promise<void> {
  const reached: string[] = []
  for (let sent = 0; sent < ENOUGH; sent += 1) reached.push(await request())
  if (reached.includes(uid) !== wanted) throw new Error(`${uid} is ${wanted ? 'not reached' : 'reached'}: ${reached.join(' ')}`)
}

const { uid } = JSON.parse(endpoint) as Endpoint
const [found] = await adapter.resolve([JSON.parse(endpoint) as Endpoint], {
  deadlineMs: 10_000,
  assertLive: () => {},
})
if (!found?.found) throw new Error(found?.reason)
const [target] = found.targets
process.stdout.write('begun\n')
let conflicts = 0
for (let turn = 0; turn < Number(turns); turn += 1) {
  const { prior } = (await adapter.snapshot([target!], callOf(target!))).get(target!.id)!
  conflicts += await untilApplied(() => resultOf(adapter.drain([target!], callOf(target!)), target!))
  await expectReached(false)
  await expectAdmin(adapter, target!, 'draining')
  conflicts += await untilApplied(() => resultOf(adapter.restore([{ target: target!, prior }], callOf(target!)), target!))
  await expectReached(true)
  await expectAdmin(adapter, target!, 'in')
}
await adapter.close()
process.stdout.write(`conflicts: ${conflicts}\n`)
