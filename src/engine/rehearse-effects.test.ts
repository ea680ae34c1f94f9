import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../adapters/conformance/memory-adapter.ts'
import { type Adapter, AdapterError } from '../../adapters/contract.ts'
import { rehearseEffects } from './rehearse-effects.ts'
import { keyOf } from './traffic/target-key.ts'

function rehearsing({ inRotation, rehearse }: { inRotation: boolean; rehearse?: Adapter['rehearse'] }): Promise<void> {
  const adapter = { ...createMemoryAdapter(createMemoryBalancer([])), ...(rehearse && { rehearse }) }
  const place = { loadBalancer: 'edge', target: { id: 'a', scope: 'pool' } }
  const standing = new Map([[keyOf({ loadBalancer: 'edge', target: 'a' }), { prior: { state: 'ready' }, inRotation }]])
  return rehearseEffects([place], standing, [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }])
}

const refusing: Adapter['rehearse'] = (wanted) =>
  Promise.resolve(
    new Map(wanted.map(({ target: { id } }) => [id, new AdapterError('edge', 'fatal', 'restore.body: No such key')])),
  )

test('an effect that cannot be made is refused before anything is touched, by target and field', async () => {
  await expect(rehearsing({ inRotation: true, rehearse: refusing })).rejects.toMatchObject({
    kind: 'preflight',
    reason: {
      code: 'effects-cannot-be-made',
      loadBalancer: 'edge',
      target: 'a',
      others: 0,
      because: { code: 'load-balancer-error', adapter: 'edge', kind: 'fatal', said: 'edge: restore.body: No such key' },
    },
  })
})

test('control: what gets no effect, and an adapter whose effects can always be made, are not refused', async () => {
  await expect(rehearsing({ inRotation: false, rehearse: refusing })).resolves.toBeUndefined()
  await expect(rehearsing({ inRotation: true })).resolves.toBeUndefined()
})
