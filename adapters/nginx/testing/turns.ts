/** A process that takes one pod out and puts it back, so many times. It sends again what was in conflict, as the engine does. */
import { type Adapter, AdapterError, type EffectCall, type EffectResult, type Endpoint, type Target } from '../../contract.ts'
import { nginx } from '../index.ts'

const [options = '', endpoint = '', turns = ''] = process.argv.slice(2)
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

async function untilApplied(send: () => Promise<EffectResult>): Promise<number> {
  for (let conflicts = 0; ;) {
    const result = await send()
    if (result.outcome === 'applied') return conflicts
    if (result.outcome !== 'failed' || !['conflict', 'retryable'].includes(result.error.kind))
      throw new Error(JSON.stringify(result))
    conflicts += 1
  }
}

async function expectAdmin(of: Adapter, target: Target, wanted: string): Promise<void> {
  const observed = (await of.inspect([target], callOf(target))).get(target.id)
  if (observed?.admin !== wanted) throw new Error(`${target.id} is ${observed?.admin}, not ${wanted}: ${observed?.detail}`)
}

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
  await expectAdmin(adapter, target!, 'draining')
  conflicts += await untilApplied(() => resultOf(adapter.restore([{ target: target!, prior }], callOf(target!)), target!))
  await expectAdmin(adapter, target!, 'in')
}
await adapter.close()
process.stdout.write(`conflicts: ${conflicts}\n`)
